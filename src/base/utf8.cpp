#include "base/utf8.h"

#include <cstring>

#include <utf8proc.h>

namespace varve {
namespace {

uint8_t byte_at(std::string_view text, size_t i) noexcept { return static_cast<uint8_t>(text[i]); }

bool is_continuation(uint8_t byte) noexcept { return (byte & 0xC0) == 0x80; }

// [bytes] length of the well-formed sequence at the front of non-empty `text`; 0 when malformed.
// Table 3-7 of the Unicode standard: only the second byte's range depends on the first.
size_t sequence_length(std::string_view text) noexcept {
  const uint8_t lead = byte_at(text, 0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  const uint8_t second = byte_at(text, 1);
  const uint8_t least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (second < least || second > most) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (!is_continuation(byte_at(text, i))) return 0;
  }
  return length;
}

}  // namespace

std::optional<size_t> find_invalid_utf8(std::string_view text) noexcept {
  size_t at = 0;
  while (at < text.size()) {
    if (text.size() - at >= sizeof(uint64_t)) {
      uint64_t word;
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & 0x8080808080808080ULL) == 0) {
        at += sizeof word;
        continue;
      }
    }
    if (byte_at(text, at) < 0x80) {
      ++at;
      continue;
    }
    const size_t length = sequence_length(text.substr(at));
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::string shown(std::string_view text) {
  constexpr size_t kShownBytesMax = 64;
  const std::string_view start = cut_utf8(text, kShownBytesMax);
  return std::string(start) + (start.size() < text.size() ? "..." : "");
}

std::string well_formed_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (;;) {
    const size_t good = find_invalid_utf8(text).value_or(text.size());
    out += text.substr(0, good);
    text.remove_prefix(good);
    if (text.empty()) return out;
    out += "\xEF\xBF\xBD";  // U+FFFD REPLACEMENT CHARACTER
    text.remove_prefix(1);
  }
}

std::optional<uint32_t> take_code_point(std::string_view& text) noexcept {
  if (text.empty()) return std::nullopt;
  const size_t length = sequence_length(text);
  if (length == 0) return std::nullopt;
  static constexpr uint8_t kLeadBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  uint32_t code_point = byte_at(text, 0) & kLeadBits[length];
  for (size_t i = 1; i < length; ++i) code_point = code_point << 6 | (byte_at(text, i) & 0x3Fu);
  text.remove_prefix(length);
  return code_point;
}

bool is_word_character(uint32_t code_point) noexcept {
  if (code_point > 0x10FFFF) return false;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
}

}  // namespace varve
