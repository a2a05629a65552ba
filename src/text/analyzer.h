// Analyzer: from a text to the terms it is found by, in one language.
//
// A term is a word's stem, or a compound as it stands (words.h). Not thread-safe: it keeps scratch
// memory; make one for each thread of work.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "text/stemmer.h"
#include "text/words.h"

namespace varve::text {

struct Settings {
  std::string language = "en";  // "none": no stemming
  std::vector<std::string> stop_words;
  bool own_stop_words = false;  // `stop_words` stand for those of the language
};

class Analyzer {
 public:
  // The settings' language is one that Stemmer knows.
  explicit Analyzer(const Settings& settings);

  // Two analyzers of one fingerprint give the same terms.
  [[nodiscard]] static uint64_t fingerprint(const Settings& settings);

  // Splits a text; what words() gives is valid until the next read().
  const Words& read(std::string_view text) {
    words_.read(text, english_);
    return words_;
  }
  // As Words::read_others() in the language.
  template <typename Visit>
  const Words& read_others(std::string_view text, Visit visit) {
    words_.read_others(text, english_, visit);
    return words_;
  }
  // The stem of a word (irregular English verbs by their base); valid until the next call.
  [[nodiscard]] std::string_view stem(std::string_view word);
  [[nodiscard]] bool is_stop_word(std::string_view word) const {
    return stop_words_.find(word) != stop_words_.end();
  }

 private:
  std::unique_ptr<Stemmer> stemmer_;
  boost::unordered_flat_set<std::string, KeyHash, std::equal_to<>> stop_words_;
  Words words_;
  bool english_;
};

}  // namespace varve::text
