#include "text/characters.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include <utf8proc.h>

#include "base/utf8.h"

namespace varve::text {

namespace {

using Range = std::pair<uint32_t, uint32_t>;

// Han, kana, hangul, then Thai, Lao, Burmese and Khmer.
constexpr Range kUnspacedRanges[] = {
    {0x0E01, 0x0E3A}, {0x0E40, 0x0E4E},   {0x0E80, 0x0EFF}, {0x1000, 0x109F}, {0x1780, 0x17D3},
    {0x3005, 0x3007}, {0x3021, 0x3029},   {0x3041, 0x3096}, {0x309D, 0x309F}, {0x30A1, 0x30FA},
    {0x30FC, 0x30FF}, {0x31F0, 0x31FF},   {0x3400, 0x4DBF}, {0x4E00, 0x9FFF}, {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF}, {0x20000, 0x3FFFF},
};

bool is_unspaced(uint32_t code_point) noexcept {
  const auto* after =
      std::upper_bound(std::begin(kUnspacedRanges), std::end(kUnspacedRanges), code_point,
                       [](uint32_t value, const Range& range) { return value < range.first; });
  return after != std::begin(kUnspacedRanges) && code_point <= std::prev(after)->second;
}

bool is_ignored(uint32_t code_point) noexcept {
  return code_point == 0xAD || (code_point >= 0x200B && code_point <= 0x200D) ||
         code_point == 0x2060 || code_point == 0xFEFF ||
         (code_point >= 0xFE00 && code_point <= 0xFE0F) ||
         (code_point >= 0x20D0 && code_point <= 0x20FF);
}

CharacterClass class_of(uint32_t code_point) noexcept {
  if (is_ignored(code_point)) return CharacterClass::kIgnored;
  if (code_point == 0x2019 || code_point == 0x02BC || code_point == 0xFF07) {
    return CharacterClass::kApostrophe;
  }
  if (code_point == 0x2010 || code_point == 0x2011) return CharacterClass::kConnector;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
  const bool is_mark = category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
  const bool is_word = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
  if (!is_word) return CharacterClass::kOther;
  if (is_unspaced(code_point)) return CharacterClass::kUnspaced;
  return is_mark ? CharacterClass::kMark : CharacterClass::kWord;
}

// Letters that do not decompose although they are a plain Latin one to whoever searches.
std::string_view plain_latin(int32_t code_point) noexcept {
  switch (code_point) {
    case 0xF8: return "o";   // o with stroke
    case 0x111:              // d with stroke
    case 0xF0: return "d";   // eth
    case 0x142: return "l";  // l with stroke
    case 0x127: return "h";  // h with stroke
    case 0x167: return "t";  // t with stroke
    case 0x131: return "i";  // dotless i
    case 0xE6: return "ae";
    case 0x153: return "oe";
    case 0xFE: return "th";  // thorn
    default: return {};
  }
}

}  // namespace

Character wide_character_at(std::string_view text, size_t offset) noexcept {
  std::string_view rest = text.substr(offset);
  const size_t before = rest.size();
  const auto code_point = take_code_point(rest);
  if (!code_point) return {0xFFFD, 1, CharacterClass::kOther};
  return {*code_point, static_cast<uint32_t>(before - rest.size()), class_of(*code_point)};
}

bool drops_accents(uint32_t code_point) noexcept {
  return code_point < 0x250 || (code_point >= 0x370 && code_point < 0x400) ||
         (code_point >= 0x1E00 && code_point < 0x2000);
}

bool is_accent(uint32_t code_point) noexcept { return code_point >= 0x300 && code_point <= 0x36F; }

bool has_unspaced(std::string_view text) noexcept {
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (character.character_class == CharacterClass::kUnspaced) return true;
    at += character.size_bytes;
  }
  return false;
}

bool is_lone_unspaced(std::string_view word) noexcept {
  const Character character = character_at(word, 0);
  return character.character_class == CharacterClass::kUnspaced &&
         character.size_bytes == word.size();
}

void append_utf8(uint32_t code_point, std::string* out) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const auto size = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code_point), bytes.data());
  out->append(reinterpret_cast<const char*>(bytes.data()), static_cast<size_t>(size));
}

void append_folded(uint32_t code_point, std::string* out) {
  if (code_point < kAsciiCount) {
    out->push_back(ascii_lower(static_cast<char>(code_point)));
    return;
  }
  std::array<utf8proc_int32_t, 32> folded{};  // the longest decomposition has 18
  int boundary = 0;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE |
                                                      UTF8PROC_CASEFOLD | UTF8PROC_STABLE);
  auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code_point), folded.data(),
                                       folded.size(), options, &boundary);
  if (count <= 0 || count > static_cast<utf8proc_ssize_t>(folded.size())) {
    append_utf8(code_point, out);
    return;
  }
  auto* end = folded.data() + count;
  if (drops_accents(static_cast<uint32_t>(folded[0]))) {
    end = std::remove_if(folded.data(), end,
                         [](int32_t c) { return is_accent(static_cast<uint32_t>(c)); });
  }
  count =
      utf8proc_normalize_utf32(folded.data(), end - folded.data(),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    const int32_t c = folded[static_cast<size_t>(i)];
    const std::string_view plain = plain_latin(c);
    if (!plain.empty()) {
      out->append(plain);
    } else {
      append_utf8(static_cast<uint32_t>(c), out);
    }
  }
}

void append_folded_word(std::string_view word, std::string* out) {
  uint32_t before = 0;  // the last character kept
  for (size_t at = 0; at < word.size();) {
    const Character character = character_at(word, at);
    at += character.size_bytes;
    if (character.character_class == CharacterClass::kIgnored) continue;
    if (is_accent(character.code_point) && before != 0 && drops_accents(before)) continue;
    append_folded(character.code_point, out);
    before = character.code_point;
  }
}

}  // namespace varve::text
