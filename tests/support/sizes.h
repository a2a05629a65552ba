// Sizes that tests of memory and files are written in.
#pragma once

#include <cstdint>

namespace varve::test {

inline constexpr uint64_t kMegabyte = uint64_t{1} << 20;

}  // namespace varve::test
