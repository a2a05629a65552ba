// SearchInput: what a Search is given: a query, the index it is asked of, and the moment.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "decay/decay.h"
#include "index/index.h"
#include "query/best.h"
#include "query/fusion.h"
#include "query/query.h"
#include "query/statistics.h"
#include "text/analyzer.h"

namespace varve::query {

struct KnownSearches;  // in text_lookup.h

constexpr double kAllKeys = -std::numeric_limits<double>::infinity();

// Borrows all it points to.
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
  // In a falling order: what has a smaller key is not wanted, since others come before it.
  double key_min = kAllKeys;
  std::optional<uint64_t> row_end_max;  // rows behind it came later
  std::optional<uint64_t> seq_end_max;  // so did rows with a higher seq
  const RankKeys* rank_keys = nullptr;  // of all sessions, sorted
  // Of a query with a vector: the rows that have one, rising.
  std::vector<VectorMatch> vectors;
  // For each check of the text plan, the rows that passed it; empty before they were asked.
  std::vector<std::vector<uint32_t>> passed;
  // What looking up the text found: kept from the search that tells the checks to the one that is
  // given the rows that passed, so that both have the same. Rows may have been added between them.
  std::shared_ptr<KnownSearches> searches;
};

}  // namespace varve::query
