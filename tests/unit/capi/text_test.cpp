#include "capi/text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace varve::capi {
namespace {

TEST(TextIn, TakesWhatTheLengthSays) {
  const auto text = text_in("abcdef", 3, "id");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "abc");
}

TEST(TextIn, TakesANulTerminatedText) {
  const auto text = text_in("abc", VARVE_NUL_TERMINATED, "id");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "abc");
}

TEST(TextIn, KeepsNulBytesInsideTheLength) {
  const auto text = text_in("a\0b", 3, "id");
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, std::string_view("a\0b", 3));
}

TEST(TextIn, NullWithLengthZeroIsEmpty) {
  for (const auto check : {json_in, optional_json_in, text_in, optional_text_in}) {
    const auto text = check(nullptr, 0, "id");
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(*text, "");
  }
}

TEST(TextIn, RefusesNullWithALength) {
  for (const auto check : {json_in, optional_json_in, text_in, optional_text_in}) {
    const auto text = check(nullptr, 5, "id");
    EXPECT_EQ(text.code(), Code::kInvalidArgument);
    EXPECT_EQ(text.status().place().member, "id");
    EXPECT_EQ(text.status().message(), "id is NULL, but its length is not 0");
  }
}

TEST(TextIn, NullAndNulTerminatedIsEmptyForOptionalTextsOnly) {
  EXPECT_TRUE(optional_json_in(nullptr, VARVE_NUL_TERMINATED, "config_json").ok());
  EXPECT_TRUE(optional_text_in(nullptr, VARVE_NUL_TERMINATED, "reason").ok());
  EXPECT_EQ(json_in(nullptr, VARVE_NUL_TERMINATED, "entry_json").code(), Code::kInvalidArgument);
  EXPECT_EQ(text_in(nullptr, VARVE_NUL_TERMINATED, "id").code(), Code::kInvalidArgument);
}

TEST(TextIn, RefusesLengthsNoTextCanHave) {
  for (const size_t len : {SIZE_MAX - 1, SIZE_MAX / 2 + 1}) {
    EXPECT_EQ(json_in("x", len, "entry_json").code(), Code::kInvalidArgument) << len;
    EXPECT_EQ(text_in("x", len, "id").code(), Code::kInvalidArgument) << len;
  }
}

TEST(TextIn, NamesTheByteThatIsNotUtf8) {
  const auto text = text_in("ab\xFFz", 4, "reason");
  EXPECT_EQ(text.code(), Code::kInvalidArgument);
  EXPECT_EQ(text.status().place().offset, 2U);
  EXPECT_EQ(text.status().message(), "reason is not valid UTF-8 at byte 2");
}

TEST(TextIn, LeavesTheUtf8OfJsonToItsParser) { EXPECT_TRUE(json_in("\xFF", 1, "entry_json").ok()); }

TEST(TextOut, ClearsBothOutsAtOnce) {
  char sign = 'x';
  char* text = &sign;
  size_t len = 99;
  const TextOut out(&text, &len);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(len, 0U);
}

TEST(TextOut, GivesACopyWithANulBehindIt) {
  char* text = nullptr;
  size_t len = 0;
  TextOut out(&text, &len);
  ASSERT_TRUE(out.set(std::string_view("a\0b", 3)).ok());
  EXPECT_EQ(len, 3U);
  EXPECT_EQ(std::string(text, len + 1), std::string("a\0b\0", 4));
  std::free(text);
}

TEST(TextOut, GivesTheEmptyTextAsMemoryToo) {
  char* text = nullptr;
  size_t len = 9;
  TextOut out(&text, &len);
  ASSERT_TRUE(out.set("").ok());
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text[0], '\0');
  EXPECT_EQ(len, 0U);
  std::free(text);
}

TEST(TextOut, EitherOutMayBeNull) {
  char* text = nullptr;
  size_t len = 0;
  ASSERT_TRUE(TextOut(&text, nullptr).set("abc").ok());
  EXPECT_STREQ(text, "abc");
  std::free(text);
  ASSERT_TRUE(TextOut(nullptr, &len).set("abc").ok());
  EXPECT_EQ(len, 3U);
  EXPECT_TRUE(TextOut(nullptr, nullptr).set("abc").ok());
}

TEST(TextOut, ReservedMemoryIsUsedGrownOrGivenBack) {
  for (const size_t reserved : {size_t{1}, size_t{3}, size_t{100}}) {
    char* text = nullptr;
    size_t len = 0;
    {
      TextOut out(&text, &len);
      ASSERT_TRUE(out.reserve(reserved).ok());
      EXPECT_EQ(text, nullptr);  // nothing is given before it is known
      ASSERT_TRUE(out.set("abc").ok());
    }
    EXPECT_STREQ(text, "abc");
    std::free(text);
  }
  char* unused = nullptr;
  {
    TextOut out(&unused, nullptr);
    ASSERT_TRUE(out.reserve(10).ok());  // the leak checker tells whether it is given back
  }
  EXPECT_EQ(unused, nullptr);
}

TEST(TextOut, GivesTheLastTextThatWasBegunPieceByPiece) {
  const std::string pieces(100'000, 'x');
  char* text = nullptr;
  size_t len = 0;
  {
    TextOut out(&text, &len);
    out.begin();
    ASSERT_TRUE(out.append("what was replaced meanwhile").ok());
    out.begin();
    for (const char piece : pieces) ASSERT_TRUE(out.append({&piece, 1}).ok());
    EXPECT_EQ(text, nullptr);
    EXPECT_EQ(len, 0U);  // nothing is given before it is whole
    ASSERT_TRUE(out.give().ok());
  }
  EXPECT_EQ(std::string_view(text, len + 1), pieces + std::string(1, '\0'));
  std::free(text);
}

TEST(TextOut, OfNoPiecesIsTheEmptyTextAndEitherOutMayBeNull) {
  char* text = nullptr;
  size_t len = 9;
  ASSERT_TRUE(TextOut(&text, nullptr).give().ok());
  EXPECT_STREQ(text, "");
  std::free(text);
  TextOut counted(nullptr, &len);
  ASSERT_TRUE(counted.append("abc").ok());
  ASSERT_TRUE(counted.give().ok());
  EXPECT_EQ(len, 3U);
  char* unused = nullptr;
  ASSERT_TRUE(TextOut(&unused, nullptr).append("abc").ok());  // given back: see the leak checker
  EXPECT_EQ(unused, nullptr);
}

TEST(TextOut, PassesAFailureOnAndGivesNothing) {
  char* text = nullptr;
  size_t len = 7;
  TextOut out(&text, &len);
  const Status status = out.set(Result<json::Tree>(Status(Code::kIo, "no")));
  EXPECT_EQ(status.code(), Code::kIo);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(len, 0U);
}

}  // namespace
}  // namespace varve::capi
