// RowLengths: the [terms] of rows, as their lists of words need them; without any, 0.
#pragma once

#include <cstdint>
#include <span>

namespace varve::index {

struct RowLengths {
  std::span<const uint32_t> lengths;
  uint32_t bits = UINT32_MAX;  // of each that are the length
  uint32_t operator()(uint32_t row) const { return row < lengths.size() ? lengths[row] & bits : 0; }
};

}  // namespace varve::index
