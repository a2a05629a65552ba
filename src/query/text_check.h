// TextCheck: what only an entry's text can tell, because lists of rows keep no positions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "index/posting_list.h"
#include "json/document.h"
#include "query/text_syntax.h"
#include "text/analyzer.h"
#include "text/wildcard.h"

namespace varve::query {

// Words that follow one another. They are compared as they are written, not by their stems.
class Phrase {
 public:
  // At least one word.
  explicit Phrase(const text::Words& found);

  [[nodiscard]] bool is_in(const text::Words& text) const;

 private:
  struct Word {
    std::string text;
    std::string tail;  // "++" and "#" belong to the word; a word without may have any
  };
  [[nodiscard]] bool is_at(size_t at, const text::Words& text,
                           const std::vector<std::string_view>& tails) const;

  std::vector<Word> words_;
  bool has_tails_ = false;
};

// What a row's entry is asked when its lists cannot tell.
struct TextCheck {
  TextClause::Sign sign = TextClause::Sign::kMust;  // kRanked: rows that hold it gain
  std::string text;                                 // as written
  std::optional<Phrase> phrase;
  std::optional<text::Wildcard> wildcard;
  std::vector<index::PostingList> lists;  // a row must be in all of them to be worth asking

  // Whether a string of the entry holds the phrase, or a word that matches.
  [[nodiscard]] bool holds(json::Value entry, text::Analyzer& analyzer) const;
};

// "++" or "#" when that ends the compound; else empty.
[[nodiscard]] std::string_view tail_of(std::string_view compound);

}  // namespace varve::query
