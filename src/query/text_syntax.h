// The syntax of a query's `text`: words, "phrases", +must, -not, wildcards * and ?; and of its
// `question`, which has words and phrases only.
//
//   word         ranked: an entry needs one of the words
//   "a phrase"   these words in this order. Alone it must be there; beside plain words, as in a
//                question that names a title, entries that hold it are ranked higher
//   +word        must be there; also +"a phrase"
//   -word        must not be there (also -"a phrase")
//   wor*  w?rd   any word that matches; ranked, with + or - as for a word
//
// Anything else is a word: there is no malformed text. A question mark at the end of a word is
// punctuation, a sign before a space is no sign, a quote without its other half is none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace varve::query {

struct TextClause {
  enum class Kind { kWords, kPhrase, kWildcard };
  enum class Sign { kRanked, kMust, kNot };
  Kind kind = Kind::kWords;
  Sign sign = Sign::kRanked;
  std::string text;  // without sign and quotes
};

// Neighbouring plain words are one clause, so that what connectors join stays together.
[[nodiscard]] std::vector<TextClause> parse_text(std::string_view text);

// What a person wrote, who knows of no signs: in "what does chmod +x do to *.sh?" they say nothing.
[[nodiscard]] std::vector<TextClause> parse_question(std::string_view question);

}  // namespace varve::query
