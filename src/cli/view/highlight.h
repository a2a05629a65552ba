// Finds the words of a text that match a question.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace varve::cli {

// Bytes [start, end) of a text, matched by term number `term`.
struct Match {
  size_t start;
  size_t end;
  size_t term;
};

// Finds words by terms as `explain` names them: stems ("depart"), stems of parts of words
// ("~profil"), wildcards ("encod*"), compounds ("quay-3").
//
// The rule is for the eye and differs from the engine's. Ignoring case and accents, a word is
// marked when it begins like a term for at least 3 characters, and from there both end or have a
// usual ending (s, ed, ing, ...). Of a stem that the question has with another ending, as those of
// other languages, the question's word is marked, and what has that beginning and an ending about
// as long. A wildcard marks the words that it matches, or, when connectors
// are in it ("src/*.c"), what they join; a hash marks its beginning, and that the hash. A part is
// marked inside a word, between capitals or beside a unit, or where a hyphen joins it. Compounds,
// and scripts without spaces, are marked wherever they occur.
class Highlighter {
 public:
  Highlighter(const std::vector<std::string>& terms, std::string_view question);

  // In order, without overlaps.
  [[nodiscard]] std::vector<Match> find(std::string_view text) const;

 private:
  struct Term {
    std::u32string text;  // as FoldedText has it
    enum class Kind { kWord, kForm, kPart, kWildcard, kJoinedWildcard, kAnywhere } kind;
    size_t stem_size;  // of a kForm: how much of it all forms have
  };
  void add_form(std::u32string_view asked);
  [[nodiscard]] size_t term_of(std::u32string_view word) const;
  [[nodiscard]] size_t term_of_part(std::u32string_view part) const;
  [[nodiscard]] size_t joined_term_of(std::u32string_view joined, bool is_compound) const;

  std::vector<Term> terms_;
};

}  // namespace varve::cli
