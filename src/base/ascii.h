// Kinds of ASCII characters. Unlike those of <cctype>, they do not depend on the process's locale.
#pragma once

namespace varve {

constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) noexcept { return is_lower(c) || is_upper(c); }

constexpr char ascii_lower(char c) noexcept {
  return is_upper(c) ? static_cast<char>(c + ('a' - 'A')) : c;
}

}  // namespace varve
