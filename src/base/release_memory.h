// Gives back the memory that a container holds.
//
// Assigning an empty container does not do this: a string keeps its memory then, and so does a
// vector that is assigned `{}`.
#pragma once

#include <utility>

namespace varve {

template <typename Container>
void release_memory(Container* container) noexcept {
  Container none;
  std::swap(*container, none);
}

}  // namespace varve
