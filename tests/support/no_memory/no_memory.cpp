#include "support/no_memory/no_memory.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
thread_local int64_t allocations_left = kUnlimited;
thread_local bool refuses_once = false;
thread_local bool refused = false;
std::atomic<int64_t> block_count{0};

void give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  block_count.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

}  // namespace

// Not inlined: the compiler would see new paired with free(). Not by malloc(), which a program may
// count by itself.
[[gnu::noinline]] void* operator new(size_t size) {
  void* memory = nullptr;
  if (varve_test::refuses_allocation() ||
      ::posix_memalign(&memory, alignof(std::max_align_t), size == 0 ? 1 : size) != 0) {
    throw std::bad_alloc();
  }
  block_count.fetch_add(1, std::memory_order_relaxed);
  return memory;
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { give_back(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { give_back(memory); }

namespace varve_test {

bool refuses_allocation() {
  if (allocations_left == kUnlimited || allocations_left-- > 0) return false;
  refused = true;
  if (refuses_once) allocations_left = kUnlimited;
  return true;
}

int64_t live_blocks() { return block_count.load(std::memory_order_relaxed); }

NoMemory::NoMemory(int64_t allowed, Refuses refuses) {
  refused = false;
  refuses_once = refuses == Refuses::kOnce;
  allocations_left = allowed;
}
NoMemory::~NoMemory() { allocations_left = kUnlimited; }
bool NoMemory::was_met() const { return refused; }

}  // namespace varve_test
