#include "cli/view/folded_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr size_t kMarksMax = 30;  // of one letter; putting them in order costs their square
constexpr size_t kLettersOfCharacter = 18;  // the longest decomposition

// What belongs to the letter before it: marks, the further parts of a hangul syllable, the voice
// marks of half width, and what shows nothing.
bool continues_letter(char32_t c) {
  if (c < 0x80) return false;
  const bool is_part =
      (c >= 0x1160 && c <= 0x11FF) || (c >= 0xD7B0 && c <= 0xD7FB) || c == 0xFF9E || c == 0xFF9F;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return is_part || category == UTF8PROC_CATEGORY_CF ||
         (category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME);
}

// What stands for plain letters or signs, and does not decompose to them.
std::u32string_view plain_form(char32_t c) {
  switch (c) {
    case 0xF8: return U"o";   // o with stroke
    case 0x111:               // d with stroke
    case 0xF0: return U"d";   // eth
    case 0x142: return U"l";  // l with stroke
    case 0x127: return U"h";  // h with stroke
    case 0x167: return U"t";  // t with stroke
    case 0x131: return U"i";  // dotless i
    case 0xE6: return U"ae";
    case 0x153: return U"oe";
    case 0xFE: return U"th";       // thorn
    case 0x671: return U"\u0627";  // alef, joined to the word before it
    case 0x649:                    // yeh without dots
    case 0x6CC: return U"\u064A";  // yeh of Persian
    case 0x6A9: return U"\u0643";  // kaf of Persian
    case 0x2019:
    case 0x2BC: return U"'";
    case 0x2010: return U"-";  // also the compatibility form of one that does not break
    default: return {};
  }
}

bool is_decimal_digit(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_ND;
}

// A digit of any script as that of ASCII: Unicode has the ten of a script in a row.
char32_t plain_digit(char32_t c) {
  if (!is_decimal_digit(c)) return c;
  char32_t before = 0;
  while (is_decimal_digit(c - before - 1)) ++before;
  return U'0' + before % 10;
}

// Accents; the points of Hebrew; the vowels, the hamza on a letter, the signs of recitation and the
// stretching line of Arabic; marks around symbols.
bool is_dropped(char32_t c) {
  using Range = std::pair<char32_t, char32_t>;
  constexpr std::array kRanges = {
      Range{0x300, 0x36F}, Range{0x591, 0x5BD}, Range{0x5BF, 0x5BF}, Range{0x5C1, 0x5C2},
      Range{0x5C4, 0x5C5}, Range{0x5C7, 0x5C7}, Range{0x610, 0x61A}, Range{0x640, 0x640},
      Range{0x64B, 0x65F}, Range{0x670, 0x670}, Range{0x6D6, 0x6DC}, Range{0x6DF, 0x6E4},
      Range{0x6E7, 0x6E8}, Range{0x6EA, 0x6ED}, Range{0x8CA, 0x8FF}, Range{0x20D0, 0x20FF}};
  return std::any_of(kRanges.begin(), kRanges.end(),
                     [c](const Range& range) { return c >= range.first && c <= range.second; });
}

// One letter with its marks.
std::u32string folded_letter(std::string_view letter) {
  if (letter.size() == 1) {
    const auto c = static_cast<unsigned char>(letter.front());
    return {static_cast<char32_t>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c)};
  }
  // A sign is no word, whatever letters it stands for: what is found of №42 is 42.
  std::string_view rest = letter;
  const char32_t first = take_character(rest).code_point;
  if (utf8proc_category(static_cast<utf8proc_int32_t>(first)) == UTF8PROC_CATEGORY_SO) {
    return {first};
  }
  std::vector<utf8proc_int32_t> parts(letter.size() * kLettersOfCharacter);
  const auto options = static_cast<utf8proc_option_t>(
      UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_DECOMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE);
  auto count = utf8proc_decompose(reinterpret_cast<const utf8proc_uint8_t*>(letter.data()),
                                  static_cast<utf8proc_ssize_t>(letter.size()), parts.data(),
                                  static_cast<utf8proc_ssize_t>(parts.size()), options);
  if (count < 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) return {};
  auto* const end = std::remove_if(parts.data(), parts.data() + count,
                                   [](int32_t c) { return is_dropped(static_cast<char32_t>(c)); });
  count =
      utf8proc_normalize_utf32(parts.data(), end - parts.data(),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  std::u32string folded;
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    const char32_t c = plain_digit(static_cast<char32_t>(parts[static_cast<size_t>(i)]));
    const std::u32string_view plain = plain_form(c);
    folded += plain.empty() ? std::u32string_view(&c, 1) : plain;
  }
  return folded;
}

}  // namespace

FoldedText::FoldedText(std::string_view text) {
  const size_t size = text.size();
  while (!text.empty()) {
    std::string_view rest = text;
    take_character(rest);
    for (size_t marks = 0; !rest.empty() && marks < kMarksMax; ++marks) {
      std::string_view behind = rest;
      if (!continues_letter(take_character(behind).code_point)) break;
      rest = behind;
    }
    const std::string_view letter = text.substr(0, text.size() - rest.size());
    for (const char32_t folded : folded_letter(letter)) {
      letters.push_back(folded);
      begins.push_back(size - text.size());
      ends.push_back(size - rest.size());
    }
    text = rest;
  }
}

}  // namespace varve::cli
