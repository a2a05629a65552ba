// Candidates: what words and a vector found together, to be put into one order (fusion.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "query/best.h"
#include "query/fusion.h"
#include "query/row_filter.h"

namespace varve::query {

struct Candidate {
  uint32_t row = 0;
  std::optional<double> text_key;    // of the order by words; nothing: not found by them
  std::optional<double> similarity;  // nothing: it has no vector
  double match = 0;                  // [BM25]
  std::optional<BestParts> best;
};

// Rising by row.
using Candidates = std::vector<Candidate>;

// The candidates and, of these vectors (rising), those of rows that the filter takes.
Candidates with_vectors(const Candidates& by_words, const std::vector<VectorMatch>& vectors,
                        RowFilter& filter);

// Sorted.
RankKeys rank_keys_of(const Candidates& candidates);

// nullptr when the row is none of them.
const Candidate* find_candidate(const Candidates& candidates, uint32_t row);

}  // namespace varve::query
