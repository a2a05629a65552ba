// malloc() and its kin of a program that is linked with --wrap for each of them: those of the
// library and of the archives in it, in C, which no operator new tells of.
#include <cstddef>

#include "support/no_memory/no_memory.h"

extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the linker's names
void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* memory, size_t size);

void* __wrap_malloc(size_t size) {
  return varve_test::refuses_allocation() ? nullptr : __real_malloc(size);
}
void* __wrap_calloc(size_t count, size_t size) {
  return varve_test::refuses_allocation() ? nullptr : __real_calloc(count, size);
}
void* __wrap_realloc(void* memory, size_t size) {
  return varve_test::refuses_allocation() ? nullptr : __real_realloc(memory, size);
}
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)

}  // extern "C"
