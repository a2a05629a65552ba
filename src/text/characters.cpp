#include "text/characters.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include <utf8proc.h>

#include "base/utf8.h"

namespace varve::text {

namespace {

using Range = std::pair<uint32_t, uint32_t>;

// Han, kana (also of half width), hangul (also what begins a syllable that is written in parts),
// Thai, Lao, Burmese and Khmer. Their digits are not among these: a number is a word of its own.
constexpr Range kUnspacedRanges[] = {
    {0x0E01, 0x0E3A}, {0x0E40, 0x0E4E}, {0x0E80, 0x0ECF},   {0x0EDA, 0x0EFF}, {0x1000, 0x103F},
    {0x104A, 0x108F}, {0x109A, 0x109F}, {0x1100, 0x115F},   {0x1780, 0x17D3}, {0x3005, 0x3007},
    {0x3021, 0x3029}, {0x3041, 0x3096}, {0x309D, 0x309F},   {0x30A1, 0x30FA}, {0x30FC, 0x30FF},
    {0x31F0, 0x31FF}, {0x3400, 0x4DBF}, {0x4E00, 0x9FFF},   {0xA960, 0xA97C}, {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF}, {0xFF66, 0xFF9D}, {0x20000, 0x3FFFF},
};

bool is_in(std::span<const Range> ranges, uint32_t code_point) noexcept {
  const auto after =
      std::upper_bound(ranges.begin(), ranges.end(), code_point,
                       [](uint32_t value, const Range& range) { return value < range.first; });
  return after != ranges.begin() && code_point <= std::prev(after)->second;
}

bool is_unspaced(uint32_t code_point) noexcept { return is_in(kUnspacedRanges, code_point); }

// Letters to Unicode that only complete the one before them: the further parts of a hangul
// syllable, and the voice marks of half width.
bool completes_letter(uint32_t code_point) noexcept {
  return (code_point >= 0x1160 && code_point <= 0x11FF) ||
         (code_point >= 0xD7B0 && code_point <= 0xD7FB) || code_point == 0xFF9E ||
         code_point == 0xFF9F;
}

// Soft hyphen, joiners, marks of direction, invisible operators, marks around symbols, variation
// selectors, also those of Mongolian letters and of ideographs, and tones of skin; the points and
// accents of Hebrew; the vowel points, the signs of recitation and the stretching line of Arabic.
constexpr Range kIgnoredRanges[] = {
    {0xAD, 0xAD},     {0x34F, 0x34F},     {0x591, 0x5BD},     {0x5BF, 0x5BF},   {0x5C1, 0x5C2},
    {0x5C4, 0x5C5},   {0x5C7, 0x5C7},     {0x610, 0x61A},     {0x61C, 0x61C},   {0x640, 0x640},
    {0x64B, 0x652},   {0x656, 0x65F},     {0x670, 0x670},     {0x6D6, 0x6DC},   {0x6DF, 0x6E4},
    {0x6E7, 0x6E8},   {0x6EA, 0x6ED},     {0x8CA, 0x8E1},     {0x8E3, 0x8FF},   {0x180B, 0x180F},
    {0x200B, 0x200F}, {0x202A, 0x202E},   {0x2060, 0x206F},   {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF}, {0x1F3FB, 0x1F3FF}, {0xE0100, 0xE01EF},
};

bool is_ignored(uint32_t code_point) noexcept {
  // Nearly all letters are between these.
  const bool is_letter = (code_point > 0x34F && code_point < 0x591) ||
                         (code_point > 0x8FF && code_point < 0x180B) ||
                         (code_point > 0x20FF && code_point < 0xFE00);
  return !is_letter && is_in(kIgnoredRanges, code_point);
}

// Where pictures are; some that Unicode has not given a picture yet are among them.
constexpr Range kEmojiRanges[] = {
    {0x231A, 0x231B}, {0x23E9, 0x23FA}, {0x2600, 0x27BF},
    {0x2B1B, 0x2B1C}, {0x2B50, 0x2B55}, {0x1F000, 0x1FAFF},
};

bool is_emoji(uint32_t code_point, utf8proc_category_t category) noexcept {
  const bool may_be = category == UTF8PROC_CATEGORY_SO || category == UTF8PROC_CATEGORY_CN;
  return may_be && is_in(kEmojiRanges, code_point);
}

CharacterClass class_of(uint32_t code_point) noexcept {
  if (is_ignored(code_point)) return CharacterClass::kIgnored;
  if (code_point == 0x2019 || code_point == 0x02BC || code_point == 0xFF07) {
    return CharacterClass::kApostrophe;
  }
  if (code_point == 0x2010 || code_point == 0x2011) return CharacterClass::kConnector;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
  const bool is_mark = (category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME) ||
                       completes_letter(code_point);
  const bool is_word = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NO;
  if (!is_word) {
    return is_emoji(code_point, category) ? CharacterClass::kEmoji : CharacterClass::kOther;
  }
  if (is_unspaced(code_point)) return CharacterClass::kUnspaced;
  return is_mark ? CharacterClass::kMark : CharacterClass::kWord;
}

// Hangul letters that stand by themselves. Their compatibility form is a part of a syllable.
bool is_hangul_letter(uint32_t code_point) noexcept {
  return code_point >= 0x3131 && code_point <= 0x318E;
}

// Letters that do not decompose, but stand for other ones to people who search.
std::string_view plain_letter(int32_t code_point) noexcept {
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
    case 0xFE: return "th";       // thorn
    case 0x671: return "\u0627";  // alef, joined to the word before it
    case 0x649:                   // yeh without dots
    case 0x6CC: return "\u064A";  // yeh of Persian
    case 0x6A9: return "\u0643";  // kaf of Persian
    default: return {};
  }
}

bool is_decimal_digit(uint32_t code_point) noexcept {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point)) == UTF8PROC_CATEGORY_ND;
}

// The digit of ASCII for one of any script: Unicode has the ten of a script in a row. 0 for others.
char plain_digit(uint32_t code_point) noexcept {
  if (!is_decimal_digit(code_point)) return 0;
  uint32_t before = 0;
  while (is_decimal_digit(code_point - before - 1)) ++before;
  return static_cast<char>('0' + before % 10);
}

// Of a decomposed character: as std::remove_if().
int32_t* without_dropped_marks(int32_t* begin, int32_t* end) noexcept {
  uint32_t letter = 0;  // 0: none yet, so a mark stands alone
  return std::remove_if(begin, end, [&](int32_t c) {
    const auto code_point = static_cast<uint32_t>(c);
    if (is_ignored(code_point) || (letter != 0 && drops_mark(letter, code_point))) return true;
    if (class_of(code_point) != CharacterClass::kMark) letter = code_point;
    return false;
  });
}

}  // namespace

Character wide_character_at(std::string_view text, size_t offset) noexcept {
  std::string_view rest = text.substr(offset);
  const size_t before = rest.size();
  const auto code_point = take_code_point(rest);
  if (!code_point) return {0xFFFD, 1, CharacterClass::kOther};
  return {*code_point, static_cast<uint32_t>(before - rest.size()), class_of(*code_point)};
}

Character last_character(std::string_view text) noexcept {
  if (text.empty()) return {};
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) --at;
  return character_at(text, at);
}

Character skip_ignored(std::string_view text, size_t* offset) noexcept {
  for (;;) {
    const Character character = character_at(text, *offset);
    if (character.character_class != CharacterClass::kIgnored) return character;
    *offset += character.size_bytes;
  }
}

size_t behind_ignored(std::string_view text, size_t offset) noexcept {
  skip_ignored(text, &offset);
  return offset;
}

bool drops_mark(uint32_t letter, uint32_t mark) noexcept {
  constexpr uint32_t kGrave = 0x300;
  constexpr uint32_t kAcute = 0x301;
  constexpr uint32_t kDots = 0x308;
  constexpr uint32_t kCyrillicYe = 0x435;
  constexpr uint32_t kAlef = 0x627;
  if (letter == kAlef) return mark >= 0x653 && mark <= 0x655;  // hamza above and below, madda
  if (mark < 0x300 || mark > 0x36F) return false;
  const bool is_latin = letter < 0x250 || (letter >= 0x1E00 && letter < 0x1F00);
  const bool is_greek =
      (letter >= 0x370 && letter < 0x400) || (letter >= 0x1F00 && letter < 0x2000);
  if (is_latin || is_greek) return true;
  if (mark == kDots) return letter == kCyrillicYe;
  constexpr std::u32string_view kCyrillicVowels = U"аеиоуыэюяєі";
  const bool is_stress = mark == kGrave || mark == kAcute;
  return is_stress && kCyrillicVowels.find(letter) != std::u32string_view::npos;
}

bool is_half_of_flag(uint32_t code_point) noexcept {
  return code_point >= 0x1F1E6 && code_point <= 0x1F1FF;
}

bool is_blank(uint32_t code_point) noexcept {
  if ((code_point >= '\t' && code_point <= '\r') || code_point == 0x85) return true;
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
  return category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP;
}

size_t behind_unseen(std::string_view text) noexcept {
  size_t at = 0;
  for (Character one = character_at(text, 0); one.size_bytes > 0; one = character_at(text, at)) {
    const bool is_seen =
        one.character_class != CharacterClass::kIgnored && !is_blank(one.code_point);
    if (is_seen) break;
    at += one.size_bytes;
  }
  return at;
}

bool has_unspaced(std::string_view text) noexcept {
  for (size_t at = 0; at < text.size();) {
    const Character character = character_at(text, at);
    if (character.character_class == CharacterClass::kUnspaced) return true;
    at += character.size_bytes;
  }
  return false;
}

bool is_lone_unspaced(std::string_view word) noexcept {
  Character character = character_at(word, 0);
  if (character.character_class != CharacterClass::kUnspaced) return false;
  for (size_t at = character.size_bytes; at < word.size(); at += character.size_bytes) {
    character = character_at(word, at);
    if (character.character_class != CharacterClass::kMark) return false;
  }
  return true;
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
  if (is_hangul_letter(code_point)) return append_utf8(code_point, out);
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
  auto* const end = without_dropped_marks(folded.data(), folded.data() + count);
  count =
      utf8proc_normalize_utf32(folded.data(), end - folded.data(),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    const int32_t c = folded[static_cast<size_t>(i)];
    const std::string_view plain = plain_letter(c);
    if (!plain.empty()) {
      out->append(plain);
    } else if (const char digit = plain_digit(static_cast<uint32_t>(c)); digit != 0) {
      out->push_back(digit);
    } else {
      append_utf8(static_cast<uint32_t>(c), out);
    }
  }
}

void compose(size_t begin, std::string* out) {
  std::array<utf8proc_int32_t, 2 * kComposedBytesMax> characters{};  // 2 bytes make 3 at most
  const std::string_view word = cut_utf8(std::string_view(*out).substr(begin), kComposedBytesMax);
  auto count = utf8proc_decompose(
      reinterpret_cast<const utf8proc_uint8_t*>(word.data()),
      static_cast<utf8proc_ssize_t>(word.size()), characters.data(), characters.size(),
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_STABLE));
  if (count < 0 || count > static_cast<utf8proc_ssize_t>(characters.size())) return;
  count = utf8proc_normalize_utf32(
      characters.data(), count, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  std::string composed;
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    append_utf8(static_cast<uint32_t>(characters[static_cast<size_t>(i)]), &composed);
  }
  out->replace(begin, word.size(), composed);
}

void append_folded_word(std::string_view word, std::string* out) {
  const size_t begin = out->size();
  bool has_marks = false;
  for (size_t at = 0; at < word.size();) {
    const Character character = character_at(word, at);
    at += character.size_bytes;
    if (character.character_class == CharacterClass::kIgnored) continue;
    const bool is_mark = character.character_class == CharacterClass::kMark;
    if (is_mark && out->size() > begin) {
      if (drops_mark(last_character(*out).code_point, character.code_point)) continue;
    }
    append_folded(character.code_point, out);
    has_marks = has_marks || is_mark;
  }
  if (has_marks) compose(begin, out);
}

}  // namespace varve::text
