// Best: the order for questions. What a question asks for is often not in the entry that has its
// words, but beside it; so an entry gains from its surroundings.
//
//   best(i) = q(i)                            BM25 over the best BM25
//           + 0.4  · (q(i-1) + q(i+1))        the entries before and after it
//           + 0.1  · q(i-1)                   when the entry before it asks something
//           + 0.4  · largest q in its stretch entries without an hour's gap between neighbours
//           + 0.4  when the question names its role ("user" by I, my, we, ...)
//           + 0.8  · how well its time fits a day that the question names ("May 7", "yesterday")
//           + 0.05 · relevance                importance · decay · boost
//
// Computed for the 200 best entries by BM25, 100 more on the dates named, and the matches right
// beside them; q is exact two entries around those. "Beside" is beside in the log; deleted and
// expired entries are not there. What has none of the words is not found, however well it stands.
// Cost: bounded by these numbers, after the search for the 200.
//
// source: found and justified term by term on five sets of real conversations, docs/retrieval.md.
#pragma once

#include <cstdint>
#include <vector>

#include "query/ranker.h"
#include "query/relevance.h"
#include "query/row_filter.h"
#include "query/text_plan.h"
#include "query/top_k.h"
#include "text/analyzer.h"

namespace varve::query {

// The weights of the sum, and how many candidates it is computed for. Configuration; the defaults
// were measured, one set for every kind of conversation.
struct BestWeights {
  double neighbour = 0.4;
  double answer = 0.1;
  double stretch = 0.4;
  double role = 0.4;
  double date = 0.8;
  double relevance = 0.05;
  uint32_t candidate_count = 200;
  uint32_t dated_candidate_count = 100;
};

// What each term gave.
struct BestParts {
  double match = 0;
  double neighbours = 0;
  double answer = 0;
  double stretch = 0;
  double role = 0;
  double date = 0;
  double relevance = 0;
  [[nodiscard]] double sum() const {
    return match + neighbours + answer + stretch + role + date + relevance;
  }
};

struct BestRow {
  PlaceInOrder place;
  BestParts parts;
};

struct BestRows {
  std::vector<BestRow> rows;  // in the order of the log
  double best_match = 0;      // [BM25]

  // Null when the row is not among them.
  [[nodiscard]] const BestRow* find(uint32_t row) const;
};

// `plan` is the question, and what `ranker` was made of; `filter` decides what may be found, and
// neighbours lend their scores whether it takes them or not. `best_match`: [BM25] of the best match
// of all, where others than this index have matches too; else 0.
BestRows find_best_rows(const index::Index& index, const TextPlan& plan, Ranker& ranker,
                        RowFilter& filter, const Relevance& relevance, text::Analyzer& analyzer,
                        double best_match, const BestWeights& weights);

}  // namespace varve::query
