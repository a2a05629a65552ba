// TextCheck: what only an entry's text can tell, because lists of rows keep no positions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "index/posting_list.h"
#include "json/document.h"
#include "query/long_phrase.h"
#include "query/text_syntax.h"
#include "text/analyzer.h"
#include "text/wildcard.h"

namespace varve::query {

// "++" or "#" where that ends a compound; else empty.
[[nodiscard]] std::string_view tail_of(std::string_view compound);
// Of each of a text's words.
using Tails = std::vector<std::string_view>;
[[nodiscard]] Tails tails_of(const text::Words& text);

// Words that follow one another. They are compared as they are written, not by their stems.
//
// Scripts without spaces have no words, so what they have in a phrase may be a part of what a text
// has, where the phrase begins and ends: a run of their characters may have more before it, or
// behind it.
class Phrase {
 public:
  // Of the words from `first` to before `end`, at least one; `tails`: of all words.
  Phrase(const text::Words& found, const Tails& tails, size_t first, size_t end);

  [[nodiscard]] bool is_in(const text::Words& text) const;

 private:
  [[nodiscard]] bool is_long_in(const text::Words& text, const Tails& tails) const;
  [[nodiscard]] bool is_at(size_t at, const text::Words& text, const Tails& tails) const;
  [[nodiscard]] bool is_word(size_t number, std::string_view text) const;

  std::vector<PhraseWord> words_;
  bool has_tails_ = false;
};

// What a row's entry is asked when its lists cannot tell.
struct TextCheck {
  TextClause::Sign sign = TextClause::Sign::kMust;  // kRanked: rows that hold it gain
  std::string text;                                 // as written
  std::vector<Phrase> phrases;                      // each
  std::optional<text::Wildcard> wildcard;           // and a word that it matches
  bool wildcard_is_unspaced = false;                // it has characters of a script without spaces
  std::vector<index::PostingList> lists;  // a row must be in all of them to be worth asking

  // Whether a word of one string matches the wildcard.
  [[nodiscard]] bool holds_match(const text::Words& words) const;
};

// Calls `visit(number)` for each of these checks that strings of the entry hold: they are read once
// for all.
void for_each_held(json::Value entry, const std::vector<const TextCheck*>& checks,
                   text::Analyzer& analyzer, const std::function<void(size_t number)>& visit);

}  // namespace varve::query
