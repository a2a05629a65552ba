// Renumbering: which rows of an index stay when the log is written anew, and what their numbers are
// then. Rows keep their order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "index/posting_list.h"

namespace varve::index {

class Renumbering {
 public:
  // `kept` in rising order, all below `row_count`.
  Renumbering(std::span<const uint32_t> kept, uint32_t row_count)
      : kept_(kept), new_rows_(row_count, kNoRow) {
    for (uint32_t i = 0; i < kept.size(); ++i) new_rows_[kept[i]] = i;
  }

  [[nodiscard]] std::span<const uint32_t> kept() const { return kept_; }
  // By old row; kNoRow: it goes.
  [[nodiscard]] std::span<const uint32_t> new_rows() const { return new_rows_; }
  // kNoRow: the row goes, or never was.
  [[nodiscard]] uint32_t new_row(uint32_t row) const {
    return row < new_rows_.size() ? new_rows_[row] : kNoRow;
  }

 private:
  std::span<const uint32_t> kept_;
  std::vector<uint32_t> new_rows_;
};

}  // namespace varve::index
