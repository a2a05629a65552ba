// The parts of a word: what its capitals divide, as programs and products are named (get, User and
// Profile of getUserProfile, HTTP and Server of HTTPServer, Open and AI of OpenAI), and a number
// and its unit (25 and MiB of 25MiB). And the plural of capitals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/ascii.h"

namespace varve::text {

inline constexpr size_t kPartBytesMin = 2;  // shorter ones say nothing: the i of iPhone
inline constexpr size_t kPartCountMax = 8;  // with more it is no name, but encoded bytes
inline constexpr size_t kDividedBytesMax = 64;
inline constexpr size_t kUnitBytesMin = 2;
inline constexpr size_t kUnitBytesMax = 3;

// The digits before a unit of ASCII letters, ms, MiB, pm; 0 when the word is something else, 8th
// too.
[[nodiscard]] constexpr size_t digits_before_unit(std::string_view word) noexcept {
  const size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
  const std::string_view unit = word.substr(digits);
  const bool is_unit = unit.size() >= kUnitBytesMin && unit.size() <= kUnitBytesMax &&
                       std::all_of(unit.begin(), unit.end(), is_letter);
  const bool is_ordinal = unit == "st" || unit == "nd" || unit == "rd" || unit == "th";
  return is_unit && !is_ordinal ? digits : 0;
}

// Whether a part begins inside the word at `at`, which is not 0: a capital behind what is none, or
// the last of several when two small letters follow (but URLs is no UR and Ls).
[[nodiscard]] constexpr bool begins_part(std::string_view word, size_t at) noexcept {
  const auto is_small = [&](size_t place) { return place < word.size() && is_lower(word[place]); };
  if (!is_upper(word[at])) return false;
  return !is_upper(word[at - 1]) || (is_small(at + 1) && is_small(at + 2));
}

// The count of parts that capitals divide, short ones too; 1 when it is not divided.
[[nodiscard]] constexpr size_t count_parts(std::string_view word) noexcept {
  size_t count = 1;
  bool has_small = false;
  for (size_t at = 0; at < word.size(); ++at) {
    has_small = has_small || is_lower(word[at]);
    if (at > 0 && begins_part(word, at)) count += 1;
  }
  return has_small ? count : 1;  // 14T08 is a time
}

// VPCs and GPUs, whose s Snowball takes for a part of the word, as that of gas and this: no vowel
// stands before it, or only right before it. (Of APIs and URLs it makes api and url.)
[[nodiscard]] constexpr bool is_plural_of_capitals(std::string_view word) noexcept {
  constexpr std::string_view kVowels = "AEIOUY";
  constexpr size_t kBytesMin = 3;
  if (word.size() < kBytesMin || word.size() > kDividedBytesMax || word.back() != 's') return false;
  const std::string_view capitals = word.substr(0, word.size() - 1);
  if (capitals.back() == 'S' || !std::all_of(capitals.begin(), capitals.end(), is_upper)) {
    return false;
  }
  return capitals.substr(0, capitals.size() - 1).find_first_of(kVowels) == std::string_view::npos;
}

// Calls visit(begin, end) [bytes] with a number and its unit, or with each part of at least
// kPartBytesMin, of a word of ASCII letters and digits; not at all when nothing divides it, or more
// than names are divided.
template <typename Visit>
constexpr void for_each_part(std::string_view word, Visit visit) {
  if (word.size() > kDividedBytesMax) return;
  if (const size_t digits = digits_before_unit(word); digits > 0) {
    visit(0, digits);
    visit(digits, word.size());
    return;
  }
  const size_t count = count_parts(word);
  if (count == 1 || count > kPartCountMax || count * kPartBytesMin > word.size()) return;
  for (size_t begin = 0, at = 1; at <= word.size(); ++at) {
    if (at < word.size() && !begins_part(word, at)) continue;
    if (at - begin >= kPartBytesMin) visit(begin, at);
    begin = at;
  }
}

}  // namespace varve::text
