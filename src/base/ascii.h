// Kinds of ASCII characters. Unlike those of <cctype>, they do not depend on the process's locale.
#pragma once

namespace varve {

constexpr bool is_lower(char c) noexcept { return c >= 'a' && c <= 'z'; }
constexpr bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }
constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

}  // namespace varve
