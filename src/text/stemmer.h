// Stemmer: the forms of a word as one ("running", "runs" -> "run"), by Snowball.
#pragma once

#include <memory>
#include <string_view>

struct sb_stemmer;

namespace varve::text {

class Stemmer {
 public:
  // `language`: "none", an ISO 639 code ("en") or Snowball's name ("english"). Null for a language
  // that Snowball does not have.
  static std::unique_ptr<Stemmer> make(std::string_view language);
  [[nodiscard]] static bool knows(std::string_view language);

  // The stem of a folded word; empty only for the empty word. Valid as long as the word, and until
  // the next call. Not thread-safe.
  std::string_view stem(std::string_view word);

 private:
  struct Delete {
    void operator()(sb_stemmer* stemmer) const;
  };
  std::unique_ptr<sb_stemmer, Delete> stemmer_;  // null: words are their own stems
};

}  // namespace varve::text
