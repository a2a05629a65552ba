// Variable-length integers: seven bits a byte, low ones first, the high bit set on all but the
// last byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace varve::index {

inline void append_varint(std::string* out, uint64_t value) {
  while (value >= 0x80) {
    out->push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out->push_back(static_cast<char>(value));
}

inline constexpr size_t kVarintBytesMax = 10;

// As append_varint, where there is room for kVarintBytesMax. The end of what was written.
inline char* write_varint(char* at, uint64_t value) {
  while (value >= 0x80) {
    *at++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *at++ = static_cast<char>(value);
  return at;
}

// Takes one off the front; false when the bytes end before it or it does not fit 64 bits.
inline bool take_varint(std::string_view* bytes, uint64_t* value) {
  if (!bytes->empty() && static_cast<uint8_t>(bytes->front()) < 0x80) {  // most are short
    *value = static_cast<uint8_t>(bytes->front());
    bytes->remove_prefix(1);
    return true;
  }
  uint64_t result = 0;
  for (uint32_t i = 0; i < bytes->size() && i < kVarintBytesMax; ++i) {
    const auto byte = static_cast<uint8_t>((*bytes)[i]);
    if (i + 1 == kVarintBytesMax && byte > 1) return false;
    result |= static_cast<uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      bytes->remove_prefix(i + 1);
      *value = result;
      return true;
    }
  }
  return false;
}

}  // namespace varve::index
