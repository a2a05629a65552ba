#include "json/plain.h"

#include <algorithm>
#include <array>
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

// Whether one of eight bytes does. A byte too many may be told, but only behind one that does.
bool has_run_end(uint64_t word) noexcept {
  constexpr uint64_t kOnes = 0x0101010101010101ULL;
  constexpr uint64_t kHighs = 0x8080808080808080ULL;
  const uint64_t quote = (word ^ (kOnes * '"')) - kOnes;
  const uint64_t backslash = (word ^ (kOnes * '\\')) - kOnes;
  const uint64_t control = word - kOnes * ' ';
  return ((word | quote | backslash | control) & kHighs) != 0;
}

const char* skip_run(const char* at, const char* end) noexcept {
  while (static_cast<size_t>(end - at) >= sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, at, sizeof word);
    if (has_run_end(word)) break;
    at += sizeof word;
  }
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
