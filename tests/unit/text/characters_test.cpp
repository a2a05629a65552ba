#include "text/characters.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace varve::text {
namespace {

using Class = CharacterClass;

std::string folded(std::string_view word) {
  std::string out;
  append_folded_word(word, &out);
  return out;
}

std::string utf8(uint32_t code_point) {
  std::string out;
  append_utf8(code_point, &out);
  return out;
}

Class class_of(std::string_view character) { return character_at(character, 0).character_class; }

TEST(Characters, BlanksAreOfEveryWidth) {
  for (const uint32_t blank :
       {0x09u, 0x0Au, 0x0Du, 0x20u, 0x85u, 0xA0u, 0x2003u, 0x2028u, 0x2029u, 0x3000u}) {
    EXPECT_TRUE(is_blank(blank)) << blank;
  }
  for (const uint32_t other : {0x00u, 0x08u, 0x0Eu, 0x2Du, 0x41u, 0x200Bu, 0x3001u, 0x6771u}) {
    EXPECT_FALSE(is_blank(other)) << other;
  }
}

TEST(Characters, WhatIsUnseenAtTheStartIsPassedOver) {
  EXPECT_EQ(behind_unseen(""), 0U);
  EXPECT_EQ(behind_unseen("a b"), 0U);
  EXPECT_EQ(behind_unseen(" \t\u00a0\u200bb "), 7U);
  EXPECT_EQ(behind_unseen(" \u3000"), 4U);
}

TEST(Characters, Classes) {
  const std::vector<std::pair<std::string, Class>> cases = {
      {"a", Class::kWord},
      {"Z", Class::kWord},
      {"7", Class::kWord},
      {"é", Class::kWord},
      {"Ж", Class::kWord},
      {"ع", Class::kWord},
      {"²", Class::kWord},
      {"①", Class::kWord},
      {"Ａ", Class::kWord},
      {"\xCC\x81", Class::kMark},
      {"\xE0\xA5\x8D", Class::kMark},
      {"漢", Class::kUnspaced},
      {"か", Class::kUnspaced},
      {"カ", Class::kUnspaced},
      {"ー", Class::kUnspaced},
      {"ｦ", Class::kUnspaced},
      {"ﾝ", Class::kUnspaced},
      {"ﾞ", Class::kMark},
      {"\xE1\x84\x92", Class::kUnspaced},  // begins a syllable
      {"\xE1\x85\xA1", Class::kMark},      // goes on in it
      {"\xE1\x86\xAB", Class::kMark},
      {"ㅎ", Class::kWord},
      {"々", Class::kUnspaced},
      {"한", Class::kUnspaced},
      {"ก", Class::kUnspaced},
      {"ລ", Class::kUnspaced},
      {"က", Class::kUnspaced},
      {"ក", Class::kUnspaced},
      {"𠀀", Class::kUnspaced},
      {"'", Class::kApostrophe},
      {"’", Class::kApostrophe},
      {"ʼ", Class::kApostrophe},
      {"＇", Class::kApostrophe},
      {"‐", Class::kConnector},
      {"‑", Class::kConnector},
      {" ", Class::kOther},
      {",", Class::kOther},
      {"?", Class::kOther},
      {"&", Class::kOther},
      {"*", Class::kOther},
      {"😀", Class::kEmoji},
      {"❤", Class::kEmoji},
      {"✅", Class::kEmoji},
      {"⭐", Class::kEmoji},
      {"⌚", Class::kEmoji},
      {"🇩", Class::kEmoji},
      {"\xF0\x9F\xAB\xBF", Class::kEmoji},  // not given a picture yet
      {"→", Class::kOther},
      {"©", Class::kOther},
      {"❨", Class::kOther},
      {"❶", Class::kWord},
      {"—", Class::kOther},
      {"。", Class::kOther},
      {"฿", Class::kOther},
  };
  for (const auto& [character, expected] : cases) {
    EXPECT_EQ(class_of(character), expected) << character;
    EXPECT_EQ(character_at(character, 0).size_bytes, character.size()) << character;
  }
  for (const char c : std::string("_-./\\@:+#~")) {
    EXPECT_EQ(class_of(std::string(1, c)), Class::kConnector) << c;
  }
}

TEST(Characters, WhatIsIgnored) {
  for (const uint32_t ignored :
       {0xADu, 0x34Fu, 0x61Cu, 0x180Bu, 0x180Fu, 0x200Bu, 0x200Du, 0x200Fu, 0x202Au, 0x202Eu,
        0x2060u, 0x206Fu, 0x20D0u, 0x20E3u, 0x20FFu, 0xFE00u, 0xFE0Fu, 0xFEFFu, 0xE0100u, 0xE01EFu,
        // points of Hebrew
        0x591u, 0x5BDu, 0x5BFu, 0x5C1u, 0x5C7u,
        // vowels of Arabic and its stretching line
        0x610u, 0x640u, 0x64Bu, 0x652u, 0x65Fu, 0x670u, 0x6EDu, 0x8FFu,
        // tones of skin
        0x1F3FBu, 0x1F3FFu}) {
    EXPECT_EQ(class_of(utf8(ignored)), Class::kIgnored) << std::hex << ignored;
  }
  for (const uint32_t other :
       {0xACu,   0xAEu,   0x34Eu,  0x350u,   0x61Bu, 0x180Au, 0x2010u, 0x2029u, 0x202Fu,
        0x2070u, 0xFDFFu, 0xFE20u, 0xE01F0u, 0x590u, 0x5BEu,  0x5D0u,  0x641u,  0x64Au,
        0x653u,  0x655u,  0x66Fu,  0x671u,   0x6EEu, 0x900u,  0x1F3FAu}) {
    EXPECT_NE(class_of(utf8(other)), Class::kIgnored) << std::hex << other;
  }
}

TEST(Characters, TheEndHasNoSize) {
  EXPECT_EQ(character_at("", 0).size_bytes, 0u);
  EXPECT_EQ(character_at("ab", 2).size_bytes, 0u);
  EXPECT_EQ(character_at("ab", 99).size_bytes, 0u);
}

TEST(Characters, BytesThatAreNoCharacterSeparateOneByOne) {
  for (const std::string bytes : {"\xFF", "\xC3", "\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80"}) {
    const Character character = character_at(bytes, 0);
    EXPECT_EQ(character.size_bytes, 1u);
    EXPECT_EQ(character.character_class, Class::kOther);
  }
}

TEST(Characters, Folding) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"HeLLo", "hello"},
      {"ÀÉÎõüç", "aeiouc"},
      {"e\xCC\x81", "e"},          // decomposed
      {"o\xCC\x88\xCC\x84", "o"},  // two accents
      {"ấ", "a"},                  // two in one
      {"Straße", "strasse"},
      {"ẞ", "ss"},
      {"İstanbul", "istanbul"},
      {"ısı", "isi"},
      {"ﬁne ﬀ ﬃ", "fine ff ffi"},
      {"Ｆｕｌｌ１２", "full12"},
      {"ŁÓDŹ", "lodz"},
      {"ĐđÐð", "dddd"},
      {"Øø", "oo"},
      {"Ħŧ", "ht"},
      {"Ærœ", "aeroe"},
      {"Þ", "th"},
      {"x²①½",
       "x211\xE2\x81\x84"
       "2"},
      {"ΌΣΟΣ", "οσοσ"},
      {"ς", "σ"},
      {"Й", "й"},  // other scripts keep their marks
      {"Ї", "ї"},
      {"ЁЛКА", "елка"},  // but for what few people type
      {"Е\xCC\x88лка", "елка"},
      {"за\xCC\x81мок", "замок"},
      {"ѝ", "и"},
      {"ѓ", "ѓ"},  // a letter, no stress
      {"أحمد", "احمد"},
      {"ا\xD9\x94حمد", "احمد"},
      {"إآٱ", "ااا"},
      {"ﻷ", "لا"},
      {"ؤئ", "ؤئ"},
      {"مُحَمَّد", "محمد"},
      {"محـــمد", "محمد"},
      {"یک", "يك"},
      {"على", "علي"},
      {"שָׁלוֹם", "שלום"},
      {"\xEF\xAC\xAA", "ש"},  // with its point, as one character
      {"и\xCC\x86", "й"},     // composed
      {"И\xCC\x86", "й"},     // and folded
      {"Ａ\xCC\x81", "a"},
      {"が", "が"},
      {"ｶﾞ", "ガ"},
      {"ﾊﾟ", "パ"},
      {"か\xE3\x82\x99", "が"},
      {"か\xE3\x82\x9A", "か\xE3\x82\x9A"},  // nothing is made of these
      {"한", "한"},
      {"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "한"},
      {"ㅎㅏㄴ", "ㅎㅏㄴ"},  // letters that stand by themselves
      {"ㄱㆎ", "ㄱㆎ"},      // the first and the last of these
      {"हिन्दी", "हिन्दी"},
      {"۸۴۴۳", "8443"},  // digits of Persian, of Devanagari, Thai and Burmese
      {"८४४३", "8443"},
      {"๑๒๐", "120"},
      {"၂၀၂၆", "2026"},
      {"٠", "0"},  // the first and the last of a script
      {"٩", "9"},
      {"߉", "9"},
      {"四", "四"},  // numerals that are words
      {"Ⅷ", "viii"},
      {"co\xC2\xADop", "coop"},
      {"a\xEF\xB8\x8F", "a"},
      {"😀", "😀"},
  };
  for (const auto& [word, expected] : cases) EXPECT_EQ(folded(word), expected) << word;
}

TEST(Characters, OfScriptsWithoutSpaces) {
  for (const auto text : {"東", "a東", "東京", "ก"}) EXPECT_TRUE(has_unspaced(text)) << text;
  for (const auto text : {"", "a", "é", "Ж", "。"}) EXPECT_FALSE(has_unspaced(text)) << text;
  for (const auto word : {"東", "ก", "𠀀", "か\xE3\x82\x9A"})
    EXPECT_TRUE(is_lone_unspaced(word)) << word;
  for (const auto word : {"", "東京", "a", "東a", "é"})
    EXPECT_FALSE(is_lone_unspaced(word)) << word;
}

TEST(Characters, MarksWithoutEndAreComposedInTheFirstBytes) {
  std::string marks;
  for (int i = 0; i < 100'000; ++i) marks += i % 2 == 0 ? "\xD6\xB0" : "\xD6\xAD";  // two classes
  std::string word = "и\xCC\x86" + marks;
  std::string composed = word;
  compose(0, &composed);
  EXPECT_EQ(composed.size(), word.size() - 2);
  EXPECT_TRUE(composed.starts_with("й"));
  EXPECT_EQ(composed.substr(kComposedBytesMax), word.substr(kComposedBytesMax + 2));
  std::string behind = "и\xCC\x86 и\xCC\x86";
  compose(5, &behind);
  EXPECT_EQ(behind, "и\xCC\x86 й") << "only from there";
}

TEST(Characters, DigitsAreOfNoScriptWithoutSpaces) {
  for (const std::string_view digit : {"๐", "໐", "໙", "၀", "၉", "႐", "႙", "០", "៩"}) {
    EXPECT_EQ(character_at(digit, 0).character_class, CharacterClass::kWord) << digit;
  }
  for (const std::string_view letter : {"ก", "ໆ", "ໜ", "ဿ", "ၐ", "ႎ", "ក"}) {
    EXPECT_EQ(character_at(letter, 0).character_class, CharacterClass::kUnspaced) << letter;
  }
}

TEST(Characters, ALoneAccentStays) { EXPECT_EQ(folded("\xCC\x81"), "\xCC\x81"); }

TEST(Characters, FoldingAFoldedWordChangesNothing) {
  for (uint32_t code_point = 1; code_point < 0x30000; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    std::string character;
    append_utf8(code_point, &character);
    const std::string once = folded(character);
    ASSERT_EQ(folded(once), once) << std::hex << code_point;
  }
}

TEST(Characters, CodePointsAsBytes) {
  const std::vector<std::pair<uint32_t, std::string>> cases = {
      {'a', "a"}, {0x7FF, "\xDF\xBF"}, {0x20AC, "\xE2\x82\xAC"}, {0x10FFFF, "\xF4\x8F\xBF\xBF"}};
  for (const auto& [code_point, bytes] : cases) {
    std::string out = "x";
    append_utf8(code_point, &out);
    EXPECT_EQ(out, "x" + bytes);
  }
}

TEST(Characters, AccentsAreDroppedFromLatinAndGreek) {
  for (const uint32_t letter : {0x41u, 0xE9u, 0x24Fu, 0x3B1u, 0x1E00u, 0x1FFFu}) {
    EXPECT_TRUE(drops_mark(letter, 0x300) && drops_mark(letter, 0x36F)) << letter;
    EXPECT_FALSE(drops_mark(letter, 0x2FF) || drops_mark(letter, 0x370)) << letter;
  }
  for (const uint32_t letter : {0x250u, 0x36Fu, 0x400u, 0x438u, 0x1DFFu, 0x2000u, 0x304Bu}) {
    EXPECT_FALSE(drops_mark(letter, 0x306)) << letter;
  }
}

TEST(Characters, TheStressOfCyrillicVowelsTheDotsOfYoAndTheHamzaOfAlefAreDropped) {
  EXPECT_TRUE(drops_mark(0x430, 0x300) && drops_mark(0x44F, 0x301) && drops_mark(0x435, 0x308));
  EXPECT_FALSE(drops_mark(0x433, 0x301) || drops_mark(0x43A, 0x301)) << "letters of Macedonian";
  EXPECT_FALSE(drops_mark(0x456, 0x308) || drops_mark(0x435, 0x306)) << "yi, and Chuvash";
  EXPECT_TRUE(drops_mark(0x627, 0x653) && drops_mark(0x627, 0x655));
  EXPECT_FALSE(drops_mark(0x627, 0x652) || drops_mark(0x627, 0x656) || drops_mark(0x648, 0x654));
}

TEST(Characters, TheLastOfAText) {
  EXPECT_EQ(last_character("").size_bytes, 0u);
  EXPECT_EQ(last_character("a").code_point, 'a');
  EXPECT_EQ(last_character("aé").code_point, 0xE9u);
  EXPECT_EQ(last_character("😀").size_bytes, 4u);
}

}  // namespace
}  // namespace varve::text
