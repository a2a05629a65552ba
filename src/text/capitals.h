// Capitals: the parts of a word that its capitals divide, as programs and products are named:
// get, User and Profile of getUserProfile, HTTP and Server of HTTPServer, Open and AI of OpenAI.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/ascii.h"

namespace varve::text {

inline constexpr size_t kPartBytesMin = 2;  // shorter ones say nothing: the i of iPhone
inline constexpr size_t kPartCountMax = 8;  // with more it is no name, but encoded bytes
inline constexpr size_t kDividedBytesMax = 64;

// Whether a part begins inside the word at `at`, which is not 0: a capital behind what is none, or
// the last of several when two small letters follow (but URLs is no UR and Ls).
[[nodiscard]] constexpr bool begins_part(std::string_view word, size_t at) noexcept {
  const auto is_small = [&](size_t place) { return place < word.size() && is_lower(word[place]); };
  if (!is_upper(word[at])) return false;
  return !is_upper(word[at - 1]) || (is_small(at + 1) && is_small(at + 2));
}

// The count of parts, short ones too; 1 when it is not divided.
[[nodiscard]] constexpr size_t count_parts(std::string_view word) noexcept {
  size_t count = 1;
  bool has_small = false;
  for (size_t at = 0; at < word.size(); ++at) {
    has_small = has_small || is_lower(word[at]);
    if (at > 0 && begins_part(word, at)) count += 1;
  }
  return has_small ? count : 1;  // 14T08 is a time
}

// Calls visit(begin, end) [bytes] with each part of at least kPartBytesMin of a word of ASCII
// letters and digits; not at all when nothing divides it, or more than names are divided.
template <typename Visit>
constexpr void for_each_part(std::string_view word, Visit visit) {
  if (word.size() > kDividedBytesMax) return;
  const size_t count = count_parts(word);
  if (count == 1 || count > kPartCountMax || count * kPartBytesMin > word.size()) return;
  for (size_t begin = 0, at = 1; at <= word.size(); ++at) {
    if (at < word.size() && !begins_part(word, at)) continue;
    if (at - begin >= kPartBytesMin) visit(begin, at);
    begin = at;
  }
}

}  // namespace varve::text
