// How many bytes two texts have in common at their start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace varve::index {

inline size_t common_start_bytes(std::string_view a, std::string_view b) {
  const auto differing = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first;
  return static_cast<size_t>(differing - a.begin());
}

}  // namespace varve::index
