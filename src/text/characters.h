// Characters as full-text search sees them: what continues a word, what joins words, and the folded
// form in which letters are compared.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/ascii.h"

namespace varve::text {

enum class CharacterClass : uint8_t {
  kOther,
  kWord,        // letters and numbers of scripts that separate words
  kMark,        // combining, or the further parts of a hangul syllable: continues a word
  kUnspaced,    // of scripts that write words without spaces: Chinese, Japanese, Korean, Thai, ...
  kEmoji,       // a picture; each is found by itself
  kIgnored,     // as if not there: soft hyphen, joiners, marks of direction, variation selectors,
                // tones of skin, and the vowel points of Hebrew and Arabic, which few people type
  kApostrophe,  // ' and its typographic forms
  kConnector,   // _ - . / \ @ : + # ~ : join words to identifiers, paths, addresses
};

struct Character {
  uint32_t code_point = 0;
  uint32_t size_bytes = 0;  // 0: the text has ended
  CharacterClass character_class = CharacterClass::kOther;
};

inline constexpr size_t kAsciiCount = 128;

[[nodiscard]] constexpr CharacterClass class_of_ascii(char c) noexcept {
  if (is_letter(c) || is_digit(c)) return CharacterClass::kWord;
  if (c == '\'') return CharacterClass::kApostrophe;
  return std::string_view("_-./\\@:+#~").find(c) != std::string_view::npos
             ? CharacterClass::kConnector
             : CharacterClass::kOther;
}

inline constexpr auto kAsciiClasses = [] {
  std::array<CharacterClass, kAsciiCount> classes{};
  for (size_t c = 0; c < kAsciiCount; ++c) classes[c] = class_of_ascii(static_cast<char>(c));
  return classes;
}();

// A connector that ends a part of a path or an address which is worth finding by itself: of a/b.py
// that is b.py.
[[nodiscard]] constexpr bool ends_segment(uint32_t code_point) noexcept {
  return code_point < kAsciiCount &&
         std::string_view("/\\@:+#~").find(static_cast<char>(code_point)) != std::string_view::npos;
}

// As character_at(), for one that is not ASCII.
[[nodiscard]] Character wide_character_at(std::string_view text, size_t offset) noexcept;

// The character at an offset of well-formed UTF-8.
[[nodiscard]] inline Character character_at(std::string_view text, size_t offset) noexcept {
  if (offset >= text.size()) return {};
  const auto byte = static_cast<uint8_t>(text[offset]);
  if (byte < kAsciiCount) return {byte, 1, kAsciiClasses[byte]};
  return wide_character_at(text, offset);
}

// The character at the end of well-formed UTF-8.
[[nodiscard]] Character last_character(std::string_view text) noexcept;

// The first character from `*offset` on that is not ignored, and its place.
Character skip_ignored(std::string_view text, size_t* offset) noexcept;
[[nodiscard]] size_t behind_ignored(std::string_view text, size_t offset) noexcept;

// Whether a mark falls away behind a letter: every accent (U+0300 to U+036F) of Latin and Greek
// ones; of Cyrillic vowels the stress, and the dots of yo; what alef bears. Other marks tell words
// apart.
[[nodiscard]] bool drops_mark(uint32_t letter, uint32_t mark) noexcept;

// Two of these are one flag.
[[nodiscard]] bool is_half_of_flag(uint32_t code_point) noexcept;

// Whether it separates words and shows nothing: blanks of every width, ends of lines.
[[nodiscard]] bool is_blank(uint32_t code_point) noexcept;

// Behind the blanks and the ignored characters that a text begins with: nobody sees them.
[[nodiscard]] size_t behind_unseen(std::string_view text) noexcept;

// Appends the folded form of one character: compatibility form, case folded, without the marks that
// fall away; letters that are others with a stroke or joined (o with a stroke, ae), or only typed
// otherwise (the yeh of Persian), become those. What several characters make, compose() puts
// together.
void append_folded(uint32_t code_point, std::string* out);

// Whether a character of a script without spaces is in the text.
[[nodiscard]] bool has_unspaced(std::string_view text) noexcept;
// Whether a word is one such character, for which there was no other to pair it with.
[[nodiscard]] bool is_lone_unspaced(std::string_view word) noexcept;

void append_utf8(uint32_t code_point, std::string* out);

// Puts marks behind `begin` together with the letters they belong to, as Unicode's form C has them:
// one letter has one form, however it was typed. Only in so many bytes, which is more than a word
// has: marks without end cost the square of their number.
inline constexpr size_t kComposedBytesMax = 512;
void compose(size_t begin, std::string* out);

// Appends a word folded as a whole, and composed: ignored characters and dropped marks fall away.
void append_folded_word(std::string_view word, std::string* out);

}  // namespace varve::text
