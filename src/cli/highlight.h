// Which words of a text a question found, and the stretch of the text that shows them best.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/terminal.h"

namespace varve::cli {

// Bytes [start, end) of a text that term number `term` found.
struct Match {
  size_t start;
  size_t end;
  size_t term;
};

// Finds words by terms, as `explain` names them: stems ("depart"), wildcards ("encod*"), compounds
// ("quay-3").
//
// The rule, for the eye and not the engine's: whatever the case and the accents, a word is marked
// when it and a term begin alike for at least 3 characters and both end there, or go on with a
// usual ending (s, ed, ing, ...). A wildcard marks the words that it matches; compounds, and
// scripts without spaces, are marked wherever they stand.
class Highlighter {
 public:
  explicit Highlighter(const std::vector<std::string>& terms);

  // In order, without overlaps.
  [[nodiscard]] std::vector<Match> find(std::string_view text) const;

 private:
  struct Term {
    std::u32string text;  // in lower case, without accents
    enum class Kind { kWord, kWildcard, kAnywhere } kind;
  };
  [[nodiscard]] size_t term_of(std::u32string_view word) const;

  std::vector<Term> terms_;
};

// At most `columns` of `text`, which is one line: where most of the terms are, with "…" where
// something is left out, and the matches painted.
[[nodiscard]] std::string excerpt(std::string_view text, const std::vector<Match>& matches,
                                  size_t columns, const Terminal& terminal);

}  // namespace varve::cli
