#include "query/row_set.h"

#include <algorithm>
#include <utility>

namespace varve::query {

namespace {

constexpr size_t kListsAskedMax = 64;
constexpr uint32_t kFewRows = 16;  // take less than a place in their list does

}  // namespace

RowSet RowSet::of_lists(const std::vector<index::PostingList>& lists) {
  const bool is_short = lists.size() == 1 && lists[0].count() <= kFewRows;
  if (is_short || lists.size() > kListsAskedMax) return read(lists);
  RowSet set;
  set.cursors_.reserve(lists.size());
  for (const auto& list : lists) {
    if (list.is_empty() && !list.runs[0].is_damaged()) continue;
    set.cursors_.emplace_back(list);
    set.count_max_ += list.count();
  }
  return set;
}

RowSet RowSet::read(const std::vector<index::PostingList>& lists) {
  std::vector<uint32_t> rows;
  bool is_damaged = false;
  for (const auto& list : lists) {
    index::PostingCursor cursor(list);
    for (uint32_t row = cursor.seek(0); row != kNoRow; row = cursor.next()) rows.push_back(row);
    is_damaged = is_damaged || cursor.is_damaged();
  }
  return of_rows(std::move(rows), is_damaged);
}

RowSet RowSet::of_rows(std::vector<uint32_t> rows, bool is_damaged) {
  RowSet set;
  set.is_damaged_ = is_damaged;
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  set.count_max_ = rows.size();
  set.rows_ = std::move(rows);
  return set;
}

uint32_t RowSet::seek_in_all(uint32_t row) {
  const auto known = std::lower_bound(rows_.begin(), rows_.end(), row);
  uint32_t first = known == rows_.end() ? kNoRow : *known;
  for (auto& cursor : cursors_) first = std::min(first, cursor.seek(row));
  return first;
}

uint32_t RowSet::seek_back_in_all(uint32_t row) {
  const auto after = std::upper_bound(rows_.begin(), rows_.end(), row);
  uint32_t last = after == rows_.begin() ? kNoRow : *std::prev(after);
  for (auto& cursor : cursors_) {
    const uint32_t found = cursor.seek_back(row);
    if (found != kNoRow && (last == kNoRow || found > last)) last = found;
  }
  return last;
}

bool RowSet::is_damaged() const {
  return is_damaged_ || std::any_of(cursors_.begin(), cursors_.end(),
                                    [](const auto& cursor) { return cursor.is_damaged(); });
}

}  // namespace varve::query
