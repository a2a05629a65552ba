#include "text/token_estimate.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace varve::text {
namespace {

TEST(TokenEstimate, FollowsItsTable) {
  struct Case {
    const char* text;
    uint64_t tokens;
  };
  const Case cases[] = {
      {"", 0},         {"word", 1},    {"lengthy", 1},    {"eightlet", 2}, {"two words", 2},
      {"Capital", 1},  {"HTTP", 2},    {"HTTPServer", 3},  // HTTP less its last, Server with it
      {"123", 1},      {"1234567", 3}, {"...", 2},        {"a, b", 3},     {"a  b", 3},
      {"a\n\nb", 3},   {" ", 0},       {"\t", 1},         {"é", 1},        {"naïve", 3},
      {"东京", 3},     {"东京都", 5},  {"’", 2},          {"🙂", 3},     {"\x80", 1},
      {"\xff\xff", 6},
  };
  for (const Case& one : cases) EXPECT_EQ(estimate_tokens(one.text), one.tokens) << one.text;
  EXPECT_EQ(estimate_tokens(std::string_view("\0\0a", 3)), 2U);
}

// A context is made of lines, so what fits line by line fits whole.
TEST(TokenEstimate, ATextIsNeverMoreThanItsLines) {
  std::mt19937 random(3);
  static constexpr std::string_view kParts[] = {"a", "Z",  "9",    ".",  " ",   "\n",
                                                "é", "京", "🙂", "\t", "xyz", "AB"};
  for (int round = 0; round < 20000; ++round) {
    std::string left;
    std::string right;
    for (size_t n = random() % 12; n > 0; --n) left += kParts[random() % std::size(kParts)];
    for (size_t n = random() % 12; n > 0; --n) right += kParts[random() % std::size(kParts)];
    left += '\n';
    ASSERT_LE(estimate_tokens(left + right), estimate_tokens(left) + estimate_tokens(right))
        << left << "|" << right;
  }
}

TEST(TokenEstimate, LinesThatCountAloneAddUp) {
  std::mt19937 random(4);
  size_t alone = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string left;
    std::string right;
    for (size_t n = random() % 12; n > 0; --n) left += static_cast<char>(random());
    for (size_t n = random() % 12; n > 0; --n) right += static_cast<char>(random());
    left += '\n';
    const uint64_t sum = estimate_tokens(left) + estimate_tokens(right);
    if (!counts_alone(right)) {
      ASSERT_LT(estimate_tokens(left + right), sum);
      continue;
    }
    ASSERT_EQ(estimate_tokens(left + right), sum);
    alone += 1;
  }
  EXPECT_GT(alone, 10000U);
}

}  // namespace
}  // namespace varve::text
