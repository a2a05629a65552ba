// Memory that ends: operator new of this program, for one thread, after so many allocations.
#pragma once

#include <cstdint>

namespace varve_test {

// While it lives, this thread gets no more than `allowed` allocations from operator new; with
// kOnce only the next one is refused.
class NoMemory {
 public:
  enum class Refuses { kAll, kOnce };
  explicit NoMemory(int64_t allowed = 0, Refuses refuses = Refuses::kAll);
  ~NoMemory();
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;
  // Whether an allocation was refused.
  [[nodiscard]] bool was_met() const;
};

// Counts an allocation of this thread; whether it is to be refused. For other allocators than
// operator new (wrapped_malloc.cpp).
bool refuses_allocation();

// Blocks that operator new of any thread has given and operator delete has not taken back.
int64_t live_blocks();

}  // namespace varve_test
