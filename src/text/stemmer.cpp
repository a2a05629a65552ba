#include "text/stemmer.h"

#include <libstemmer.h>

#include <new>
#include <string>

namespace varve::text {

namespace {

using Made = std::unique_ptr<sb_stemmer, decltype(&sb_stemmer_delete)>;

// NULL means no such language, or no memory: there is memory when another one can be made.
sb_stemmer* new_stemmer(const char* language) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (sb_stemmer* made = sb_stemmer_new(language, "UTF_8")) return made;
  }
  const Made known(sb_stemmer_new("english", "UTF_8"), &sb_stemmer_delete);
  if (known == nullptr) throw std::bad_alloc();
  return nullptr;
}

}  // namespace

void Stemmer::Delete::operator()(sb_stemmer* stemmer) const { sb_stemmer_delete(stemmer); }

std::unique_ptr<Stemmer> Stemmer::make(std::string_view language) {
  auto made = std::make_unique<Stemmer>();
  if (language == "none") return made;
  if (language.find('\0') != std::string_view::npos) return nullptr;
  made->stemmer_.reset(new_stemmer(std::string(language).c_str()));
  return made->stemmer_ ? std::move(made) : nullptr;
}

bool Stemmer::knows(std::string_view language) { return make(language) != nullptr; }

std::string_view Stemmer::stem(std::string_view word) {
  if (!stemmer_) return word;
  const auto* stemmed =
      sb_stemmer_stem(stemmer_.get(), reinterpret_cast<const sb_symbol*>(word.data()),
                      static_cast<int>(word.size()));
  if (stemmed == nullptr) throw std::bad_alloc();
  const auto size = static_cast<size_t>(sb_stemmer_length(stemmer_.get()));
  // Snowball leaves nothing of some words ("का" in Nepali), which are no forms of one word for
  // that.
  return size == 0 ? word : std::string_view(reinterpret_cast<const char*>(stemmed), size);
}

}  // namespace varve::text
