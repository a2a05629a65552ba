#include "base/hex.h"

namespace varve {

std::string to_hex(std::span<const uint8_t> bytes) {
  std::string digits(bytes.size() * 2, '\0');
  write_hex(bytes, digits.data());
  return digits;
}

std::string to_hex(uint64_t number) {
  std::string digits;
  digits.reserve(sizeof number * 2);
  for (int shift = 56; shift >= 0; shift -= 8) {
    append_hex(static_cast<uint8_t>(number >> shift), &digits);
  }
  return digits;
}

}  // namespace varve
