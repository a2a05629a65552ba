#include "base/ids.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/utf8.h"

namespace varve {
namespace {

constexpr size_t kTypeCharsMax = 32;
constexpr size_t kTagCharsMax = 64;

constexpr uint64_t kTimeMask = (uint64_t{1} << 48) - 1;
constexpr uint64_t kHighMask = (uint64_t{1} << 12) - 1;
constexpr uint64_t kLowMask = (uint64_t{1} << 62) - 1;
constexpr int kBase32Chars = 26;  // 130 bits: the first two are always 0

// Most tags consist of these characters only: bytes and characters are then the same number.
bool is_ascii_tag_character(char c) noexcept {
  return is_lower(c) || is_upper(c) || is_digit(c) || c == '.' || c == '_' || c == ':' ||
         c == '/' || c == '-';
}

constexpr auto kIsIdCharacter = [] {
  std::array<bool, 256> table{};
  for (size_t c = 0; c < table.size(); ++c) {
    const char character = static_cast<char>(c);
    table[c] = is_lower(character) || is_upper(character) || is_digit(character) ||
               character == '_' || character == '-';
  }
  return table;
}();

bool is_tag_character(uint32_t code_point) noexcept {
  return code_point < 0x80 ? is_ascii_tag_character(static_cast<char>(code_point))
                           : is_word_character(code_point);
}

// Most significant digit first, so that ids sort as their numbers do.
void append_base32(uint64_t high, uint64_t low, std::string& out) {
  static constexpr char kAlphabet[] = "0123456789abcdefghjkmnpqrstvwxyz";
  for (int i = kBase32Chars - 1; i >= 0; --i) {
    const int shift = i * 5;
    uint64_t bits = shift >= 64 ? high >> (shift - 64) : low >> shift;
    if (shift < 64 && shift > 59) bits |= high << (64 - shift);
    out += kAlphabet[bits & 31];
  }
}

}  // namespace

bool is_valid_id(std::string_view id) noexcept {
  if (id.empty() || id.size() > kIdCharsMax || id.front() == '-') return false;
  return std::all_of(id.begin(), id.end(),
                     [](char c) { return kIsIdCharacter[static_cast<uint8_t>(c)]; });
}

Status check_id(std::string_view id, std::string_view what, std::string_view member) {
  if (is_valid_id(id)) return {};
  return {Code::kInvalidArgument,
          std::string(what) + " is 1 to 128 of A-Z a-z 0-9 _ -, not starting with -",
          {.member = std::string(member)}};
}

bool is_valid_type(std::string_view type) noexcept {
  if (type.empty() || type.size() > kTypeCharsMax || !is_lower(type.front())) return false;
  return std::all_of(type.begin(), type.end(),
                     [](char c) { return is_lower(c) || is_digit(c) || c == '_'; });
}

bool is_valid_tag(std::string_view tag) noexcept {
  if (std::all_of(tag.begin(), tag.end(), is_ascii_tag_character)) {
    return !tag.empty() && tag.size() <= kTagCharsMax;
  }
  size_t count = 0;
  while (!tag.empty()) {
    const auto code_point = take_code_point(tag);
    if (!code_point || !is_tag_character(*code_point) || ++count > kTagCharsMax) return false;
  }
  return count > 0;
}

void IdGenerator::draw_counter() {
  const auto [high, low] = random_value<std::array<uint64_t, 2>>(random_);
  counter_high_ = high & kHighMask;
  counter_low_ = low & kLowMask;
  steps_left_ = 0;
}

// A random step keeps the next id unguessable; 32 bits of it leave room for many steps.
void IdGenerator::step_counter() {
  if (steps_left_ == 0) {
    steps_ = random_value<decltype(steps_)>(random_);
    steps_left_ = steps_.size();
  }
  counter_low_ += uint64_t{1} + steps_[--steps_left_];
  if (counter_low_ <= kLowMask) return;
  counter_low_ &= kLowMask;
  if (++counter_high_ <= kHighMask) return;
  counter_high_ = 0;
  ++last_ms_;
}

std::string IdGenerator::next(std::string_view prefix) {
  const std::lock_guard guard(mutex_);
  const int64_t now_ms = std::max<int64_t>(clock_.now_ms(), 0);
  if (now_ms > last_ms_) {
    last_ms_ = now_ms;
    draw_counter();
  } else {
    step_counter();
  }
  const uint64_t high =
      (static_cast<uint64_t>(last_ms_) & kTimeMask) << 16 | uint64_t{7} << 12 | counter_high_;
  const uint64_t low = uint64_t{2} << 62 | counter_low_;
  std::string id;
  id.reserve(prefix.size() + kBase32Chars);
  id += prefix;
  append_base32(high, low, id);
  return id;
}

}  // namespace varve
