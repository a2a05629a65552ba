// UTF-8: strict validation and code points.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace varve {

// Some editors put this before a text. No file of ours begins with it.
inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

[[nodiscard]] constexpr std::string_view without_byte_order_mark(std::string_view text) noexcept {
  return text.starts_with(kByteOrderMark) ? text.substr(kByteOrderMark.size()) : text;
}

// The same with blanks for the mark, for a JSON text whose offsets are told: they stay those of the
// file. `scratch` keeps what is returned.
[[nodiscard]] inline std::string_view blanked_byte_order_mark(std::string_view text,
                                                              std::string* scratch) {
  if (!text.starts_with(kByteOrderMark)) return text;
  scratch->assign(kByteOrderMark.size(), ' ').append(text.substr(kByteOrderMark.size()));
  return *scratch;
}

// Offset of the first byte that is not well-formed UTF-8 (RFC 3629: no overlong forms, no
// surrogates, nothing above U+10FFFF); nullopt when all of it is.
[[nodiscard]] std::optional<size_t> find_invalid_utf8(std::string_view text) noexcept;

// `text` with U+FFFD in place of each byte that is not well-formed, such as a file's name may have.
[[nodiscard]] std::string well_formed_utf8(std::string_view text);

// Takes one code point off the front of well-formed `text`; nullopt at the end or when malformed.
[[nodiscard]] std::optional<uint32_t> take_code_point(std::string_view& text) noexcept;

// The start of well-formed `text`, as much as `bytes_max` holds without a part of a character.
[[nodiscard]] constexpr std::string_view cut_utf8(std::string_view text,
                                                  size_t bytes_max) noexcept {
  if (text.size() <= bytes_max) return text;
  const auto is_inside = [&](size_t at) { return (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80; };
  size_t end = bytes_max;
  while (end > 0 && is_inside(end)) --end;
  return text.substr(0, end);
}

// The start of well-formed `text`, for a message, which is not to be as long as what is wrong.
[[nodiscard]] std::string shown(std::string_view text);

// A letter, mark or digit of any script (Unicode categories L*, M*, N*).
[[nodiscard]] bool is_word_character(uint32_t code_point) noexcept;

}  // namespace varve
