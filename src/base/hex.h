// Bytes as lower-case hexadecimal digits, the higher half of each byte first.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace varve {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

inline void append_hex(uint8_t byte, std::string* out) {
  out->push_back(kHexDigits[byte >> 4]);
  out->push_back(kHexDigits[byte & 15]);
}

// Writes two digits for each byte to `out`, which has room for them.
inline void write_hex(std::span<const uint8_t> bytes, char* out) noexcept {
  for (const uint8_t byte : bytes) {
    *out++ = kHexDigits[byte >> 4];
    *out++ = kHexDigits[byte & 15];
  }
}

[[nodiscard]] std::string to_hex(std::span<const uint8_t> bytes);
[[nodiscard]] std::string to_hex(uint64_t number);  // 16 digits

}  // namespace varve
