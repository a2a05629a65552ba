#include "json/plain.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "base/ascii.h"
#include "base/utf8.h"
#include "json/canonical.h"

namespace varve::json {

namespace {

constexpr size_t kDepthMax = 8;         // of arrays and objects inside each other
constexpr size_t kNumberCharsMax = 24;  // of one number

// What ends a run of characters that stand for themselves: quotes, escapes, controls, not ASCII.
constexpr auto kEndsRun = [] {
  std::array<bool, 256> table{};
  for (size_t c = 0; c < table.size(); ++c) table[c] = c < ' ' || c >= 0x80;
  table['"'] = true;
  table['\\'] = true;
  return table;
}();

// Sixteen at a time where the processor can; what is left, one by one.
const char* skip_run(const char* at, const char* end) noexcept {
#if defined(__SSE2__)
  const __m128i quotes = _mm_set1_epi8('"');
  const __m128i backslashes = _mm_set1_epi8('\\');
  const __m128i blanks = _mm_set1_epi8(' ');
  for (; end - at >= 16; at += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i quoted =
        _mm_or_si128(_mm_cmpeq_epi8(bytes, quotes), _mm_cmpeq_epi8(bytes, backslashes));
    const __m128i below = _mm_cmplt_epi8(bytes, blanks);  // signed: what is not ASCII, too
    const int ends = _mm_movemask_epi8(_mm_or_si128(quoted, below));
    if (ends != 0) return at + std::countr_zero(static_cast<unsigned>(ends));
  }
#endif
  while (at < end && !kEndsRun[static_cast<uint8_t>(*at)]) ++at;
  return at;
}

bool is_ascii(char c) noexcept { return static_cast<uint8_t>(c) < 0x80; }

// Behind a backslash: of an escape that canonical JSON has, too.
bool is_canonical_escape(char c) noexcept {
  return c == 'n' || c == '"' || c == '\\' || c == 't' || c == 'r' || c == 'b' || c == 'f';
}

}  // namespace

bool PlainReader::take_ascii(std::string_view* text) {
  if (!take('"')) return false;
  const char* const begin = at_;
  at_ = skip_run(at_, end_);
  if (at_ == end_ || *at_ != '"') return false;
  *text = {begin, static_cast<size_t>(at_ - begin)};
  ++at_;
  return true;
}

bool PlainReader::take_number(std::string_view* token) {
  skip_blanks();
  const char* const begin = at_;
  const auto skip_digits = [this] {
    const char* const first = at_;
    while (at_ < end_ && is_digit(*at_)) ++at_;
    return static_cast<size_t>(at_ - first);
  };
  if (at_ < end_ && *at_ == '-') ++at_;
  const bool starts_with_zero = at_ < end_ && *at_ == '0';
  const size_t whole_digits = skip_digits();
  if (whole_digits == 0 || (starts_with_zero && whole_digits > 1)) return false;
  if (at_ < end_ && *at_ == '.') {
    ++at_;
    if (skip_digits() == 0) return false;
  }
  *token = {begin, static_cast<size_t>(at_ - begin)};
  return token->size() <= kNumberCharsMax;  // an exponent is what no value ends with
}

bool PlainReader::append_value(std::string* out, PlainMembers* members) {
  skip_blanks();
  if (at_ == end_) return false;
  switch (*at_) {
    case '"': return append_text(out);
    case '{': return append_object(out, members);
    case '[': return append_array(out);
    case 't':
    case 'f':
    case 'n': return append_token(out);
    default: break;
  }
  std::string_view token;
  bool is_integer = false;
  return take_number(&token) && append_number(token, *out, &is_integer);
}

bool PlainReader::append_text(std::string* out) {
  const char* const begin = at_++;
  bool all_ascii = true;
  for (;;) {
    at_ = skip_run(at_, end_);
    if (at_ == end_) return false;
    if (*at_ == '"') break;
    if (*at_ == '\\') {
      if (end_ - at_ < 2 || !is_canonical_escape(at_[1])) return false;
      at_ += 2;
    } else if (is_ascii(*at_)) {
      return false;  // a control
    } else {
      all_ascii = false;
      while (at_ < end_ && !is_ascii(*at_)) ++at_;
    }
  }
  ++at_;
  const std::string_view text(begin, static_cast<size_t>(at_ - begin));
  if (!all_ascii && find_invalid_utf8(text)) return false;
  out->append(text);
  return true;
}

bool PlainReader::append_token(std::string* out) {
  const std::string_view rest(at_, static_cast<size_t>(end_ - at_));
  for (const std::string_view token : {"true", "false", "null"}) {
    if (!rest.starts_with(token)) continue;
    out->append(token);
    at_ += token.size();
    return true;
  }
  return false;
}

bool PlainReader::append_array(std::string* out) {
  if (++depth_ > kDepthMax || !take('[')) return false;
  out->push_back('[');
  if (take(']')) {
    out->push_back(']');
  } else {
    do {
      if (!append_value(out)) return false;
      out->push_back(',');
    } while (take(','));
    if (!take(']')) return false;
    out->back() = ']';
  }
  --depth_;
  return true;
}

bool PlainReader::append_object(std::string* out, PlainMembers* members) {
  PlainMembers own;
  if (members == nullptr) members = &own;
  members->clear();
  if (++depth_ > kDepthMax || !take('{')) return false;
  out->push_back('{');
  const size_t begin = out->size();
  if (take('}')) {
    out->push_back('}');
  } else {
    do {
      PlainMember member;
      if (members->size() == kPlainMembersMax || !take_ascii(&member.name) || !take(':')) {
        return false;
      }
      out->append(1, '"').append(member.name).append("\":");
      member.begin = out->size();
      if (!append_value(out)) return false;
      member.end = out->size();
      members->push_back(member);
      out->push_back(',');
    } while (take(','));
    if (!take('}') || !sort_members(begin, out, members)) return false;
    out->back() = '}';
  }
  --depth_;
  return true;
}

// Those that stand in *out from `begin` on, a comma behind each. False when two have one name.
bool PlainReader::sort_members(size_t begin, std::string* out, PlainMembers* members) {
  const auto by_name = [](const PlainMember& a, const PlainMember& b) { return a.name < b.name; };
  const auto same_name = [](const PlainMember& a, const PlainMember& b) {
    return a.name == b.name;
  };
  if (!std::is_sorted(members->begin(), members->end(), by_name)) {
    unsorted_.assign(*out, begin);
    std::sort(members->begin(), members->end(), by_name);
    size_t at = begin;
    for (PlainMember& member : *members) {
      const size_t name_bytes = member.name.size() + std::string_view("\"\":").size();
      const size_t bytes = name_bytes + (member.end - member.begin) + 1;
      std::memcpy(out->data() + at, unsorted_.data() + (member.begin - name_bytes - begin), bytes);
      member.begin = at + name_bytes;
      at += bytes;
      member.end = at - 1;
    }
  }
  return std::adjacent_find(members->begin(), members->end(), same_name) == members->end();
}

}  // namespace varve::json
