// Characters as full-text search sees them: what continues a word, what joins words, and the folded
// form in which letters are compared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace varve::text {

enum class CharacterClass : uint8_t {
  kOther,
  kWord,        // letters and numbers of scripts that separate words
  kMark,        // combining: continues a word
  kUnspaced,    // of scripts that write words without spaces: Chinese, Japanese, Korean, Thai, ...
  kIgnored,     // soft hyphen, joiners, variation selectors: as if they were not there
  kApostrophe,  // ' and its typographic forms
  kConnector,   // _ - . / \ @ : + # ~ : join words to identifiers, paths, addresses
};

struct Character {
  uint32_t code_point = 0;
  uint32_t size_bytes = 0;  // 0: the text has ended
  CharacterClass character_class = CharacterClass::kOther;
};

// The character at an offset of well-formed UTF-8.
[[nodiscard]] Character character_at(std::string_view text, size_t offset) noexcept;

// Whether accents are dropped from the letter: Latin and Greek. Other scripts keep their marks,
// which tell words apart there.
[[nodiscard]] bool drops_accents(uint32_t code_point) noexcept;
[[nodiscard]] bool is_accent(uint32_t code_point) noexcept;  // U+0300 to U+036F

// Appends the folded form of one character: compatibility form, case folded, accents dropped where
// drops_accents(); letters that are Latin ones with a stroke or joined (o with a stroke, ae) become
// those.
void append_folded(uint32_t code_point, std::string* out);

void append_utf8(uint32_t code_point, std::string* out);

// Appends a word folded as a whole: ignored characters and dropped accents fall away.
void append_folded_word(std::string_view word, std::string* out);

}  // namespace varve::text
