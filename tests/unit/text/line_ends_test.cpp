#include "text/line_ends.h"

#include <gtest/gtest.h>

#include <string>

namespace varve::text {
namespace {

std::string indented(std::string_view text) {
  std::string out;
  append_indented(text, "--", &out);
  return out;
}

constexpr std::string_view kLineEnds[] = {"\n",       "\r",           "\r\n",        "\v",
                                          "\f",       "\x1c",         "\x1d",        "\x1e",
                                          "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};

TEST(LineEnds, EveryOneIsIndented) {
  for (const auto end : kLineEnds) {
    for (const std::string before : {"", "a", "longer than eight bytes", "1234567"}) {
      const std::string text = before + std::string(end) + "b";
      EXPECT_EQ(indented(text), before + "\n--b") << text;
      EXPECT_FALSE(is_one_line(text)) << text;
      EXPECT_EQ(make_one_line(text), before + " b") << text;
    }
  }
  EXPECT_EQ(indented("a\n\nb\n"), "a\n--\n--b\n--");
}

TEST(LineEnds, OtherTextStaysAsItIs) {
  for (const std::string text : {"", "a", "naïve “text” ©, longer than eight bytes", "\xe2\x80"}) {
    EXPECT_EQ(indented(text), text);
    EXPECT_TRUE(is_one_line(text)) << text;
    EXPECT_EQ(make_one_line(text), text);
  }
  EXPECT_EQ(indented("a\tb"), "a\tb");
}

TEST(LineEnds, OtherControlsAreNoneButNoneOfALineEither) {
  EXPECT_FALSE(is_one_line("a\tb"));
  EXPECT_FALSE(is_one_line("a\x7f"));
  EXPECT_EQ(make_one_line(std::string_view("a\0\tb", 4)), "a  b");
}

}  // namespace
}  // namespace varve::text
