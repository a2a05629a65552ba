// OrderedSearch: the first rows by relevance, importance or time, looking only where they can be.
//
// Branch and bound over the time orders of the types (index/time_order.h): a node's largest
// importance and newest time bound the key of everything under it, because no curve rises with age.
// Nodes are opened best bound first until no bound reaches the last result. In ascending order the
// least importance and the oldest time bound it from below. The cost follows the number of results
// and how many rows a filter turns away, not the log. Where those are too many, as with a tag of
// old and unimportant entries, it gives up, and its caller walks the filter's rows.
//
// By time, oldest first, nothing need be bounded: the time orders are merged from where the page
// begins.
#pragma once

#include <cstdint>

#include "index/index.h"
#include "query/query.h"
#include "query/relevance.h"
#include "query/row_filter.h"
#include "query/top_k.h"

namespace varve::query {

// What rows are ordered by when there is no text: kRelevance, kTime or kImportance.
class OrderKey {
 public:
  OrderKey(const index::Index& index, const Relevance& relevance, SortBy sort_by)
      : index_(index), relevance_(relevance), sort_by_(sort_by) {}

  [[nodiscard]] double of(uint32_t row) const {
    if (sort_by_ == SortBy::kTime) return static_cast<double>(index_.timestamp_ms(row));
    return sort_by_ == SortBy::kImportance ? index_.importance(row) : relevance_.of(row);
  }
  // Of a row of the type with this importance at this time: a bound of every row's whose importance
  // and time are at most these, or at least.
  [[nodiscard]] double bound(uint32_t type, double importance, int64_t timestamp_ms) const {
    if (sort_by_ == SortBy::kTime) return static_cast<double>(timestamp_ms);
    return sort_by_ == SortBy::kImportance ? importance
                                           : relevance_.bound(type, importance, timestamp_ms);
  }

 private:
  const index::Index& index_;
  const Relevance& relevance_;
  SortBy sort_by_;
};

// Offers every accepted row with a key of at least `key_min` that can be among the first in the
// order of `best`, unless it comes to more than `fruitless_max` types and rows of which none is
// offered: then it answers false, and `best` is of no use. The index is arranged.
[[nodiscard]] bool search_in_order(const index::Index& index, RowFilter& filter,
                                   const OrderKey& key, double key_min, uint64_t fruitless_max,
                                   TopK* best);

// The same by time, oldest first; `best` ascending.
[[nodiscard]] bool search_oldest_first(const index::Index& index, RowFilter& filter,
                                       uint64_t fruitless_max, TopK* best);

}  // namespace varve::query
