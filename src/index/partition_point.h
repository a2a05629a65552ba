// std::partition_point() over numbers: of rows, blocks, groups of keys.
#pragma once

#include <cstdint>

namespace varve::index {

// The first number of [low, high) for which `is_before` is false; it is true for all before that.
template <typename IsBefore>
uint32_t partition_point(uint32_t low, uint32_t high, IsBefore is_before) {
  while (low < high) {
    const uint32_t middle = low + (high - low) / 2;
    if (is_before(middle)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace varve::index
