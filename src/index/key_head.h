// The first eight bytes of a key as a number that sorts as they do.
#pragma once

#include <cstdint>
#include <string_view>

namespace varve::index {

// Zeros behind a key that is shorter.
inline uint64_t key_head(std::string_view key) {
  uint64_t head = 0;
  for (size_t i = 0; i < sizeof(head); ++i) {
    head = head << 8 | (i < key.size() ? static_cast<uint8_t>(key[i]) : 0);
  }
  return head;
}

}  // namespace varve::index
