#include "query/row_filter.h"

#include <algorithm>
#include <utility>

namespace varve::query {

RowFilter::RowFilter(const index::Index& index, uint32_t row_end, int64_t now_ms)
    : index_(index), log_end_(row_end), row_end_(row_end), now_ms_(now_ms) {}

void RowFilter::require(RowSet set) {
  has_conditions_ = true;
  const auto behind = std::upper_bound(
      required_.begin(), required_.end(), set.count_max(),
      [](uint64_t count, const RowSet& other) { return count < other.count_max(); });
  required_.insert(behind, std::move(set));
}

void RowFilter::exclude(RowSet set) {
  has_conditions_ = true;
  excluded_.push_back(std::move(set));
}

void RowFilter::require_types(const std::vector<std::string>& types) {
  if (types.empty()) return;
  has_conditions_ = true;
  const auto& names = index_.type_names();
  types_.resize(std::max<size_t>(names.size(), 1));
  for (size_t number = 0; number < names.size(); ++number) {
    const bool is_taken = std::find(types.begin(), types.end(), names[number]) != types.end();
    types_[number] = is_taken ? 1 : 0;
  }
}

void RowFilter::require_time(int64_t start_ms, int64_t end_ms) {
  has_conditions_ = true;
  start_ms_ = std::max(start_ms_, start_ms);
  end_ms_ = std::min(end_ms_, end_ms);
  asks_time_ = !index_.is_in_time_order();
  if (asks_time_) return;
  const auto first_not_before = [&](int64_t time_ms) {
    uint32_t low = 0;
    uint32_t high = row_end_;
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (index_.timestamp_ms(middle) < time_ms) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  };
  row_begin_ = first_not_before(start_ms_);
  row_end_ = first_not_before(end_ms_);
}

bool RowFilter::accepts_columns(uint32_t row) const {
  // First what turns most away and is in memory that was looked at lately.
  if (!types_.empty() && !accepts_type(index_.type_number(row))) return false;
  return is_live(row) && (!asks_time_ || is_in_time(index_.timestamp_ms(row))) &&
         (importance_min_ <= 0 || index_.importance(row) >= importance_min_);
}

bool RowFilter::accepts_sets(uint32_t row, bool is_from_driver) {
  if (required_.empty() && excluded_.empty() && !holds_) return true;
  for (size_t i = is_from_driver ? 1 : 0; i < required_.size(); ++i) {
    if (!required_[i].contains(row)) return false;
  }
  return std::none_of(excluded_.begin(), excluded_.end(),
                      [row](RowSet& set) { return set.contains(row); }) &&
         (!holds_ || holds_(row));
}

bool RowFilter::fulfils(uint32_t row) {
  return row >= row_begin_ && row < row_end_ && accepts_columns(row) && accepts_sets(row, false);
}

uint32_t RowFilter::next(uint32_t row) {
  row = std::max(row, row_begin_);
  for (;; ++row) {
    if (has_driver()) row = required_.front().seek(row);
    if (row >= row_end_) return kNoRow;  // kNoRow too
    if (accepts_columns(row) && accepts_sets(row, has_driver())) return row;
  }
}

uint32_t RowFilter::previous(uint32_t row) {
  if (row_end_ == 0) return kNoRow;
  row = std::min(row, row_end_ - 1);
  for (;; --row) {
    if (has_driver()) row = required_.front().seek_back(row);
    if (row == kNoRow || row < row_begin_) return kNoRow;
    if (accepts_columns(row) && accepts_sets(row, has_driver())) return row;
    if (row == 0) return kNoRow;
  }
}

uint64_t RowFilter::walk_count_max() const {
  const uint64_t range = row_end_ > row_begin_ ? row_end_ - row_begin_ : 0;
  return has_driver() ? std::min(range, required_.front().count_max()) : range;
}

bool RowFilter::is_damaged() const {
  const auto damaged = [](const RowSet& set) { return set.is_damaged(); };
  return std::any_of(required_.begin(), required_.end(), damaged) ||
         std::any_of(excluded_.begin(), excluded_.end(), damaged);
}

}  // namespace varve::query
