// Giving back what a container has of memory.
//
// An empty one that is assigned does not: a string keeps its memory then, and so does a vector that
// `{}` is assigned to.
#pragma once

#include <utility>

namespace varve {

template <typename Container>
void release_memory(Container* container) noexcept {
  Container none;
  std::swap(*container, none);
}

}  // namespace varve
