// What a search of one session tells the query across several: statistics, best match, keys of
// ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "query_fixture.h"

namespace varve::query {
namespace {

class OneOfSeveral : public ::testing::Test {
 protected:
  OneOfSeveral() {
    for (const std::string text : {"tea tea milk", "tea", "milk honey"}) {
      log_.add(R"({"type":"message","content":")" + text + R"("})");
    }
    log_.vectors = {{1, 0.5}, {2, 0.25}};
  }
  // The search of a query, with the best match of all sessions.
  Search search(const std::string& text, double best_match = 0) {
    auto query = parse_query(text, Scope::kStore);
    EXPECT_TRUE(query.ok()) << query.status().message();
    query_ = *std::move(query);
    log_.best_match = best_match;
    auto made = log_.search(query_);
    EXPECT_TRUE(made.ok()) << made.status().message();
    return *std::move(made);
  }
  QueryLog log_{plain_words()};
  Query query_;
};

TEST_F(OneOfSeveral, TellsWhatItHoldsOfTheWords) {
  const TextStatistics found = search(R"({"text":"tea honey nobodysaysthis"})").statistics();
  EXPECT_EQ(found.entry_count, 3u);
  EXPECT_EQ(found.total_length, 6u);
  EXPECT_EQ(found.row_counts, (decltype(found.row_counts){{"honey", 1}, {"tea", 2}}));
}

TEST_F(OneOfSeveral, CountsForTheOthersWithoutAnyOfTheWords) {
  const TextStatistics found = search(R"({"text":"nobodysaysthis"})").statistics();
  EXPECT_EQ(found.entry_count, 3u);
  EXPECT_EQ(found.total_length, 6u);
  EXPECT_TRUE(found.row_counts.empty());
}

TEST_F(OneOfSeveral, TellsItsBestMatch) {
  const Answer answer = log_.answer(R"({"text":"tea milk","sort_by":"match"})");
  ASSERT_EQ(answer.hits.size(), 3u);
  EXPECT_EQ(search(R"({"text":"tea milk"})").best_match().match, answer.hits[0].match);
  EXPECT_GT(answer.hits[0].match, answer.hits[1].match);
  EXPECT_EQ(search(R"({"text":"nobodysaysthis"})").best_match().match, 0);
  EXPECT_EQ(search(R"({"text":"+tea +honey"})").best_match().match, 0);
}

TEST_F(OneOfSeveral, TellsTheKeysOfItsRanksAgainstTheBestMatchOfAll) {
  const std::string members = R"("vector":[1,0],"text":"tea")";
  const RankKeys alone = search("{" + members + "}").rank_keys();
  ASSERT_EQ(alone.text.size(), 2u);
  EXPECT_EQ(alone.vectors, (std::vector<double>{0.5, 0.25}));
  const double best = search("{" + members + "}").best_match().match;
  const RankKeys same = search("{" + members + "}", best).rank_keys();
  EXPECT_EQ(same.text, alone.text);
  const RankKeys beside_better = search("{" + members + "}", best * 2).rank_keys();
  ASSERT_EQ(beside_better.text.size(), 2u);
  for (size_t i = 0; i < 2; ++i) EXPECT_LT(beside_better.text[i], alone.text[i]);
}

TEST_F(OneOfSeveral, HasNoRanksWithoutWhatMustBeThere) {
  for (const std::string text : {"+nobodysaysthis", R"(\"nobodysaysthis\")"}) {
    const RankKeys keys = search(R"({"vector":[1,0],"text":")" + text + R"("})").rank_keys();
    EXPECT_TRUE(keys.text.empty()) << text;
    EXPECT_TRUE(keys.vectors.empty()) << text;
  }
}

TEST_F(OneOfSeveral, RanksByTheVectorAloneWhereATextHasNoWords) {
  const auto all = search(R"({"vector":[1,0]})").rank_keys().vectors;
  EXPECT_FALSE(all.empty());
  for (const std::string text : {"&", R"(\"?!\")", R"(+\"\")"}) {
    const RankKeys keys = search(R"({"vector":[1,0],"text":")" + text + R"("})").rank_keys();
    EXPECT_TRUE(keys.text.empty()) << text;
    EXPECT_EQ(keys.vectors, all) << text;
  }
}

TEST_F(OneOfSeveral, MeasuresItsMatchesByTheBestMatchOfAll) {
  const double best = search(R"({"text":"tea"})").best_match().match;
  for (const double best_of_all : {0.0, best * 2}) {
    log_.best_match = best_of_all;
    for (const std::string sort : {"best", "match", "relevance", "time"}) {
      const Answer answer = log_.answer(R"({"text":"tea","sort_by":")" + sort + R"("})");
      EXPECT_EQ(answer.best_match, best_of_all > 0 ? best * 2 : best) << sort;
      double quality_max = 0;
      for (const Hit& hit : answer.hits) quality_max = std::max(quality_max, hit.match_quality);
      EXPECT_DOUBLE_EQ(quality_max, best_of_all > 0 ? 0.5 : 1) << sort;
    }
  }
}

}  // namespace
}  // namespace varve::query
