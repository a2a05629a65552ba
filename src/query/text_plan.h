// TextPlan: a query's words against one index: which lists rank, which must and must not be there,
// and what only the entry's text can tell.
//
// A wildcard is looked up in the dictionary, and its rows are one list, with one weight. Phrases,
// what is longer than a word in a script without spaces, and wildcards that take some forms of a
// word and not others, are narrowed down by lists and then checked against the entries (TextCheck).
#pragma once

#include <list>
#include <string>
#include <vector>

#include "base/result.h"
#include "index/index.h"
#include "query/statistics.h"
#include "query/text_check.h"
#include "query/text_syntax.h"
#include "text/analyzer.h"

namespace varve::query {

struct KnownSearches;  // in text_lookup.h

// A word, compound or wildcard that entries are ranked by; or a word as a part of others, which
// counts less.
struct RankedTerm {
  std::string text;  // of a part: the term of its word behind index::kPartSign
  index::PostingList rows;
  bool is_part = false;
};

struct TextPlan {
  std::vector<RankedTerm> terms;
  std::vector<index::PostingList> required;               // each
  std::vector<std::vector<index::PostingList>> excluded;  // rows that are in all lists of one
  std::vector<TextCheck> checks;
  std::vector<std::string> words;             // of the question, folded, as asked
  std::string question;                       // the text without what must not be there
  bool matches_nothing = false;               // a word that must be there is nowhere
  bool has_no_words = false;                  // nor conditions: by words, nothing is found
  bool asks_words = false;                    // to rank by, whether an entry has them or not
  bool needs_term = false;                    // an entry must have at least one of `terms`
  std::list<index::PostingBuffer> own_lists;  // that lists above borrow; mostly none

  // Whether no row can be found. Before the checks are answered (is_checked) each may add a term.
  [[nodiscard]] bool finds_nothing(bool is_checked) const;

  // Adds a term that is in these rows, once in each, unless it is there: asked for twice.
  void rank_rows(std::string text, const std::vector<uint32_t>& rows, const index::Index& index);
};

// Borrows the index. Whether a name is there, or its parts are asked for instead, is told by the
// first `row_end` rows, and by what several sessions hold together, so that all pages and sessions
// ask for the same. A text that is planned again for the same rows is given what was `known` then,
// and has the same checks. The plan borrows it. errors: kInvalidArgument for a wildcard that
// matches too many words.
Result<TextPlan> plan_text(std::vector<TextClause> clauses, const index::Index& index,
                           text::Analyzer& analyzer, uint32_t row_end = UINT32_MAX,
                           const TextStatistics* shared = nullptr, KnownSearches* known = nullptr);

}  // namespace varve::query
