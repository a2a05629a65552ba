// Wildcard: `*` (any characters, also none) and `?` (one character) inside a word.
//
// One that itself has segments (ends_segment()) also matches segments inside a longer word: src/*.c
// matches app/src/main.c:42.
//
// Matching is one pass over the word, one machine word of state: the pattern's places are the bits
// of a non-deterministic automaton, all followed at once. Linear for every pattern; there is no
// backtracking to explode.
//
// source: the shift-and automaton (Baeza-Yates and Gonnet, CACM 1992) with gaps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve::text {

class Wildcard {
 public:
  static constexpr size_t kCharactersMax = 63;  // besides the `*`

  // `pattern` is folded like the words it is to match. Nothing when it is longer than
  // kCharactersMax.
  static std::optional<Wildcard> parse(std::string_view pattern);

  // Cost: O(bytes of the word). Most words lack the longest of the parts that are written out,
  // which is told without a step for each character.
  [[nodiscard]] bool matches(std::string_view word) const;
  // The same step by step, for a caller that decides where a match may begin and end. A match
  // begins where kBegin is added (by |) to the state; one ends where is_match().
  using State = uint64_t;
  static constexpr State kBegin = 1;
  [[nodiscard]] State step(State state, uint32_t code_point) const {
    return ((state << 1) & (any_ | bits_of(code_point))) | (state & stay_);
  }
  [[nodiscard]] bool is_match(State state) const { return (state >> count_ & 1) != 0; }
  // What every word that matches starts with.
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

 private:
  [[nodiscard]] uint64_t bits_of(uint32_t code_point) const;

  std::vector<std::pair<uint32_t, uint64_t>> literals_;  // code point -> places that take it
  uint64_t any_ = 0;                                     // places of `?`
  uint64_t stay_ = 0;                                    // places with a `*` before what comes next
  uint32_t count_ = 0;
  bool has_segments_ = false;
  std::string prefix_;
  std::string longest_part_;  // between `*` and `?`: every word that matches has it
};

}  // namespace varve::text
