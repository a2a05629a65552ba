#include "query/row_filter.h"

#include <algorithm>
#include <utility>

#include "index/partition_point.h"

namespace varve::query {

namespace {

constexpr size_t kSortedMax = 64;  // sets

}  // namespace

RowFilter::RowFilter(const index::Index& index, uint32_t row_end, int64_t now_ms)
    : index_(index), log_end_(row_end), row_end_(row_end), now_ms_(now_ms) {}

void RowFilter::require(RowSet set) {
  has_conditions_ = true;
  if (required_.size() >= kSortedMax) {
    // Among so many no order matters but which is the smallest: that one drives the walk.
    if (set.count_max() < required_.front().count_max()) std::swap(set, required_.front());
    required_.push_back(std::move(set));
    return;
  }
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
  types_.assign(std::max<size_t>(index_.type_names().size(), 1), 0);
  for (const auto& type : types) {
    if (const auto number = index_.find_type(type)) types_[*number] = 1;
  }
}

void RowFilter::require_time(int64_t start_ms, int64_t end_ms) {
  has_conditions_ = true;
  start_ms_ = std::max(start_ms_, start_ms);
  end_ms_ = std::min(end_ms_, end_ms);
  asks_time_ = !index_.is_in_time_order();
  if (asks_time_) return;
  row_begin_ = first_not_before(start_ms_);
  row_end_ = first_not_before(end_ms_);
}

// Of rows in the order of time. Entries come at an even pace, about, so that the row is sought from
// where it were if they did, in steps that double: an answer near it costs few looks at memory.
uint32_t RowFilter::first_not_before(int64_t time_ms) const {
  if (row_end_ == 0) return 0;
  const auto is_before = [&](uint32_t row) { return index_.timestamp_ms(row) < time_ms; };
  const uint32_t last = row_end_ - 1;
  if (!is_before(0)) return 0;
  if (is_before(last)) return row_end_;
  // Here and below: `low` is before it, `high` is not.
  uint32_t low = 0;
  uint32_t high = last;
  const auto first_ms = static_cast<double>(index_.timestamp_ms(0));
  const double pace_ms = static_cast<double>(index_.timestamp_ms(last)) - first_ms;
  // An index.bin may say anything: times beyond all calendars are no pace.
  const double share = pace_ms > 0 ? (static_cast<double>(time_ms) - first_ms) / pace_ms : 0;
  const auto guess = static_cast<uint32_t>(share * last);
  const bool is_guess_before = is_before(guess);
  (is_guess_before ? low : high) = guess;
  for (uint32_t step = 1; step < (is_guess_before ? high - guess : guess - low); step *= 2) {
    const uint32_t row = is_guess_before ? guess + step : guess - step;
    const bool is_row_before = is_before(row);
    (is_row_before ? low : high) = row;
    if (is_row_before != is_guess_before) break;
  }
  return index::partition_point(low + 1, high, is_before);
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

void RowFilter::for_each(const std::function<void(uint32_t)>& visit) {
  if (!has_driver() && !types_.empty()) {
    walk_back_to_first_of_types(visit);
    return;
  }
  for (uint32_t row = next(0); row != kNoRow; row = next(row + 1)) visit(row);
}

void RowFilter::walk_back_to_first_of_types(const std::function<void(uint32_t)>& visit) {
  uint64_t left_count = 0;  // rows of the types that were not met yet, or more
  for (uint32_t type = 0; type < types_.size(); ++type) {
    if (types_[type] != 0) left_count += index_.count_of_type(type);
  }
  for (uint32_t row = row_end_; row > row_begin_ && left_count > 0;) {
    --row;
    if (!accepts_type(index_.type_number(row)) || index_.is_deleted(row)) continue;
    --left_count;
    if (accepts_columns(row) && accepts_sets(row, false)) visit(row);
  }
}

std::vector<uint32_t> RowFilter::rows() {
  std::vector<uint32_t> rows;
  for_each([&](uint32_t row) { rows.push_back(row); });
  if (rows.size() > 1 && rows.front() > rows.back()) std::reverse(rows.begin(), rows.end());
  return rows;
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
