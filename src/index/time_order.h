// TimeOrder: the rows of one type by time, with the largest and the least importance of every group
// of them.
//
// A tree over the rows, oldest first: each node stands for kFanout nodes below it (or rows), and
// knows their largest and least importance; its oldest and newest time are those of its ends. That
// is enough to bound the relevance of everything under a node, from above and from below, for any
// decay that never rises with age, at any `now`, with floor and boost, so the best rows and the
// worst are found by looking only where they can be (query/ordered_search.h).
//
// Rows in rising time are appended in O(1); rows out of order cost a merge of the whole.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace varve::index {

class TimeOrder {
 public:
  static constexpr uint32_t kFanout = 16;

  // Of all rows, by row.
  struct Columns {
    std::span<const int64_t> timestamps_ms;
    std::span<const double> importances;
  };

  // Adds rows, in rising number.
  void add(std::span<const uint32_t> rows, const Columns& columns);

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(rows_.size()); }
  // By (time, row), oldest first.
  [[nodiscard]] uint32_t row(uint32_t position) const { return rows_[position]; }

  // Level 0 is nodes over rows; the last level has one node (none when there are no rows).
  [[nodiscard]] uint32_t level_count() const { return static_cast<uint32_t>(levels_.size()); }
  [[nodiscard]] uint32_t node_count(uint32_t level) const {
    return static_cast<uint32_t>(levels_[level].size());
  }
  [[nodiscard]] double importance_max(uint32_t level, uint32_t node) const {
    return levels_[level][node].largest;
  }
  [[nodiscard]] double importance_min(uint32_t level, uint32_t node) const {
    return levels_[level][node].least;
  }
  // Positions [begin, end) of the rows under a node.
  struct Extent {
    uint32_t begin;
    uint32_t end;
  };
  [[nodiscard]] Extent extent(uint32_t level, uint32_t node) const;

  [[nodiscard]] uint64_t memory_bytes() const;

 private:
  struct Importances {
    double largest = 0;
    double least = 0;
  };

  void rebuild_levels(uint32_t from, const Columns& columns);
  [[nodiscard]] Importances of_node(uint32_t level, uint32_t node, uint32_t below,
                                    const Columns& columns) const;

  std::vector<uint32_t> rows_;
  std::vector<std::vector<Importances>> levels_;
};

}  // namespace varve::index
