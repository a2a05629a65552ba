#include "text.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace varve_node {
namespace {

constexpr size_t kShort = 64;
constexpr size_t kLongDigits = 16;  // 2^53 has so many

uint64_t eight_bytes(const char* at) {
  uint64_t bytes = 0;
  std::memcpy(&bytes, at, sizeof bytes);
  return bytes;
}

/** How many ASCII bytes the text begins with. */
size_t ascii_length(const char* data, size_t size) {
  size_t length = 0;
  while (length + 8 <= size && (eight_bytes(data + length) & 0x8080808080808080U) == 0) {
    length += 8;
  }
  while (length < size && static_cast<unsigned char>(data[length]) < 0x80) {
    length++;
  }
  return length;
}

/** One character that is not ASCII. Gives how many bytes it has; 0 when it is malformed. */
size_t decode(const unsigned char* at, size_t size, uint32_t& character) {
  size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
  if (at[0] < 0xC2 || at[0] > 0xF4 || length > size) {
    return 0;
  }
  character = at[0] & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; i++) {
    if ((at[i] & 0xC0) != 0x80) {
      return 0;
    }
    character = character << 6 | (at[i] & 0x3FU);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  bool is_surrogate = character >= 0xD800 && character < 0xE000;
  return character < kLeast[length] || character > 0x10FFFF || is_surrogate ? 0 : length;
}

/** The text in UTF-16. Gives how many units that are; 0 when it is malformed. */
size_t to_utf16(const char* data, size_t size, char16_t* out) {
  size_t units = 0;
  for (size_t at = 0; at < size;) {
    size_t plain = ascii_length(data + at, size - at);
    for (size_t i = 0; i < plain; i++) {
      out[units + i] = static_cast<unsigned char>(data[at + i]);
    }
    units += plain;
    at += plain;
    uint32_t character = 0;
    size_t length = at == size ? 0
                               : decode(reinterpret_cast<const unsigned char*>(data) + at,
                                        size - at, character);
    if (at < size && length == 0) {
      return 0;
    }
    if (at < size && character < 0x10000) {
      out[units++] = static_cast<char16_t>(character);
    } else if (at < size) {
      out[units++] = static_cast<char16_t>(0xD7C0 + (character >> 10));
      out[units++] = static_cast<char16_t>(0xDC00 + (character & 0x3FF));
    }
    at += length;
  }
  return units;
}

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

/** Whether the digit at `index` may be one of an integer of so many digits in a text of JSON. */
bool is_in_long_integer(const char* text, size_t size, size_t index) {
  constexpr std::string_view kBefore = ":,[- \t\r\n";
  constexpr std::string_view kBehind = ",]} \t\r\n";
  size_t first = index;
  size_t behind = index + 1;
  while (first > 0 && is_digit(text[first - 1])) {
    first--;
  }
  while (behind < size && is_digit(text[behind])) {
    behind++;
  }
  return behind - first >= kLongDigits &&
         (first == 0 || kBefore.find(text[first - 1]) != std::string_view::npos) &&
         (behind == size || kBehind.find(text[behind]) != std::string_view::npos);
}

}  // namespace

bool may_have_long_integer(const char* text, size_t size) {
  for (size_t i = kLongDigits - 1; i < size; i += kLongDigits) {
    if (is_digit(text[i]) && is_in_long_integer(text, size, i)) {
      return true;
    }
  }
  return false;
}

napi_status create_string(napi_env env, const char* data, size_t size, napi_value* result) {
  if (size < kShort) {
    return napi_create_string_utf8(env, data, size, result);
  }
  if (ascii_length(data, size) == size) {
    return napi_create_string_latin1(env, data, size, result);
  }
  std::unique_ptr<char16_t[]> units(new char16_t[size]);
  size_t count = to_utf16(data, size, units.get());
  return count == 0 ? napi_create_string_utf8(env, data, size, result)
                    : napi_create_string_utf16(env, units.get(), count, result);
}

}  // namespace varve_node
