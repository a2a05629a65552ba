#include "cli/view/display_text.h"

#include <utf8proc.h>
#include <wchar.h>

#include <algorithm>
#include <array>
#include <cstdio>

namespace varve::cli {
namespace {

constexpr uint32_t kReplacement = 0xFFFD;
constexpr std::string_view kReplacementUtf8 = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

bool is_scalar(uint32_t code_point, size_t length) {
  constexpr std::array<uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  return code_point >= kSmallest[length] && code_point <= 0x10FFFF && !surrogate;
}

// Controls (C0, DEL, C1), line separators, and marks that make text read as something else.
bool is_unsafe(uint32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029 ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0x061C ||
         c == 0x200E || c == 0x200F || c == 0xFEFF;
}

bool is_space(uint32_t c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// At least four hexadecimal digits.
std::string digits_of(uint32_t code_point) {
  std::array<char, 16> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%04X", static_cast<unsigned>(code_point));
  return {text.data(), static_cast<size_t>(length)};
}

size_t width_of(const Character& character) {
  if (character.code_point < 0x7F) return 1;
  const int width = ::wcwidth(static_cast<wchar_t>(character.code_point));
  return width < 0 ? 1 : static_cast<size_t>(width);
}

// Breaks one line without newlines.
void wrap_line(std::string_view line, size_t width, std::vector<std::string>& out) {
  while (true) {
    std::string_view rest = line;
    size_t used = 0;
    size_t break_at = std::string_view::npos;  // after the last space that fits
    while (!rest.empty()) {
      const std::string_view before = rest;
      const std::string_view grapheme = take_grapheme(rest, width);
      const size_t columns = display_width(grapheme);
      if (grapheme == " ") break_at = line.size() - before.size();
      if (used + columns > width && used > 0) {
        rest = before;
        break;
      }
      used += columns;
    }
    if (rest.empty()) {
      out.emplace_back(line);
      return;
    }
    const size_t fits = line.size() - rest.size();
    const size_t cut = break_at == std::string_view::npos || break_at == 0 ? fits : break_at;
    out.emplace_back(line.substr(0, cut));
    line.remove_prefix(cut);
    if (line.starts_with(' ')) line.remove_prefix(1);
  }
}

}  // namespace

Character take_character(std::string_view& text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t length = sequence_length(lead);
  Character malformed{kReplacement, text.substr(0, 1)};
  uint32_t code_point = length <= 1 ? lead : lead & (0x7FU >> length);
  bool good = length != 0 && length <= text.size();
  for (size_t i = 1; good && i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    good = (byte & 0xC0U) == 0x80U;
    code_point = (code_point << 6U) | (byte & 0x3FU);
  }
  if (!good || !is_scalar(code_point, length)) {
    text.remove_prefix(1);
    return malformed;
  }
  const Character character{code_point, text.substr(0, length)};
  text.remove_prefix(length);
  return character;
}

std::string_view take_grapheme(std::string_view& text, size_t columns) {
  std::string_view rest = text;
  Character last = take_character(rest);
  size_t used = width_of(last);
  utf8proc_int32_t state = 0;
  while (!rest.empty()) {
    std::string_view behind = rest;
    const Character next = take_character(behind);
    used += width_of(next);
    const bool is_end =
        utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(last.code_point),
                                         static_cast<utf8proc_int32_t>(next.code_point), &state);
    if (is_end || used > columns) break;
    last = next;
    rest = behind;
  }
  const std::string_view grapheme = text.substr(0, text.size() - rest.size());
  text = rest;
  return grapheme;
}

std::string printable(std::string_view text, Lines lines) {
  std::string out;
  out.reserve(text.size());
  bool pending_space = false;
  while (!text.empty()) {
    const Character character = take_character(text);
    const uint32_t c = character.code_point;
    if (lines == Lines::kJoin && is_space(c)) {
      pending_space = !out.empty();
      continue;
    }
    if (pending_space) out += ' ';
    pending_space = false;
    if (c == '\r' && text.starts_with('\n')) continue;
    if (c == '\n') {
      out += '\n';
    } else if (c == '\t') {
      out += "    ";
    } else if (is_unsafe(c)) {
      out += "<U+" + digits_of(c) + ">";
    } else if (c == kReplacement) {
      out += kReplacementUtf8;
    } else {
      out += character.bytes;
    }
  }
  return out;
}

std::string escaped_beyond_ascii(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  while (!json.empty()) {
    const Character character = take_character(json);
    const bool is_escaped = character.code_point >= 0x7F && is_unsafe(character.code_point);
    out += is_escaped ? "\\u" + digits_of(character.code_point) : std::string(character.bytes);
  }
  return out;
}

std::string well_formed(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character character = take_character(text);
    out += character.code_point == kReplacement ? kReplacementUtf8 : character.bytes;
  }
  return out;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  while (!text.empty()) width += width_of(take_character(text));
  return width;
}

std::string truncate(std::string_view text, size_t width) {
  if (width == 0 || display_width(text) <= width) return std::string(text);
  std::string_view rest = text;
  size_t used = 0;
  while (!rest.empty()) {
    const std::string_view before = rest;
    used += display_width(take_grapheme(rest, width - 1));
    if (used > width - 1) {
      return std::string(text.substr(0, text.size() - before.size())) + std::string(kEllipsis);
    }
  }
  return std::string(text);
}

std::vector<std::string> wrap(std::string_view text, size_t width) {
  std::vector<std::string> lines;
  while (true) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (width == 0) {
      lines.emplace_back(line);
    } else {
      wrap_line(line, width, lines);
    }
    if (end == std::string_view::npos) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string pad_right(std::string_view text, size_t width) {
  const size_t used = display_width(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string pad_left(std::string_view text, size_t width) {
  const size_t used = display_width(text);
  return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

std::string format_count(int64_t count) {
  std::string digits = std::to_string(count);
  const size_t first = count < 0 ? 1 : 0;
  for (size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string format_count(int64_t count, std::string_view one, std::string_view many) {
  return format_count(count) + " " + std::string(count == 1 ? one : many);
}

std::string format_bytes(int64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  constexpr std::array kUnits = {"kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes) / 1000;
  size_t unit = 0;
  while (value >= 999.95 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.1f %s", value, kUnits[unit]);
  return {text.data(), static_cast<size_t>(length)};
}

std::string format_number(double number, int digits) {
  std::array<char, 64> buffer{};
  const int length = std::snprintf(buffer.data(), buffer.size(), "%.*f", digits, number);
  std::string text(buffer.data(), static_cast<size_t>(std::clamp(length, 0, 63)));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string format_age(double hours) {
  struct Unit {
    double hours;
    std::string_view name;
  };
  constexpr std::array kUnits = {Unit{8766, "year"}, Unit{730.5, "month"}, Unit{24, "day"},
                                 Unit{1, "hour"}, Unit{1.0 / 60, "minute"}};
  for (const Unit& unit : kUnits) {
    if (hours < unit.hours) continue;
    const auto count = static_cast<int64_t>(hours / unit.hours);
    return format_count(count, unit.name, std::string(unit.name) + "s") + " ago";
  }
  return "just now";
}

std::string format_time(std::string_view rfc3339) {
  if (rfc3339.size() < 20 || rfc3339[10] != 'T' || !rfc3339.ends_with('Z')) {
    return std::string(rfc3339);
  }
  return std::string(rfc3339.substr(0, 10)) + " " + std::string(rfc3339.substr(11, 8));
}

}  // namespace varve::cli
