// Text for a terminal: measured in columns instead of bytes, and without control characters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace varve::cli {

enum class Lines { kKeep, kJoin };

// UTF-8 that is safe to show: control characters and those that reorder text become <U+001B>,
// malformed bytes become U+FFFD. kKeep leaves newlines, and makes four spaces of a tab; kJoin makes
// one line, with one space for each run of white space.
[[nodiscard]] std::string printable(std::string_view text, Lines lines);

// JSON that is safe to show: of what printable() replaces, all from U+007F on is \u009B.
[[nodiscard]] std::string escaped_beyond_ascii(std::string_view json);

// The same text as UTF-8 in any case: malformed bytes become U+FFFD.
[[nodiscard]] std::string well_formed(std::string_view text);

struct Character {
  uint32_t code_point;
  std::string_view bytes;
};

// Takes the first character off `text`, which is not empty. A malformed byte gives U+FFFD.
Character take_character(std::string_view& text);

// Takes what people see as one character off `text`, which is not empty: a letter with its marks, a
// flag, a picture that joiners make of several. One wider than so many columns is taken in pieces.
std::string_view take_grapheme(std::string_view& text, size_t columns);

// How many columns `text` takes.
[[nodiscard]] size_t display_width(std::string_view text);

// At most `width` columns, ending in "…" if something was cut; never cuts a grapheme in two. Width
// 0: no limit.
[[nodiscard]] std::string truncate(std::string_view text, size_t width);

// Lines of at most `width` columns, broken at spaces where possible. Newlines are kept. Width 0: no
// limit.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, size_t width);

[[nodiscard]] std::string pad_right(std::string_view text, size_t width);
[[nodiscard]] std::string pad_left(std::string_view text, size_t width);

// 1234567 as "1,234,567".
[[nodiscard]] std::string format_count(int64_t count);
// "1 entry", "2 entries".
[[nodiscard]] std::string format_count(int64_t count, std::string_view one, std::string_view many);
// "831 B", "1.2 MB"; powers of 1000.
[[nodiscard]] std::string format_bytes(int64_t bytes);
// "1.62", "0.9", "0": at most `digits` after the point, without trailing zeros.
[[nodiscard]] std::string format_number(double number, int digits);
// "3 days ago", "just now".
[[nodiscard]] std::string format_age(double hours);
// "2026-01-10 14:23:45" for a timestamp in UTC; anything else is returned unchanged.
[[nodiscard]] std::string format_time(std::string_view rfc3339);

}  // namespace varve::cli
