// The seed of tables in tests in which it does not matter.
#pragma once

#include <cstdint>

namespace varve::index {

inline constexpr uint64_t kHashSeed = 5;

}  // namespace varve::index
