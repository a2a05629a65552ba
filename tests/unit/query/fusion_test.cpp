// Reciprocal rank fusion, and queries with a vector on an index.
#include "query/fusion.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "query_fixture.h"

namespace varve::query {
namespace {

TEST(Fusion, IsTheFormula) {
  RankKeys keys;
  keys.text = {1, 3, 2};
  keys.vectors = {0.1, 0.9};
  keys.sort();
  const Fusion fusion(keys, 0.25);
  const FusionParts both = fusion.parts(2.0, 0.9);
  EXPECT_EQ(both.text_rank, 2U);
  EXPECT_EQ(both.vector_rank, 1U);
  EXPECT_DOUBLE_EQ(both.text, 0.75 * 61 / 62);
  EXPECT_DOUBLE_EQ(both.vector, 0.25);
  EXPECT_DOUBLE_EQ(both.score(), 61 * (0.75 / 62 + 0.25 / 61));
  const FusionParts words = fusion.parts(1.0, std::nullopt);
  EXPECT_EQ(words.text_rank, 3U);
  EXPECT_EQ(words.vector_rank, 0U);
  EXPECT_DOUBLE_EQ(words.score(), 61.0 / 63) << "its order is that by words";
  EXPECT_DOUBLE_EQ(fusion.parts(std::nullopt, 0.1).score(), 0.25 * 61 / 62);
  EXPECT_EQ(fusion.parts(std::nullopt, std::nullopt).score(), 0);
  EXPECT_DOUBLE_EQ(fusion.parts(3.0, 0.9).score(), 1) << "first in both";
}

TEST(Fusion, WordsStandForBothOrdersAsFarAsTheyWeigh) {
  RankKeys keys;
  keys.text = {1};
  keys.vectors = {0.9};
  const auto without_vector = [&](double weight) {
    return Fusion(keys, weight).parts(1.0, std::nullopt).score();
  };
  EXPECT_EQ(without_vector(1), 0);
  EXPECT_DOUBLE_EQ(without_vector(0.75), 0.5);
  EXPECT_DOUBLE_EQ(without_vector(0.5), 1);
  EXPECT_DOUBLE_EQ(without_vector(0), 1);
}

TEST(Fusion, EqualKeysShareARankAndTheNextOneIsBehindAllOfThem) {
  RankKeys keys;
  keys.vectors = {0.5, 0.5, 0.5, 0.4};
  keys.sort();
  const Fusion fusion(keys, 1);
  EXPECT_EQ(fusion.parts(std::nullopt, 0.5).vector_rank, 1U);
  EXPECT_EQ(fusion.parts(std::nullopt, 0.4).vector_rank, 4U);
}

TEST(Fusion, KeysOfSeveralSessionsAreOneOrder) {
  RankKeys all;
  RankKeys one;
  one.vectors = {0.9, 0.1};
  one.text = {4};
  RankKeys other;
  other.vectors = {0.5};
  other.text = {7};
  all.add(one);
  all.add(other);
  all.sort();
  EXPECT_EQ(all.vectors, (std::vector<double>{0.9, 0.5, 0.1}));
  EXPECT_EQ(all.text, (std::vector<double>{7, 4}));
}

class VectorQuery : public testing::Test {
 protected:
  VectorQuery() {
    add("tea", "tea is hot", 0.2);
    add("coffee", "coffee is hot", 0.9);
    add("snow", "snow is cold", 0.5);
    add("ice", "ice is cold", -0.3);
    add("plain", "hot hot tea");
  }
  // With a time that rises.
  uint32_t add(const std::string& id, const std::string& content,
               std::optional<double> similarity = {}, const std::string& more = {}) {
    const std::string hour = std::to_string(10 + added_++);
    const uint32_t row =
        log_.add(R"({"id":")" + id + R"(","type":"finding","content":")" + content +
                 R"(","timestamp":"2025-01-01T)" + hour + ":00:00Z\"" + more + "}");
    if (similarity) log_.vectors.push_back({row, *similarity});
    return row;
  }

  int added_ = 0;
  QueryLog log_{plain_words()};
};

TEST_F(VectorQuery, AloneRanksByCosineAndFindsWhatHasAVector) {
  EXPECT_EQ(log_.ids(R"({"vector":[1,2]})"), "coffee snow tea ice");
  EXPECT_EQ(log_.ids(R"({"vector":[1,2],"order":"asc"})"), "ice tea snow coffee");
  EXPECT_EQ(log_.ids(R"({"vector":[1,2],"limit":2})"), "coffee snow");
  const Answer answer = log_.answer(R"({"vector":[1,2]})");
  EXPECT_EQ(answer.hits[0].match_quality, 0.9);
  EXPECT_EQ(answer.hits[3].match_quality, 0) << "a cosine below 0 is no match";
  EXPECT_EQ(answer.hits[0].fusion->similarity, 0.9);
  EXPECT_EQ(answer.hits[0].fusion->vector_rank, 1U);
}

TEST_F(VectorQuery, OtherConditionsFilter) {
  add("tagged", "x", 0.1, R"(,"tags":["t"])");
  add("quiet", "x", 0.95, R"(,"importance":0.1)");
  EXPECT_EQ(log_.ids(R"({"vector":[1],"tags":{"include":["t"]}})"), "tagged");
  EXPECT_EQ(log_.ids(R"({"vector":[1],"min_importance":0.2})"), "coffee snow tea tagged ice");
  EXPECT_EQ(log_.ids(R"({"vector":[1],"ids":["ice","tea"]})"), "tea ice");
  EXPECT_EQ(log_.ids(R"({"vector":[1],"types":["decision"]})"), "");
  EXPECT_EQ(log_.ids(R"({"vector":[1],"text":"-cold is"})"), "coffee tea quiet tagged");
  EXPECT_EQ(log_.ids(R"({"vector":[1],"text":"+cold"})"), "snow ice");
}

TEST_F(VectorQuery, WithWordsRanksAreAdded) {
  // Words: plain and tea are equal, so both are 1. Cosine: coffee 1, snow 2, tea 3. plain has no
  // vector, so it is where words have it.
  const std::string query = R"({"vector":[1],"text":"tea","sort_by":"match")";
  const Answer answer = log_.answer(query + "}");
  ASSERT_EQ(log_.ids_of(answer), "plain tea coffee snow ice");
  const FusionParts& tea = *answer.hits[1].fusion;
  EXPECT_EQ(tea.vector_rank, 3U);
  EXPECT_EQ(tea.text_rank, 1U);
  EXPECT_DOUBLE_EQ(tea.vector, 0.5 * 61 / 63);
  EXPECT_DOUBLE_EQ(answer.hits[1].match_quality, tea.score());
  EXPECT_FALSE(answer.hits[0].fusion->similarity.has_value());
  EXPECT_EQ(answer.hits[0].match_quality, 1);
}

// As where vectors are made later than entries, or only for some types: being far down in both
// orders is no better than being the best match of the words and never compared.
TEST_F(VectorQuery, TheBestMatchOfWordsStaysFirstWithoutAVector) {
  for (int i = 0; i < 8; ++i) add("far" + std::to_string(i), "hot snow x", 0.1 - i * 0.01);
  const std::string query = R"({"text":"hot tea","sort_by":"match")";
  const std::string best = log_.ids(query + R"(,"limit":1})");
  ASSERT_EQ(best, "plain");
  EXPECT_EQ(log_.ids(query + R"(,"limit":1,"vector":[1]})"), best);
}

TEST_F(VectorQuery, WordsThatNobodyHasLeaveTheVectorAlone) {
  EXPECT_EQ(log_.ids(R"({"vector":[1],"text":"zebra"})"), "coffee snow tea ice");
  EXPECT_EQ(log_.ids(R"({"vector":[1],"text":"+zebra"})"), "") << "that must be there";
  EXPECT_EQ(log_.ids(R"({"text":"zebra"})"), "");
  EXPECT_EQ(log_.ids(R"({"vector":[1],"text":"zebra -hot"})"), "snow ice");
  EXPECT_EQ(log_.ids(R"({"vector":[1],"text":"zebra -\"is hot\""})"), "snow ice");
}

TEST_F(VectorQuery, ExclusionsAreNoWordsToJoinItWith) {
  for (const std::string weight : {"", R"(,"vector_weight":0)"}) {
    const Answer answer = log_.answer(R"({"vector":[1],"text":"-cold")" + weight + "}");
    ASSERT_EQ(log_.ids_of(answer), "coffee tea");
    EXPECT_FALSE(answer.fuses);
    EXPECT_EQ(answer.hits[0].place.key, 0.9);
    EXPECT_EQ(answer.hits[0].match_quality, 0.9) << "the cosine";
    EXPECT_EQ(answer.hits[1].match_quality, 0.2);
  }
  EXPECT_TRUE(log_.answer(R"({"vector":[1],"text":"-cold hot"})").fuses);
}

TEST_F(VectorQuery, WhatMustBeThereFindsBesideItWhetherItRanksOrNot) {
  add("tokyo", "\u6771\u4eac\u90fd", 0.4);
  add("also", "\u6771\u4eac\u90fd");  // first by words as tokyo is, and later
  EXPECT_EQ(log_.ids(R"({"vector":[1],"text":"+hot"})"), "coffee tea plain");
  EXPECT_EQ(log_.ids(R"({"vector":[1],"text":"+\u6771*\u90fd"})"), "also tokyo");
}

TEST_F(VectorQuery, TheWeightMovesTheOrderFromWordsToTheVector) {
  const std::string query = R"({"vector":[1],"text":"tea","sort_by":"match","vector_weight":)";
  const std::string words = log_.ids(R"({"text":"tea","sort_by":"match"})");
  const std::string only_words = log_.ids(query + "0}");
  EXPECT_EQ(only_words.substr(0, words.size()), words);
  EXPECT_EQ(log_.ids(query + "1}"), "coffee snow tea ice plain");
}

TEST_F(VectorQuery, EveryOrderIsThere) {
  const std::string query = R"({"vector":[1],"text":"hot","sort_by":)";
  EXPECT_EQ(log_.ids(query + R"("time"})"), "plain ice snow coffee tea");
  EXPECT_EQ(log_.ids(query + R"("time","order":"asc"})"), "tea coffee snow ice plain");
  for (const char* sort : {"best", "match", "relevance", "importance"}) {
    EXPECT_EQ(log_.answer(query + '"' + sort + "\"}").hits.size(), 5U) << sort;
  }
  EXPECT_EQ(log_.answer(R"({"vector":[1]})").strategy, "every vector");
}

TEST_F(VectorQuery, RelevanceHasTheMatchInItAndMayBeAskedFor) {
  const Answer answer = log_.answer(R"({"vector":[1],"sort_by":"relevance"})");
  ASSERT_EQ(log_.ids_of(answer), "coffee snow tea ice");
  const Hit& first = answer.hits[0];
  EXPECT_DOUBLE_EQ(first.relevance,
                   first.factors.importance * first.factors.decay * first.factors.boost * 0.9);
  const double floor = answer.hits[1].relevance;
  EXPECT_EQ(log_.ids(R"({"vector":[1],"min_relevance":)" + std::to_string(floor * 0.99) + "}"),
            "coffee snow");
}

TEST_F(VectorQuery, PagesMeetEveryResultOnce) {
  for (const std::string text : {"", R"("text":"hot","sort_by":"best",)"}) {
    const std::string query = "{" + text + R"("vector":[1],"limit":1)";
    auto parsed = parse_query(query + "}", Scope::kSession);
    ASSERT_TRUE(parsed.ok());
    std::string met;
    for (;;) {
      const auto answer = log_.ask(*parsed);
      ASSERT_TRUE(answer.ok());
      met += log_.ids_of(*answer) + " ";
      if (!answer->has_more) break;
      const Hit& last = answer->hits.back();
      Cursor cursor;
      cursor.last_id = log_.index().id(answer->row_end - 1);
      cursor.best_match = answer->best_match;
      cursor.key = last.place.key;
      cursor.timestamp_ms = last.place.timestamp_ms;
      cursor.id = log_.index().id(last.place.row);
      parsed->after = cursor;
    }
    EXPECT_EQ(met, log_.ids("{" + text + R"("vector":[1]})") + " ") << text;
  }
}

TEST(VectorQueryText, TheLargestFloatIsTakenAsItIsWritten) {
  const float largest = std::numeric_limits<float>::max();
  const auto query = parse_query(R"({"vector":[3.4028235e38,-3.4028235e38,3.4028234663852886e38]})",
                                 Scope::kSession);
  ASSERT_TRUE(query.ok()) << query.status().message();
  EXPECT_EQ(query->vector, (std::vector<float>{largest, -largest, largest}));
}

TEST(VectorQueryText, WhatIsWrongIsToldWithItsPlace) {
  const auto refusal = [](std::string_view text, Scope scope = Scope::kSession) {
    const auto parsed = parse_query(text, scope);
    EXPECT_EQ(parsed.code(), Code::kInvalidArgument) << text;
    return parsed.status().place().member + ": " + parsed.status().message();
  };
  EXPECT_NE(refusal(R"({"vector":1})").find("vector: "), std::string::npos);
  EXPECT_NE(refusal(R"({"vector":[]})").find("has 0 numbers"), std::string::npos);
  EXPECT_NE(refusal(R"({"vector":[0,0]})").find("is all zeros"), std::string::npos);
  EXPECT_NE(refusal(R"({"vector":[1,"2"]})").find("vector[1]: "), std::string::npos);
  EXPECT_NE(refusal(R"({"vector":[1,1e39]})").find("not finite"), std::string::npos);
  EXPECT_NE(refusal(R"({"vector":[1,-3.4028236e38]})").find("not finite"), std::string::npos);
  EXPECT_NE(refusal(R"({"vector_weight":0.5})").find("needs 'vector'"), std::string::npos);
  EXPECT_NE(refusal(R"({"vector":[1],"vector_weight":1.1})").find("vector_weight: "),
            std::string::npos);
  EXPECT_NE(refusal(R"({"vector":[1]})", Scope::kSet).find("ranks entries"), std::string::npos);
  std::string long_one = R"({"vector":[1)";
  for (int i = 0; i < 16384; ++i) long_one += ",1";
  EXPECT_NE(refusal(long_one + "]}").find("has 16385 numbers"), std::string::npos);
  const auto counted = parse_query(R"({"vector":[1],"vector_weight":0})", Scope::kCount);
  ASSERT_TRUE(counted.ok());
  EXPECT_FALSE(counted->has_vector());
}

// The answer to a question stands best, though another entry is the best match.
TEST(VectorBesideWords, RanksThemByBestWhereThatIsAskedFor) {
  QueryLog log(plain_words());
  log.add(R"({"id":"other","type":"message","timestamp":"2026-01-01T00:00:00Z",)"
          R"("content":{"role":"assistant","text":"tea alone"}})");
  log.add(R"({"id":"question","type":"message","timestamp":"2026-02-01T00:00:00Z",)"
          R"("content":{"role":"assistant","text":"which tea is it ?"}})");
  log.add(R"({"id":"answer","type":"message","timestamp":"2026-02-01T00:00:01Z",)"
          R"("content":{"role":"user","text":"the green tea one"}})");
  log.vectors = {{0, 0.5}, {1, 0.5}, {2, 0.5}};
  const std::string query = R"({"vector":[1],"vector_weight":0,"text":"my tea")";
  EXPECT_EQ(log.ids(query + R"(,"sort_by":"match"})").substr(0, 5), "other");
  const Answer answer = log.answer(query + R"(,"sort_by":"best"})");
  EXPECT_EQ(log.ids_of(answer), log.ids(R"({"text":"my tea"})"));
  EXPECT_EQ(log.ids_of(answer).substr(0, 6), "answer");
  for (const Hit& hit : answer.hits) EXPECT_TRUE(hit.best.has_value());
}

}  // namespace
}  // namespace varve::query
