#include "counter.h"

#include <cerrno>
#include <cstddef>

// glibc's own names of what is replaced below.
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* block, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
}

namespace {

// Without a constructor: it is used before any of them has run.
thread_local constinit varve::bench::Allocations of_thread;

void note(size_t bytes) {
  ++of_thread.count;
  of_thread.bytes += bytes;
}

}  // namespace

extern "C" {

void* malloc(size_t size) noexcept {
  note(size);
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) noexcept {
  note(count * size);
  return __libc_calloc(count, size);
}

void* realloc(void* block, size_t size) noexcept {
  note(size);
  return __libc_realloc(block, size);
}

void* memalign(size_t alignment, size_t size) noexcept {
  note(size);
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) noexcept { return memalign(alignment, size); }

int posix_memalign(void** block, size_t alignment, size_t size) noexcept {
  *block = memalign(alignment, size);
  return *block == nullptr ? ENOMEM : 0;
}

}  // extern "C"

namespace varve::bench {

Allocations allocations_of_thread() { return of_thread; }

}  // namespace varve::bench
