// FoldedText: the form in which words are compared for the eye, and where in the text it comes
// from.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace varve::cli {

// Letters in lower case, without accents (U+0300 to U+036F) and the points of Hebrew and Arabic, of
// one width, and composed: one letter has one form, however it was typed. What shows nothing, such
// as soft hyphens, falls away.
struct FoldedText {
  explicit FoldedText(std::string_view text);

  std::u32string letters;
  std::vector<size_t> begins;  // [bytes] of each letter: the character it is of, with its marks
  std::vector<size_t> ends;
};

}  // namespace varve::cli
