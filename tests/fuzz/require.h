// What a fuzz target calls for what must hold: it ends the program, and says where.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace varve::fuzz {

inline void require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "line %d does not hold\n", line);
  std::abort();
}

}  // namespace varve::fuzz
