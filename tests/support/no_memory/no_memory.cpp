#include "support/no_memory/no_memory.h"

#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
thread_local int64_t allocations_left = kUnlimited;
thread_local bool refuses_once = false;
thread_local bool refused = false;

}  // namespace

// Not inlined: the compiler would see new paired with free().
[[gnu::noinline]] void* operator new(size_t size) {
  if (allocations_left != kUnlimited && allocations_left-- <= 0) {
    refused = true;
    if (refuses_once) allocations_left = kUnlimited;
    throw std::bad_alloc();
  }
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace varve_test {

NoMemory::NoMemory(int64_t allowed, Refuses refuses) {
  refused = false;
  refuses_once = refuses == Refuses::kOnce;
  allocations_left = allowed;
}
NoMemory::~NoMemory() { allocations_left = kUnlimited; }
bool NoMemory::was_met() const { return refused; }

}  // namespace varve_test
