#include "text/wildcard.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <tuple>
#include <vector>

namespace varve::text {
namespace {

bool matches(std::string_view pattern, std::string_view word) {
  const auto wildcard = Wildcard::parse(pattern);
  EXPECT_TRUE(wildcard.has_value()) << pattern;
  return wildcard && wildcard->matches(word);
}

TEST(Wildcard, Matching) {
  const std::vector<std::tuple<std::string, std::string, bool>> cases = {
      {"", "", true},
      {"", "a", false},
      {"a", "a", true},
      {"a", "", false},
      {"a", "aa", false},
      {"abc", "abc", true},
      {"abc", "abd", false},
      {"*", "", true},
      {"*", "anything", true},
      {"**", "", true},
      {"**", "ab", true},
      {"?", "", false},
      {"?", "a", true},
      {"?", "ab", false},
      {"??", "ab", true},
      {"?", "é", true},
      {"?", "😀", true},
      {"a*", "a", true},
      {"a*", "abc", true},
      {"a*", "ba", false},
      {"*a", "a", true},
      {"*a", "bca", true},
      {"*a", "ab", false},
      {"*a*", "bab", true},
      {"*a*", "bbb", false},
      {"a*c", "ac", true},
      {"a*c", "abbbc", true},
      {"a*c", "abcb", false},
      {"a*b*c", "axxbxxc", true},
      {"a*b*c", "axxcxxb", false},
      {"a?c", "abc", true},
      {"a?c", "ac", false},
      {"a?*", "a", false},
      {"a?*", "ab", true},
      {"*?", "", false},
      {"*?", "x", true},
      {"?*?", "x", false},
      {"?*?", "xy", true},
      {"*aab", "aaaab", true},
      {"*abab", "ababab", true},
      {"*ab*ab", "abab", true},
      {"*ab*ab", "aab", false},
      {"caf?", "café", true},
      {"東*", "東京", true},
      {"*京", "東京", true},
      {"pr-*", "pr-1234", true},
      // Segments, also within a longer word.
      {"src/*.c", "src/main.c", true},
      {"src/*.c", "app/src/main.c", true},
      {"src/*.c", "app/src/main.c:42", true},
      {"src/*.c", "app/src/main.cpp", false},
      {"src/*.c", "mysrc/main.c", false},
      {"src/main.c", "a/b/src/main.c/d", true},
      {"src/main.c", "a/src/main.cc", false},
      {"src/main.c", "src/main.c", true},
      {"a/b", "a/a/b", true},
      {"a/b", "a/bb/a/b", true},
      {"a/b", "xa/b", false},
      {"x@y", "a:x@y#z", true},
      {"main.*", "app/main.c", false},
  };
  for (const auto& [pattern, word, expected] : cases) {
    EXPECT_EQ(matches(pattern, word), expected) << pattern << " on " << word;
  }
}

TEST(Wildcard, PrefixOfOneWithSegmentsIsNone) {
  EXPECT_EQ(Wildcard::parse("src/ma*")->prefix(), "");
  EXPECT_EQ(Wildcard::parse("src.ma*")->prefix(), "src.ma");
}

// The plainest meaning there is; exponential, for short words only.
bool matches_slowly(std::string_view pattern, std::string_view word) {
  if (pattern.empty()) return word.empty();
  if (pattern[0] == '*') {
    return matches_slowly(pattern.substr(1), word) ||
           (!word.empty() && matches_slowly(pattern, word.substr(1)));
  }
  return !word.empty() && (pattern[0] == '?' || pattern[0] == word[0]) &&
         matches_slowly(pattern.substr(1), word.substr(1));
}

TEST(Wildcard, AgreesWithThePlainestMeaning) {
  std::mt19937 generator(7);
  const auto random_text = [&](std::string_view letters, size_t length_max) {
    std::string text(generator() % (length_max + 1), ' ');
    for (char& c : text) c = letters[generator() % letters.size()];
    return text;
  };
  for (int round = 0; round < 20'000; ++round) {
    const std::string pattern = random_text("ab*?", 7);
    const std::string word = random_text("ab", 9);
    ASSERT_EQ(matches(pattern, word), matches_slowly(pattern, word)) << pattern << " on " << word;
  }
}

TEST(Wildcard, IsLinearForThePatternThatBacktrackersDieOf) {
  const std::string letters(350'000, 'a');
  EXPECT_FALSE(matches("*a*a*a*a*b", letters));
  EXPECT_TRUE(matches("*a*a*a*a*b", letters + "b"));
  std::string many;
  for (int i = 0; i < 62; ++i) many += "*a";
  EXPECT_FALSE(matches(many + "*b", letters));
  EXPECT_TRUE(matches(many + "*", letters));
}

// Whether a match begins at one of the characters `begins` marks with 1, and ends anywhere.
bool matches_from(std::string_view pattern, std::string_view word, std::string_view begins) {
  const Wildcard wildcard = *Wildcard::parse(pattern);
  Wildcard::State state = 0;
  for (size_t i = 0; i < word.size(); ++i) {
    if (begins[i] == '1') state |= Wildcard::kBegin;
    state = wildcard.step(state, static_cast<uint8_t>(word[i]));
    if (wildcard.is_match(state)) return true;
  }
  return false;
}

TEST(Wildcard, StepByStepItBeginsWhereItIsTold) {
  EXPECT_TRUE(matches_from("bc", "abcd", "0100"));
  EXPECT_FALSE(matches_from("bc", "abcd", "1011"));
  EXPECT_TRUE(matches_from("aab", "aaab", "1100")) << "both beginnings are followed";
  EXPECT_TRUE(matches_from("a*d", "xaxxd", "01000"));
  EXPECT_FALSE(matches_from("a*d", "xaxxd", "10111"));
  EXPECT_FALSE(matches_from("a", "aaa", "000"));
}

TEST(Wildcard, TakesSixtyThreeCharacters) {
  const std::string longest(63, 'x');
  EXPECT_TRUE(matches(longest, longest));
  EXPECT_FALSE(matches(longest, longest.substr(1)));
  EXPECT_FALSE(matches(longest, longest + "x"));
  EXPECT_TRUE(matches(longest + "*", longest + "tail")) << "a star is none of them";
  EXPECT_TRUE(matches("*" + longest, "head" + longest));
  EXPECT_TRUE(matches(std::string(63, '?'), std::string(63, 'q')));
  EXPECT_FALSE(Wildcard::parse(longest + "x").has_value());
  EXPECT_FALSE(Wildcard::parse(longest + "?").has_value());
  EXPECT_FALSE(Wildcard::parse(std::string(64, '?')).has_value());
  std::string wide;
  for (int i = 0; i < 63; ++i) wide += "é";
  EXPECT_TRUE(matches(wide, wide)) << "characters, not bytes";
  EXPECT_FALSE(Wildcard::parse(wide + "é").has_value());
}

TEST(Wildcard, PatternsThatAreNotUtf8AreNone) {
  for (const auto pattern : {"\xFF", "a\xC3", "a*\x80"}) {
    EXPECT_FALSE(Wildcard::parse(pattern).has_value());
  }
}

TEST(Wildcard, Prefix) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ""},     {"abc", "abc"}, {"abc*", "abc"}, {"ab*c", "ab"},     {"ab?c", "ab"},
      {"*abc", ""}, {"?abc", ""},   {"é*", "é"},     {"東京*x", "東京"}, {"a?*b", "a"}};
  for (const auto& [pattern, prefix] : cases) {
    EXPECT_EQ(Wildcard::parse(pattern)->prefix(), prefix) << pattern;
  }
}

}  // namespace
}  // namespace varve::text
