// Counts what is allocated. Linked into a program, it takes the place of malloc and its kin for
// everything in the process, the library under test included; C++'s operator new ends there, too.
#pragma once

#include <cstdint>

namespace varve::bench {

struct Allocations {
  uint64_t count = 0;
  uint64_t bytes = 0;  // as asked for
};

// What the calling thread has allocated so far. A block that grows in realloc counts once more.
Allocations allocations_of_thread();

}  // namespace varve::bench
