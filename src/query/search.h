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
#include "decay/decay.h"
#include "index/index.h"
#include "query/best.h"
#include "query/fusion.h"
#include "query/query.h"
#include "query/relevance.h"
#include "query/statistics.h"
#include "query/text_check.h"
#include "text/analyzer.h"

namespace varve::query {

struct SearchInput {
  const index::Index* index = nullptr;
  const Query* query = nullptr;
  const decay::Rules* rules = nullptr;
  text::Analyzer* analyzer = nullptr;  // null when the query has no text
  int64_t now_ms = 0;                  // that ages are counted to
  int64_t live_ms = 0;                 // what has expired by then is not found
  BestWeights weights;
  // Of a query across sessions: which one this is, what all of them hold, the best match of all.
  std::string_view session_id;
  const TextStatistics* statistics = nullptr;
  double best_match = 0;
  std::optional<uint64_t> row_end_max;  // rows behind it came later
  std::optional<uint64_t> seq_end_max;  // so did rows with a higher seq
  const RankKeys* rank_keys = nullptr;  // of all sessions, sorted
  // Of a query with a vector: the rows that have one, rising.
  std::vector<VectorMatch> vectors;
  // For each check of the text plan, the rows that passed it; empty before they were asked.
  std::vector<std::vector<uint32_t>> passed;
};

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
  bool has_more = false;
  double best_match = 0;      // [BM25] what match_quality is measured against
  uint32_t row_end = 0;       // rows that were looked at
  uint64_t last_seq = 0;      // its seq; 0: it has none
  std::string_view strategy;  // how the rows were found: for explain
  uint64_t walk_count_max = 0;
  bool fuses = false;  // words and a vector into one order
  std::vector<Term> terms;
};

class Search {
 public:
  // errors: kInvalidArgument for a wildcard that cannot be.
  static Result<Search> plan(SearchInput input);
  Search(Search&&) noexcept;
  Search& operator=(Search&&) noexcept;
  ~Search();

  [[nodiscard]] const std::vector<TextCheck>& checks() const;
  // Rows to ask about a check: those that pass everything else.
  [[nodiscard]] std::vector<uint32_t> rows_to_check(size_t check);

  // Results in order, at most the query's limit. kCorruption when index.bin was not what it seemed.
  Result<Answer> run();
  // For queries across sessions: what this one holds of the words, and its best match (0: none).
  [[nodiscard]] TextStatistics statistics() const;
  [[nodiscard]] double best_match();
  // And what it adds to the ranks of a query with words and a vector.
  [[nodiscard]] RankKeys rank_keys();

  // Rows of all results, in the order of the log, whatever order and limit say.
  Result<std::vector<uint32_t>> all_rows();

 private:
  struct Parts;
  explicit Search(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace varve::query
