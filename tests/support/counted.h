// What a long test looked at, in one line that scripts/torture adds up: `[  counted ] states 1234`.
#pragma once

#include <cstddef>
#include <iostream>
#include <string_view>

namespace varve::test {

// Flushed at once: a test may fork, or be killed, right behind it.
inline void counted(std::string_view what, size_t count) {
  std::cout << "[  counted ] " << what << ' ' << count << std::endl;
}

}  // namespace varve::test
