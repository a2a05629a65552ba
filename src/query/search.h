// Search: one query on one session's index, from conditions to rows in order.
//
// In two steps, because some conditions only the entries themselves can answer (a phrase): a Search
// says which rows to ask (rows_to_check), the caller reads those entries outside all locks, and a
// second Search is given the rows that passed (SearchInput::passed).
//
// A Search borrows the index, which has facets, and has text when the query has. It sees the rows
// whose words are indexed; sorting by what decays is slow while they are not arranged.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/best.h"
#include "query/fusion.h"
#include "query/relevance.h"
#include "query/search_input.h"
#include "query/statistics.h"
#include "query/text_check.h"

namespace varve::query {

struct Hit {
  PlaceInOrder place;
  double relevance = 0;
  double match_quality = 1;
  double match = 0;  // [BM25]
  Relevance::Factors factors;
  std::optional<BestParts> best;
  std::optional<FusionParts> fusion;  // of a query with a vector
  // With explain: how often each of Answer::terms is in it, and what that gave.
  std::vector<std::pair<uint32_t, double>> terms;
};

struct Answer {
  struct Term {
    std::string text;
    uint64_t row_count = 0;
    double idf = 0;
  };
  std::vector<Hit> hits;
  bool has_more = false;      // or there may be: of keys below SearchInput::key_min
  double best_match = 0;      // [BM25] what match_quality is measured against
  uint32_t row_end = 0;       // rows that were looked at
  uint64_t last_seq = 0;      // of the last of them; 0: it has none
  std::string_view strategy;  // how the rows were found: for explain
  uint64_t walk_count_max = 0;
  bool fuses = false;  // words and a vector into one order
  std::vector<Term> terms;
};

// The first row by its match alone: the largest [BM25], and of the same the latest.
struct BestMatch {
  double match = 0;  // 0: none
  int64_t timestamp_ms = 0;
};

class Search {
 public:
  // errors: kInvalidArgument for a wildcard that cannot be, kCorruption as of run().
  static Result<Search> plan(SearchInput input);
  Search(Search&&) noexcept;
  Search& operator=(Search&&) noexcept;
  ~Search();

  [[nodiscard]] const std::vector<TextCheck>& checks() const;
  // Rows to ask about a check: those that pass everything else. kCorruption as of run().
  Result<std::vector<uint32_t>> rows_to_check(size_t check);

  // Results in order, at most the query's limit. kCorruption when index.bin was not what it seemed.
  Result<Answer> run();
  // For queries across sessions: what this one holds of the words, and its best match (0: none).
  [[nodiscard]] TextStatistics statistics() const;
  // Whether no row can be found, whatever other sessions hold: it has not the words.
  [[nodiscard]] bool finds_nothing() const;
  // The seq of the last row that is looked at; 0: it has none.
  [[nodiscard]] uint64_t last_seq() const;
  [[nodiscard]] BestMatch best_match();
  // And what it adds to the ranks of a query with words and a vector.
  [[nodiscard]] RankKeys rank_keys();

  // kCorruption when one of the lists that were read since is damaged: no answer is one.
  [[nodiscard]] Status check_lists() const;

  // Rows of all results, in the order of the log, whatever order and limit say.
  Result<std::vector<uint32_t>> all_rows();

 private:
  struct Parts;
  explicit Search(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace varve::query
