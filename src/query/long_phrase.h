// LongPhrase: looks for a phrase of many words in a text, in a time that does not multiply the
// lengths of both, as to compare it at each word of "a a a a ..." would.
//
// All places where the phrase may have begun are followed at once: bit i of the state says that the
// words up to here can be its first i + 1. A word of the text costs 1/64 step a word of the phrase.
//
// source: Shift-And (Baeza-Yates and Gonnet, A new approach to text searching, CACM 1992).
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace varve::query {

// A word of a phrase.
struct PhraseWord {
  std::string text;
  std::string tail;      // "++" and "#" belong to the word; a word without may have any
  bool is_lone = false;  // one character of a script without spaces
  bool goes_on = false;  // in the next word, which has its last character too
};

class LongPhrase {
 public:
  // From so many words on this costs less.
  static constexpr size_t kWordsMin = 64;

  // Borrows the words.
  explicit LongPhrase(const std::vector<PhraseWord>& words);

  // Takes the next word of the text; true when the phrase ends with it. `is_first` and `is_last`:
  // it can be the phrase's first or last word, which may be parts of words (Phrase::is_word).
  bool step(std::string_view text, std::string_view tail, bool goes_on, bool is_first,
            bool is_last);

 private:
  using Bits = std::vector<uint64_t>;
  static bool has(const Bits& bits, size_t at) { return (bits[at / 64] >> at % 64 & 1) != 0; }
  static void set(Bits* bits, size_t at) { (*bits)[at / 64] |= uint64_t{1} << at % 64; }

  struct Places {
    std::vector<uint32_t> numbers;  // of the words with one text
    Bits bits;                      // the same, where there are many
  };
  // Whether the words before word `at` were just there, and nothing but its text is against it.
  [[nodiscard]] bool may_follow(size_t at, std::string_view tail, bool goes_on) const;
  void take_many(const Bits& places, std::string_view tail, bool goes_on);

  const std::vector<PhraseWord>& words_;
  boost::unordered_flat_map<std::string_view, Places> places_;
  std::array<Bits, 2> going_;                                 // by what the text's word does
  boost::unordered_flat_map<std::string_view, Bits> tailed_;  // by its tail: words that take it
  Bits state_;
  Bits next_;
};

}  // namespace varve::query
