#include "json/canonical.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "base/ascii.h"
#include "base/hex.h"
#include "json/shortest.h"

namespace varve::json {
namespace {

constexpr double kExactIntegerMax = 9007199254740992.0;  // 2^53
constexpr size_t kExactDigitsMax = 15;  // any 15 digits fit a double, and come back from it
constexpr int kFixedDigitsMax = 21;     // ECMAScript writes integers up to 21 digits in full
constexpr int kFixedZerosMax = 6;       // and at most 5 zeros between the point and the digits
constexpr double kFixedMin = 1e-6;  // so fractions from here on are not written with an exponent

// The shortest digits of a positive double and where its point stands: 0.d1d2d3… * 10^exponent.
struct Decimal {
  std::array<char, 20> digits;
  int count = 0;
  int exponent = 0;
};

Decimal shortest_decimal(double number) {
  std::array<char, 40> text;
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::scientific)
          .ptr;
  Decimal decimal;
  const char* at = text.data();
  for (; *at != 'e'; ++at) {
    if (*at != '.') decimal.digits[static_cast<size_t>(decimal.count++)] = *at;
  }
  ++at;
  if (*at == '+') ++at;
  std::from_chars(at, end, decimal.exponent);
  ++decimal.exponent;
  return decimal;
}

void append_integer(int64_t number, std::string& out) {
  std::array<char, 24> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  out.append(text.data(), end);
}

// ECMAScript Number::toString, steps 5 to 12; `n` and `k` are the standard's names.
void append_decimal(const Decimal& decimal, std::string& out) {
  const int k = decimal.count;
  const int n = decimal.exponent;
  const std::string_view digits(decimal.digits.data(), static_cast<size_t>(k));
  if (k <= n && n <= kFixedDigitsMax) {
    out.append(digits).append(static_cast<size_t>(n - k), '0');
  } else if (0 < n && n <= kFixedDigitsMax) {
    out.append(digits.substr(0, static_cast<size_t>(n))).append(1, '.');
    out.append(digits.substr(static_cast<size_t>(n)));
  } else if (-kFixedZerosMax < n && n <= 0) {
    out.append("0.").append(static_cast<size_t>(-n), '0').append(digits);
  } else {
    out += digits.front();
    if (k > 1) out.append(1, '.').append(digits.substr(1));
    out += n > 0 ? "e+" : "e-";
    append_integer(std::abs(n - 1), out);
  }
}

// Without an exponent.
void append_fixed(const ShortDecimal& decimal, std::string& out) {
  std::array<char, 48> text;  // "0." and zeros, before up to 20 digits
  char* const digits = text.data() + text.size() / 2;
  char* const end = std::to_chars(digits, text.data() + text.size(), decimal.digits).ptr;
  const ptrdiff_t whole = end - digits - static_cast<ptrdiff_t>(decimal.scale);
  if (whole > 0) {
    out.append(digits, static_cast<size_t>(whole)).push_back('.');
    out.append(digits + whole, end);
    return;
  }
  char* const begin = digits + whole - 2;
  std::fill(begin, digits, '0');
  begin[1] = '.';
  out.append(begin, end);
}

bool is_integer_text(std::string_view text) {
  if (!text.empty() && text.front() == '-') text.remove_prefix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// Decimals of few digits, as most are, are their own canonical form: any two texts of up to
// 15 digits denote two doubles, so that no shorter one denotes this one.
bool is_plain_decimal(std::string_view token) {
  constexpr size_t kZerosMax = 5;  // from a millionth on there is no exponent
  if (token.front() == '-') token.remove_prefix(1);
  const size_t point_at = token.find('.');
  if (point_at == std::string_view::npos || token.size() > kExactDigitsMax + 1 ||
      token.back() == '0') {
    return false;
  }
  const std::string_view fraction = token.substr(point_at + 1);
  return is_integer_text(token.substr(0, point_at)) && is_integer_text(fraction) &&
         (token.front() != '0' || fraction.find_first_not_of('0') <= kZerosMax);
}

// Whether a token too far from 1 for a double is too large, as opposed to too small.
bool is_overflow(std::string_view token) {
  constexpr int64_t kFar = 1'000'000'000;
  if (token.front() == '-') token.remove_prefix(1);
  const size_t exponent_at = std::min(token.find_first_of("eE"), token.size());
  const std::string_view mantissa = token.substr(0, exponent_at);
  const size_t point_at = std::min(mantissa.find('.'), mantissa.size());
  const size_t first_at = mantissa.find_first_of("123456789");
  if (first_at == std::string_view::npos) return false;
  int64_t exponent = 0;
  if (exponent_at < token.size()) {
    std::string_view text = token.substr(exponent_at + 1);
    if (text.front() == '+') text.remove_prefix(1);
    const auto result = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (result.ec == std::errc::result_out_of_range) exponent = text.front() == '-' ? -kFar : kFar;
    exponent = std::clamp(exponent, -kFar, kFar);
  }
  return static_cast<int64_t>(point_at) - static_cast<int64_t>(first_at) + exponent > 0;
}

// Whether `canonical`, which is ECMAScript's form of the double nearest to the integer `token`,
// denotes that same integer.
bool denotes_same_integer(std::string_view token, std::string_view canonical) {
  const size_t exponent_at = canonical.find('e');
  if (exponent_at == std::string_view::npos) return token == canonical;
  const std::string_view significand = canonical.substr(0, exponent_at);
  size_t i = 0;
  for (const char c : significand) {
    if (c == '.') continue;
    if (i == token.size() || token[i++] != c) return false;
  }
  size_t exponent = 0;
  const char* end = canonical.data() + canonical.size();
  std::from_chars(canonical.data() + exponent_at + 2, end, exponent);
  const size_t sign_chars = token.front() == '-' ? 1 : 0;
  return token.size() == sign_chars + exponent + 1 &&
         token.find_first_not_of('0', i) == std::string_view::npos;
}

constexpr std::array<bool, 256> make_escape_table() {
  std::array<bool, 256> table{};
  for (size_t c = 0; c < 0x20; ++c) table[c] = true;
  table['"'] = true;
  table['\\'] = true;
  return table;
}

constexpr auto kNeedsEscape = make_escape_table();

// Whether one of eight bytes needs an escape; exact up to the first such byte, which is enough.
bool has_escape(uint64_t word) noexcept {
  constexpr uint64_t kOnes = 0x0101010101010101ULL;
  constexpr uint64_t kHighs = 0x8080808080808080ULL;
  const auto zero_byte = [](uint64_t w) { return (w - kOnes) & ~w & kHighs; };
  const uint64_t control = (word - kOnes * 0x20) & ~word & kHighs;
  return (control | zero_byte(word ^ (kOnes * '"')) | zero_byte(word ^ (kOnes * '\\'))) != 0;
}

size_t clean_length(std::string_view text) noexcept {
  size_t at = 0;
  while (text.size() - at >= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, text.data() + at, sizeof word);
    if (has_escape(word)) break;
    at += sizeof word;
  }
  while (at < text.size() && !kNeedsEscape[static_cast<uint8_t>(text[at])]) ++at;
  return at;
}

void append_escape(char c, std::string& out) {
  switch (c) {
    case '\b': out += "\\b"; return;
    case '\t': out += "\\t"; return;
    case '\n': out += "\\n"; return;
    case '\f': out += "\\f"; return;
    case '\r': out += "\\r"; return;
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    default: break;
  }
  out += "\\u00";
  append_hex(static_cast<uint8_t>(c), &out);
}

// Lists end with a ',' that becomes the closing bracket.
void close_list(char bracket, std::string& out) {
  if (out.back() == ',') {
    out.back() = bracket;
  } else {
    out += bracket;
  }
}

}  // namespace

// Recursion is as deep as the document, which its parse limited.
void append_canonical(Value value, std::string& out) {
  switch (value.kind()) {
    case Kind::kNull: out += "null"; return;
    case Kind::kFalse: out += "false"; return;
    case Kind::kTrue: out += "true"; return;
    case Kind::kInteger:
    case Kind::kDouble: out += value.text(); return;
    case Kind::kString:
      if (value.is_clean()) {
        out.append(1, '"').append(value.text()).append(1, '"');
      } else {
        append_string(value.text(), out);
      }
      return;
    case Kind::kArray:
      out += '[';
      value.for_each_item([&out](Value item) {
        append_canonical(item, out);
        out += ',';
        return true;
      });
      close_list(']', out);
      return;
    case Kind::kObject:
      out += '{';
      value.for_each_member([&out](std::string_view key, Value member) {
        append_string(key, out);
        out += ':';
        append_canonical(member, out);
        out += ',';
        return true;
      });
      close_list('}', out);
      return;
  }
}

void append_string(std::string_view text, std::string& out) {
  out += '"';
  for (;;) {
    const size_t clean = clean_length(text);
    out.append(text.data(), clean);
    if (clean == text.size()) break;
    append_escape(text[clean], out);
    text.remove_prefix(clean + 1);
  }
  out += '"';
}

void append_double(double number, std::string& out) {
  if (std::abs(number) < kExactIntegerMax && std::trunc(number) == number) {
    append_integer(static_cast<int64_t>(number), out);
    return;
  }
  if (const auto decimal = shortest_digits(std::abs(number))) {
    if (number < 0) out += '-';
    append_fixed(*decimal, out);
    return;
  }
  if (std::abs(number) >= kFixedMin && std::abs(number) < kExactIntegerMax) {
    std::array<char, 40> text;
    char* const end = text.data() + text.size();
    out.append(text.data(), std::to_chars(text.data(), end, number, std::chars_format::fixed).ptr);
    return;
  }
  if (number < 0) out += '-';
  append_decimal(shortest_decimal(std::abs(number)), out);
}

bool append_number(std::string_view token, std::string& out, bool* is_integer) {
  *is_integer = is_integer_text(token);
  if (*is_integer && token.size() <= kExactDigitsMax && token != "-0") {
    out += token;
    return true;
  }
  if (!*is_integer && is_plain_decimal(token)) {
    out += token;
    return true;
  }
  double number = 0;
  const auto result = std::from_chars(token.data(), token.data() + token.size(), number);
  if (result.ec == std::errc::result_out_of_range) {
    if (is_overflow(token)) return false;
    number = 0;
  }
  const size_t begin = out.size();
  append_double(number, out);
  const std::string_view written = std::string_view(out).substr(begin);
  if (*is_integer && token != "-0" && !denotes_same_integer(token, written)) {
    out.replace(begin, std::string::npos, token);
    return true;
  }
  *is_integer = is_integer_text(written);
  return true;
}

int compare_utf16(std::string_view left, std::string_view right) noexcept {
  const size_t common = std::min(left.size(), right.size());
  size_t i = 0;
  while (i < common && left[i] == right[i]) ++i;
  if (i == common) {
    return left.size() == right.size() ? 0 : left.size() < right.size() ? -1 : 1;
  }
  const auto a = static_cast<uint8_t>(left[i]);
  const auto b = static_cast<uint8_t>(right[i]);
  // UTF-8 sorts by code point. UTF-16 differs in one place: code points above U+FFFF (first byte
  // F0 and up) are written with surrogates, which come before U+E000..U+FFFF (EE and EF).
  const bool a_pair = a >= 0xF0;
  const bool b_pair = b >= 0xF0;
  if (a_pair != b_pair && a >= 0xEE && b >= 0xEE) return a_pair ? -1 : 1;
  return a < b ? -1 : 1;
}

}  // namespace varve::json
