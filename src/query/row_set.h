// RowSet: rows that fulfil one condition, to be walked in either direction or asked for one.
#pragma once

#include <cstdint>
#include <vector>

#include "index/posting_list.h"

namespace varve::query {

using index::kNoRow;

class RowSet {
 public:
  // Rows of any of the lists. Many lists are read here: to ask each of them about every row would
  // cost their number times that of the rows. So is a short one: a place in it takes a kilobyte.
  static RowSet of_lists(const std::vector<index::PostingList>& lists);
  // Rows that are known: sorted here. `is_damaged`: a list that they were read from.
  static RowSet of_rows(std::vector<uint32_t> rows, bool is_damaged = false);

  // The first row not below `row`; kNoRow when there is none. Cheap in rising or falling order.
  uint32_t seek(uint32_t row) { return is_one_list() ? cursors_[0].seek(row) : seek_in_all(row); }
  // The last row not above `row`; kNoRow when there is none.
  uint32_t seek_back(uint32_t row) {
    return is_one_list() ? cursors_[0].seek_back(row) : seek_back_in_all(row);
  }
  bool contains(uint32_t row) { return seek(row) == row; }

  // At least as many as there are.
  [[nodiscard]] uint64_t count_max() const { return count_max_; }
  [[nodiscard]] bool is_damaged() const;

 private:
  static RowSet read(const std::vector<index::PostingList>& lists);
  [[nodiscard]] bool is_one_list() const { return cursors_.size() == 1 && rows_.empty(); }
  uint32_t seek_in_all(uint32_t row);
  uint32_t seek_back_in_all(uint32_t row);

  std::vector<index::PostingCursor> cursors_;
  std::vector<uint32_t> rows_;
  uint64_t count_max_ = 0;
  bool is_damaged_ = false;  // a list that was read here
};

}  // namespace varve::query
