// ShortWord: a word of up to 16 bytes as two numbers, so that one is compared with another, and
// looked up, without a string.
//
// Nearly all words are short, ASCII, and have a blank behind them. Those are read eight bytes at a
// time: where the word ends, and its folded form, without a step for each letter.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "text/characters.h"

namespace varve::text {

static_assert(std::endian::native == std::endian::little, "the first letter is the lowest byte");

inline constexpr size_t kShortWordBytesMax = 16;

struct ShortWord {
  uint64_t low = 0;  // the first eight bytes, zeros behind them; no word has a zero byte
  uint64_t high = 0;
  friend bool operator==(const ShortWord&, const ShortWord&) = default;
};

// Up to eight bytes at `at`, zeros behind them.
[[nodiscard]] inline uint64_t load_bytes(std::string_view text, size_t at) noexcept {
  uint64_t bytes = 0;
  if (at + sizeof(bytes) <= text.size()) {
    std::memcpy(&bytes, text.data() + at, sizeof(bytes));
  } else if (at < text.size()) {
    std::memcpy(&bytes, text.data() + at, text.size() - at);
  }
  return bytes;
}

// Of a word of at most kShortWordBytesMax bytes.
[[nodiscard]] inline ShortWord short_word_of(std::string_view word) noexcept {
  return {load_bytes(word, 0), load_bytes(word, sizeof(uint64_t))};
}

[[nodiscard]] inline size_t size_of(const ShortWord& word) noexcept {
  const auto bytes_of = [](uint64_t half) {
    return sizeof(half) - static_cast<size_t>(std::countl_zero(half)) / 8;
  };
  return word.high != 0 ? sizeof(word.low) + bytes_of(word.high) : bytes_of(word.low);
}

// Its text, in `memory`.
using ShortWordText = std::array<char, kShortWordBytesMax>;
[[nodiscard]] inline std::string_view text_of(const ShortWord& word,
                                              ShortWordText* memory) noexcept {
  std::memcpy(memory->data(), &word.low, sizeof(word.low));
  std::memcpy(memory->data() + sizeof(word.low), &word.high, sizeof(word.high));
  return {memory->data(), size_of(word)};
}

// Both factors have to be secret where others choose the words (base/hash.h), and they are when the
// seed is: without it nobody knows either.
class ShortWordHash {
 public:
  explicit ShortWordHash(uint64_t seed)
      : low_key_(seed ^ 0x9E3779B97F4A7C15),
        high_key_(std::rotl(seed, 32) * 0xA0761D6478BD642F ^ 0xD6E8FEB86659FD93) {}

  // Both halves of a product of 128 bits, so that every bit of the word reaches every bit.
  [[nodiscard]] uint64_t operator()(const ShortWord& word) const noexcept {
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{word.low ^ low_key_} * (word.high ^ high_key_);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }

 private:
  uint64_t low_key_;
  uint64_t high_key_;
};

// The high bit of each byte that is no ASCII letter or digit.
[[nodiscard]] constexpr uint64_t bytes_outside_words(uint64_t bytes) noexcept {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = 0x80 * kOnes;
  // Of seven bits, so that no sum reaches the next byte; the eighth is asked for at the end.
  const auto at_least = [](uint64_t seven, char c) {
    return seven + kOnes * static_cast<uint64_t>(0x80 - c);
  };
  const uint64_t digits = bytes & ~kHighs;
  const uint64_t letters = digits | kOnes * 0x20;
  const uint64_t is_letter = at_least(letters, 'a') & ~at_least(letters, '{');
  const uint64_t is_digit = at_least(digits, '0') & ~at_least(digits, ':');
  return (~(is_letter | is_digit) | bytes) & kHighs;
}

// A word read: 0 bytes when there is none of this kind.
struct ReadShortWord {
  ShortWord folded;
  size_t size_bytes = 0;
};

// Whether what follows an ASCII word at `at` leaves it alone: the end, or what joins nothing.
[[nodiscard]] inline bool stands_apart(std::string_view text, size_t at) noexcept {
  const auto joins_nothing = [&](size_t place) {
    if (place >= text.size()) return true;
    const auto byte = static_cast<uint8_t>(text[place]);
    return byte < kAsciiCount && kAsciiClasses[byte] == CharacterClass::kOther;
  };
  if (at >= text.size()) return true;
  const auto byte = static_cast<uint8_t>(text[at]);
  if (byte >= kAsciiCount) return false;
  if (byte != ',' && kAsciiClasses[byte] == CharacterClass::kOther) return true;
  // A comma or a connector with nothing behind it that it could join; + and # may be of the word.
  return byte != '+' && byte != '#' && joins_nothing(at + 1);
}

// The word that begins at `at`, if it is one of ASCII letters and digits, is short, stands apart,
// and has no parts: no capitals that may divide it, no number before letters (word_parts.h).
[[nodiscard]] inline ReadShortWord read_short_word(std::string_view text, size_t at) noexcept {
  constexpr uint64_t kFold = 0x2020202020202020;    // of a digit that bit is set already
  constexpr uint64_t kLetter = 0x4040404040404040;  // of a digit that bit is not set
  constexpr size_t kHalf = sizeof(uint64_t);
  const auto bytes_before = [](uint64_t outside) {
    return static_cast<size_t>(std::countr_zero(outside)) / 8;
  };
  const auto first = [](uint64_t bytes, size_t count) {
    return count == 0 ? 0 : bytes & (~uint64_t{0} >> (8 * (kHalf - count)));
  };
  ReadShortWord word;
  const uint64_t low = load_bytes(text, at);
  size_t size = bytes_before(bytes_outside_words(low));
  word.folded.low = first(low | kFold, size);
  uint64_t capitals_behind_first = first(~low & kFold, size) >> 8;
  uint64_t others = first(low & kFold, size);
  if (size == kHalf) {
    const uint64_t high = load_bytes(text, at + kHalf);
    const size_t more = bytes_before(bytes_outside_words(high));
    word.folded.high = first(high | kFold, more);
    capitals_behind_first |= first(~high & kFold, more);
    others |= first(high & kFold, more);
    size += more;
    if (more == kHalf) return {};  // it may go on
  }
  if (capitals_behind_first != 0 && others != 0) return {};
  if (size == 0 || !stands_apart(text, at + size)) return {};
  if (is_digit(text[at]) && ((word.folded.low | word.folded.high) & kLetter) != 0) return {};
  word.size_bytes = size;
  return word;
}

}  // namespace varve::text
