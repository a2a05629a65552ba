#include "text/analyzer.h"

#include "text/characters.h"
#include "text/irregular_verbs.h"
#include "text/stop_words.h"

namespace varve::text {

namespace {

// Changes when the same settings give other terms than before, or other entries that ask something.
constexpr uint64_t kAnalyzerVersion = 9;

// English by one name, however it is called: it alone has stop words and irregular verbs.
std::string_view name_of(std::string_view language) {
  return language == "english" || language == "eng" ? "en" : language;
}

}  // namespace

Analyzer::Analyzer(const Settings& settings)
    : stemmer_(Stemmer::make(settings.language)), english_(name_of(settings.language) == "en") {
  if (settings.own_stop_words) {
    for (const auto& word : settings.stop_words) {
      std::string folded;
      append_folded_word(word, &folded);
      stop_words_.insert(std::move(folded));
    }
    return;
  }
  for (const auto word : stop_words_of(name_of(settings.language))) {
    stop_words_.emplace(word);
  }
}

std::string_view Analyzer::stem(std::string_view word) {
  return stemmer_->stem(english_ ? verb_base(word) : word);
}

uint64_t Analyzer::fingerprint(const Settings& settings) {
  std::string all = std::to_string(kAnalyzerVersion) + '\n';
  all.append(name_of(settings.language)).append(1, '\n');
  all += settings.own_stop_words ? "own" : "language's";
  for (const auto& word : settings.stop_words) {
    all.append(1, '\n').append(std::to_string(word.size())).append(1, ' ').append(word);
  }
  return hash64(all);
}

}  // namespace varve::text
