// UninitializedVector: a vector whose resize() does not initialise new numbers.
//
// For memory that is filled right after: pages are then taken when they are written, and pages that
// never are cost nothing.
#pragma once

#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace varve {

template <typename T>
class UninitializedAllocator : public std::allocator<T> {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  // NOLINTBEGIN(readability-identifier-naming): the names that containers look for
  template <typename U>
  struct rebind {
    using other = UninitializedAllocator<U>;
  };
  // NOLINTEND(readability-identifier-naming)

  template <typename U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

template <typename T>
using UninitializedVector = std::vector<T, UninitializedAllocator<T>>;

}  // namespace varve
