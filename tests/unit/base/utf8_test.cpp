#include "base/utf8.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace varve {
namespace {

// An independent definition: encode, then ask whether the bytes are one of the encodings.
std::string encode(uint32_t code_point) {
  const auto byte = [](uint32_t bits) { return static_cast<char>(static_cast<uint8_t>(bits)); };
  const auto tail = [&](uint32_t shift) { return byte(0x80 | ((code_point >> shift) & 0x3F)); };
  if (code_point < 0x80) return {byte(code_point)};
  if (code_point < 0x800) return {byte(0xC0 | code_point >> 6), tail(0)};
  if (code_point < 0x10000) return {byte(0xE0 | code_point >> 12), tail(6), tail(0)};
  return {byte(0xF0 | code_point >> 18), tail(12), tail(6), tail(0)};
}

TEST(Utf8, EveryCodePointIsReadBackExceptSurrogates) {
  for (uint32_t code_point = 0; code_point <= 0x110010; ++code_point) {
    const std::string text = encode(code_point);
    std::string_view rest = text;
    const bool is_scalar = code_point <= 0x10FFFF && (code_point < 0xD800 || code_point > 0xDFFF);
    const auto taken = take_code_point(rest);
    ASSERT_EQ(taken.has_value(), is_scalar) << code_point;
    ASSERT_EQ(find_invalid_utf8(text).has_value(), !is_scalar) << code_point;
    if (is_scalar) {
      ASSERT_EQ(*taken, code_point);
      ASSERT_TRUE(rest.empty());
    }
  }
}

TEST(Utf8, NamesTheFirstMalformedByte) {
  const struct {
    std::string text;
    size_t at;
  } cases[] = {
      {"\x80", 0},              // a continuation byte alone
      {"ab\xC3", 2},            // cut
      {"ab\xE2\x82", 2},        // cut
      {"ab\xF0\x9F\x98", 2},    // cut
      {"\xC0\xAF", 0},          // overlong
      {"\xC1\xBF", 0},          // overlong
      {"\xE0\x80\xAF", 0},      // overlong
      {"\xF0\x80\x80\xAF", 0},  // overlong
      {"x\xED\xA0\x80", 1},     // surrogate
      {"x\xED\xBF\xBF", 1},     // surrogate
      {"\xF4\x90\x80\x80", 0},  // above U+10FFFF
      {"\xF5\x80\x80\x80", 0},
      {"12345678\xFF"
       "12345678",
       8},  // behind a whole word of ASCII
      {"12345678é\xFE", 10},
      {"\xC3(", 0},
      {"\xE2\x82(", 0},
      {"\xF0\x9F\x98(", 0},
  };
  for (const auto& test : cases) EXPECT_EQ(find_invalid_utf8(test.text), test.at) << test.text;
  EXPECT_EQ(find_invalid_utf8(""), std::nullopt);
  EXPECT_EQ(find_invalid_utf8("plain text, then é, €, 😀 and more text"), std::nullopt);
}

TEST(Utf8, OfATextThatIsNotWellFormedTheRestIsKept) {
  EXPECT_EQ(well_formed_utf8("tea \xC3\xA9"), "tea \xC3\xA9");
  EXPECT_EQ(well_formed_utf8(""), "");
  EXPECT_EQ(well_formed_utf8("\xFF"
                             "a\xC3"),
            "\xEF\xBF\xBD"
            "a\xEF\xBF\xBD");
  EXPECT_EQ(well_formed_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Utf8, TakeCodePointStopsAtTheEndAndAtMalformedBytes) {
  std::string_view text = "é😀\xFF";
  EXPECT_EQ(take_code_point(text), 0xE9u);
  EXPECT_EQ(take_code_point(text), 0x1F600u);
  EXPECT_EQ(take_code_point(text), std::nullopt);
  EXPECT_EQ(text, "\xFF");
  text = {};
  EXPECT_EQ(take_code_point(text), std::nullopt);
}

TEST(Utf8, ACutTextHasNoPartOfACharacter) {
  EXPECT_EQ(cut_utf8("", 0), "");
  EXPECT_EQ(cut_utf8("tea", 0), "");
  EXPECT_EQ(cut_utf8("tea", 3), "tea");
  EXPECT_EQ(cut_utf8("\xF0\x90\x8D\x88", 3), "");
  for (size_t before = 120; before <= 128; ++before) {
    const std::string head(before, 'a');
    const std::string text = head +
                             "\xF0\x90\x8D\x88"
                             "tail behind";
    const std::string expected = before <= 124 ? text.substr(0, 128) : head;
    EXPECT_EQ(cut_utf8(text, 128), expected) << before;
  }
}

TEST(Utf8, WordCharactersAreLettersMarksAndDigits) {
  for (const uint32_t c : {0x41u, 0x7Au, 0x30u, 0xE9u, 0x301u, 0x905u, 0x94Du, 0x661u, 0x2167u,
                           0x65E5u, 0xAC00u, 0x10437u, 0x20000u}) {
    EXPECT_TRUE(is_word_character(c)) << std::hex << c;
  }
  for (const uint32_t c : {0x00u, 0x20u, 0x5Fu, 0x2Eu, 0x24u, 0xA0u, 0x2014u, 0x20ACu, 0x1F600u,
                           0xE000u, 0xD800u, 0x110000u, 0xFFFFFFFFu}) {
    EXPECT_FALSE(is_word_character(c)) << std::hex << c;
  }
}

}  // namespace
}  // namespace varve
