// RowFilter: all conditions of a query but the words it ranks by, as a walk over the rows that
// fulfil them.
//
// The smallest set drives the walk; the columns and the other sets, smaller ones first, are asked
// for each row it comes to. Without a set every row in the range is walked.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "index/index.h"
#include "query/row_set.h"

namespace varve::query {

class RowFilter {
 public:
  // Rows below `row_end` that are live at `now_ms`.
  RowFilter(const index::Index& index, uint32_t row_end, int64_t now_ms);

  void require(RowSet set);
  void exclude(RowSet set);
  void require_types(const std::vector<std::string>& types);
  void require_time(int64_t start_ms, int64_t end_ms);  // [start, end)
  void require_importance(double importance_min) {
    importance_min_ = importance_min;
    has_conditions_ = has_conditions_ || importance_min > 0;
  }
  // Any other condition, asked last.
  void require_that(std::function<bool(uint32_t row)> holds) {
    holds_ = std::move(holds);
    has_conditions_ = true;
  }

  // Whether a row fulfils everything.
  bool accepts(uint32_t row) {
    return has_conditions_ ? fulfils(row) : row < row_end_ && is_live(row);
  }
  // The first accepted row not below `row`, the last one not above it; kNoRow when there is none.
  uint32_t next(uint32_t row);
  uint32_t previous(uint32_t row);
  // Calls `visit` with each accepted row, in rising or in falling order. Without a set, a type that
  // few rows have costs no more than the way back to the first of them.
  void for_each(const std::function<void(uint32_t row)>& visit);
  // All accepted rows, rising.
  std::vector<uint32_t> rows();

  [[nodiscard]] bool is_live(uint32_t row) const { return index_.is_live(row, now_ms_); }
  [[nodiscard]] bool accepts_type(uint32_t type) const {
    return types_.empty() || (type < types_.size() && types_[type] != 0);
  }
  [[nodiscard]] int64_t start_ms() const { return start_ms_; }
  [[nodiscard]] int64_t end_ms() const { return end_ms_; }
  // The `row_end` that was given, whatever the time range: for looking around a row.
  [[nodiscard]] uint32_t log_end() const { return log_end_; }
  // next() comes to at most so many rows in a whole walk: those of the smallest set, or all in the
  // time range.
  [[nodiscard]] uint64_t walk_count_max() const;
  [[nodiscard]] bool has_driver() const { return !required_.empty(); }
  [[nodiscard]] bool is_damaged() const;

 private:
  bool fulfils(uint32_t row);
  void walk_back_to_first_of_types(const std::function<void(uint32_t row)>& visit);
  [[nodiscard]] uint32_t first_not_before(int64_t time_ms) const;
  [[nodiscard]] bool accepts_columns(uint32_t row) const;
  [[nodiscard]] bool is_in_time(int64_t timestamp_ms) const {
    return timestamp_ms >= start_ms_ && timestamp_ms < end_ms_;
  }
  bool accepts_sets(uint32_t row, bool is_from_driver);

  const index::Index& index_;
  uint32_t log_end_;
  uint32_t row_end_;
  int64_t now_ms_;
  bool has_conditions_ = false;  // beside those of the constructor
  uint32_t row_begin_ = 0;       // no row before it is in the time range
  int64_t start_ms_ = std::numeric_limits<int64_t>::min();
  int64_t end_ms_ = std::numeric_limits<int64_t>::max();
  bool asks_time_ = false;  // of a row from row_begin_ up to row_end_
  double importance_min_ = 0;
  std::vector<uint8_t> types_;    // by type number, whether it is taken; empty: all
  std::vector<RowSet> required_;  // the smallest first
  std::vector<RowSet> excluded_;
  std::function<bool(uint32_t)> holds_;
};

}  // namespace varve::query
