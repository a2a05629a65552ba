// Texts with very many words, wildcards and phrases: what they cost, and what is refused.
#include <gtest/gtest.h>

#include <ctime>
#include <string>
#include <utility>

#include "query/text_lookup.h"
#include "query/text_plan.h"
#include "query_fixture.h"
#include "text/characters.h"

namespace varve::query {
namespace {

class ManyWords : public ::testing::Test {
 protected:
  ManyWords() : log_(plain_words()) {
    log_.add(R"({"id":"last","type":"finding","content":"zebra zeb"})");
    log_.add(R"({"id":"first","type":"finding","content":"zebras antelope"})");
  }
  // `count` different ones in front of `last`.
  static std::string text_of(size_t count, const std::string& before, const std::string& behind,
                             const std::string& last) {
    std::string text;
    for (size_t i = 0; i < count; ++i) text += before + "no" + std::to_string(i) + behind + " ";
    return text + last;
  }
  Result<TextPlan> plan(const std::string& text) {
    return plan_text(parse_text(text), log_.index(), log_.analyzer());
  }
  QueryLog log_;
};

TEST_F(ManyWords, WhatIsSaidTwiceIsAskedOnce) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "+zebra -none zeb* \"zebra zeb\" ";
  const auto planned = plan(text);
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(planned->required.size(), 1u);
  EXPECT_EQ(planned->excluded.size(), 1u);
  EXPECT_EQ(planned->checks.size(), 1u);
  EXPECT_EQ(planned->terms.size(), 3u) << "zebra, zeb and zeb*";
}

TEST_F(ManyWords, OfRankedWildcardsTheFirstAreWildcards) {
  const auto has_wildcard = [&](size_t others) {
    const auto planned = plan(text_of(others, "", "*", "zeb*"));
    EXPECT_TRUE(planned.ok());
    return planned->terms.at(0).text == "zeb*";
  };
  EXPECT_TRUE(has_wildcard(kSearchesMax - 1));
  EXPECT_FALSE(has_wildcard(kSearchesMax)) << "a plain word";
  EXPECT_EQ(plan(text_of(kSearchesMax, "", "*", "zeb*"))->terms.at(0).rows.count(), 1u);
}

TEST_F(ManyWords, OfRankedPhrasesTheFirstAreLookedFor) {
  const auto planned = plan(text_of(kSearchesMax + 10, "\"", "\"", "zebra"));
  ASSERT_TRUE(planned.ok());
  EXPECT_EQ(planned->checks.size(), kSearchesMax);
}

// To leave one out would find more than was asked for, which may be there to be deleted.
TEST_F(ManyWords, WhatMustOrMustNotBeThereIsRefusedInstead) {
  for (const std::string& text :
       {text_of(kSearchesMax, "+", "*", "+zeb*"), text_of(kSearchesMax, "-", "*", "-zeb*"),
        text_of(kSearchesMax, "-\"", "\"", "-\"zebra zeb\""),
        text_of(kSearchesMax, "\"", "\"", "\"zebra zeb\"")}) {
    const auto planned = plan(text);
    ASSERT_EQ(planned.code(), Code::kInvalidArgument) << text.substr(0, 20);
    EXPECT_EQ(planned.status().place().member, "text");
    EXPECT_NE(planned.status().message().find("256"), std::string::npos);
  }
  EXPECT_TRUE(plan(text_of(kSearchesMax - 1, "-", "*", "-zeb*")).ok());
  // Each entry's text would be looked through for both.
  EXPECT_TRUE(plan(text_of(kSearchesMax - 1, "-\"", "\"", "-\u6f22*\u5b57")).ok());
  EXPECT_EQ(plan(text_of(kSearchesMax, "-\"", "\"", "-\u6f22*\u5b57")).code(),
            Code::kInvalidArgument);
  EXPECT_TRUE(plan(text_of(10'000, "-", "", "-zebra")).ok()) << "words cost a look-up each";
}

TEST_F(ManyWords, TheMessageIsNotAsLongAsWhatIsTooMuch) {
  std::string long_phrase = "-\"zebra";
  for (int i = 0; i < 10'000; ++i) long_phrase += " zeb";
  const auto planned = plan(text_of(kSearchesMax, "-\"", "\"", long_phrase + "\""));
  ASSERT_EQ(planned.code(), Code::kInvalidArgument);
  EXPECT_LT(planned.status().message().size(), 300u);
  EXPECT_TRUE(planned.status().message().starts_with("'zebra zeb zeb"));
}

// `count` different characters of Chinese, each between the two.
std::string characters(size_t count, const std::string& before, const std::string& behind) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    text += before;
    text::append_utf8(static_cast<uint32_t>(0x4E00 + i), &text);
    text += behind;
  }
  return text;
}

TEST_F(ManyWords, OfLoneCharactersTheFirstRank) {
  EXPECT_TRUE(plan(characters(kSearchesMax + 1, "", " ")).ok());
  EXPECT_EQ(plan(characters(kSearchesMax + 1, "+", " ")).code(), Code::kInvalidArgument);
}

// However they are asked for: what ranks is never refused.
TEST_F(ManyWords, OfLoneCharactersInPhrasesAndWildcardsTheFirstAreLookedFor) {
  for (const auto& [before, behind] : {std::pair("", "* "), {"\"", "\" "}, {"", "*a "}}) {
    const std::string others = characters(kSearchesMax + 1, before, behind);
    const auto planned = plan(others + "zebra");
    ASSERT_TRUE(planned.ok()) << planned.status().message();
    ASSERT_EQ(planned->terms.size(), 1u) << others.substr(0, 10);
    EXPECT_EQ(planned->terms[0].text, "zebra");
    const auto question =
        plan_text(parse_question(others + "zebra"), log_.index(), log_.analyzer());
    EXPECT_TRUE(question.ok()) << question.status().message();
    const std::string sign = "+";
    EXPECT_EQ(plan(characters(kSearchesMax + 1, sign + before, behind)).code(),
              Code::kInvalidArgument);
  }
}

// As in quotes, where nothing stands between words of several scripts.
TEST_F(ManyWords, PhrasesOfWhatTouchesAreCounted) {
  std::string phrases;
  for (size_t i = 0; i < kSearchesMax; ++i) phrases += "\u6771" + std::to_string(i) + ",";
  ASSERT_TRUE(plan("-" + phrases).ok());
  EXPECT_EQ(plan("-" + phrases)->checks.at(0).phrases.size(), kSearchesMax);
  const auto refused = plan("-" + phrases + "\u6771zebra,\u6771zeb");
  ASSERT_EQ(refused.code(), Code::kInvalidArgument);
  EXPECT_TRUE(refused.status().message().starts_with("'\u6771 zebra' is one more"));
  EXPECT_TRUE(plan("-" + phrases + phrases).ok()) << "what is said twice counts once";
}

// Each is as long as the text has words, until it is known to be the same.
TEST_F(ManyWords, WhatTouchesVeryOftenIsReadInOnePass) {
  std::string text = "+";
  for (int i = 0; i < 300'000; ++i) text += "zebra\u6771,";
  const auto planned = plan(text);
  ASSERT_TRUE(planned.ok());
  ASSERT_EQ(planned->checks.size(), 1u);
  EXPECT_EQ(planned->checks[0].phrases.size(), 1u);
  EXPECT_EQ(planned->required.size(), 2u);
}

TEST_F(ManyWords, ManyExclusionsExcludeTheRowsOfEach) {
  EXPECT_EQ(log_.all_ids(R"({"text":")" + text_of(3000, "-", "", "-zeb") + R"("})"), "first");
  EXPECT_EQ(log_.all_ids(R"({"text":")" + text_of(3000, "-", "", "-zeb -antelope") + R"("})"), "");
}

// An entry is looked for in the list of each word once for all results, not once for each of them.
TEST(ManyResults, OfManyWordsCostAsMuchInEveryOrder) {
  QueryLog log(plain_words());
  std::string text;
  for (int i = 0; i < 8000; ++i) text += "w" + std::to_string(i) + " ";
  for (int i = 0; i < 16'000; ++i) {
    log.add(R"({"type":"finding","content":"w)" + std::to_string(i % 8000) + " w" +
            std::to_string(i * 7 % 8000) + "\"}");
  }
  const auto seconds_of = [&](const std::string& order) {
    const std::string asked = R"({"text":")" + text + R"(","limit":20000,"sort_by":")" + order;
    const std::clock_t begin = std::clock();
    EXPECT_EQ(log.answer(asked + "\"}").hits.size(), 16'000u);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const double by_match = seconds_of("match");
  for (const char* order : {"time", "relevance", "best"}) {
    EXPECT_LT(seconds_of(order), 8 * by_match + 0.5) << order;
  }
}

}  // namespace
}  // namespace varve::query
