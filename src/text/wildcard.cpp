#include "text/wildcard.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/characters.h"

namespace varve::text {

namespace {

std::string_view longest_part_of(std::string_view pattern) {
  std::string_view longest;
  while (!pattern.empty()) {
    const std::string_view part = pattern.substr(0, pattern.find_first_of("*?"));
    if (part.size() > longest.size()) longest = part;
    pattern.remove_prefix(std::min(pattern.size(), part.size() + 1));
  }
  return longest;
}

}  // namespace

std::optional<Wildcard> Wildcard::parse(std::string_view pattern) {
  Wildcard wildcard;
  wildcard.longest_part_ = longest_part_of(pattern);
  bool in_prefix = true;
  while (!pattern.empty()) {
    const std::string_view before = pattern;
    const auto code_point = take_code_point(pattern);
    if (!code_point) return std::nullopt;
    if (*code_point == '*') {
      wildcard.stay_ |= uint64_t{1} << wildcard.count_;
      in_prefix = false;
      continue;
    }
    if (wildcard.count_ == kCharactersMax) return std::nullopt;
    wildcard.count_ += 1;
    const uint64_t place = uint64_t{1} << wildcard.count_;  // reached by taking this character
    if (*code_point == '?') {
      wildcard.any_ |= place;
      in_prefix = false;
      continue;
    }
    wildcard.has_segments_ = wildcard.has_segments_ || ends_segment(*code_point);
    if (in_prefix) wildcard.prefix_.append(before.substr(0, before.size() - pattern.size()));
    const auto known = std::find_if(wildcard.literals_.begin(), wildcard.literals_.end(),
                                    [&](const auto& one) { return one.first == *code_point; });
    if (known != wildcard.literals_.end()) {
      known->second |= place;
    } else {
      wildcard.literals_.emplace_back(*code_point, place);
    }
  }
  if (wildcard.has_segments_) wildcard.prefix_.clear();
  return wildcard;
}

uint64_t Wildcard::bits_of(uint32_t code_point) const {
  for (const auto& [literal, bits] : literals_) {
    if (literal == code_point) return bits;
  }
  return 0;
}

bool Wildcard::matches(std::string_view word) const {
  if (word.find(longest_part_) == std::string_view::npos) return false;
  State state = kBegin;
  while (state != 0 || has_segments_) {
    const auto code_point = take_code_point(word);
    if (!code_point) break;
    const bool is_between = has_segments_ && ends_segment(*code_point);
    if (is_between && is_match(state)) return true;
    state = step(state, *code_point);
    if (is_between) state |= kBegin;
  }
  return is_match(state);
}

}  // namespace varve::text
