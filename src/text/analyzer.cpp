#include "text/analyzer.h"

#include "text/characters.h"
#include "text/irregular_verbs.h"
#include "text/stop_words.h"

namespace varve::text {

namespace {

// Changes when the same settings give other terms than before, or other entries that ask something.
constexpr uint64_t kAnalyzerVersion = 12;

// English by one name, however it is called: it alone has stop words and irregular verbs.
std::string_view name_of(std::string_view language) {
  return language == "english" || language == "eng" ? "en" : language;
}

// The settings' own, each as a text has it: with a typographic apostrophe or one at its end, as in
// the French l', it is the word that is found there.
std::vector<std::string> own_stop_words(const Settings& settings) {
  const bool english = name_of(settings.language) == "en";
  std::vector<std::string> words;
  words.reserve(settings.stop_words.size());
  Words read;
  for (const auto& word : settings.stop_words) {
    read.read(word, english);
    if (read.words().size() == 1 && read.compounds().empty()) {
      words.emplace_back(read.text(read.words().front()));
    } else {
      append_folded_word(word, &words.emplace_back());
    }
  }
  return words;
}

}  // namespace

Analyzer::Analyzer(const Settings& settings)
    : stemmer_(Stemmer::make(settings.language)), english_(name_of(settings.language) == "en") {
  if (settings.own_stop_words) {
    for (auto& word : own_stop_words(settings)) stop_words_.insert(std::move(word));
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
  for (const auto& word : own_stop_words(settings)) {
    all.append(1, '\n').append(std::to_string(word.size())).append(1, ' ').append(word);
  }
  return hash64(all);
}

}  // namespace varve::text
