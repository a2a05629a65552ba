#include "context/candidates.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "session/session.h"
#include "unit/session/session_disk.h"

namespace varve::context {
namespace {

Candidate candidate(int64_t timestamp_ms, double importance, double match) {
  Candidate one;
  one.entry.timestamp_ms = timestamp_ms;
  one.entry.importance = importance;
  one.match = match;
  return one;
}

std::vector<double> ranks(const RankWeights& weights, std::vector<Candidate> candidates) {
  rank_candidates(weights, &candidates);
  std::vector<double> ranks;
  for (const auto& one : candidates) ranks.push_back(one.rank);
  return ranks;
}

TEST(RankCandidates, BringsEachMeasureToOneBeforeItIsWeighted) {
  const std::vector<Candidate> all = {candidate(1000, 0.2, 1), candidate(2000, 0.4, 0.5),
                                      candidate(3000, 0.3, 0)};
  EXPECT_EQ(ranks({1, 0, 0}, all), (std::vector<double>{0, 0.5, 1}));
  const auto by_importance = ranks({0, 1, 0}, all);
  EXPECT_EQ(by_importance[0], 0);
  EXPECT_EQ(by_importance[1], 1);
  EXPECT_NEAR(by_importance[2], 0.5, 1e-9);
  EXPECT_EQ(ranks({0, 0, 1}, all), (std::vector<double>{1, 0.5, 0}));
  const auto all_of_them = ranks({0.5, 0.3, 0.2}, all);
  EXPECT_NEAR(all_of_them[0], 0.2, 1e-9);
  EXPECT_NEAR(all_of_them[1], 0.25 + 0.3 + 0.1, 1e-9);
  EXPECT_NEAR(all_of_them[2], 0.5 + 0.15, 1e-9);
}

TEST(RankCandidates, TakesOneValueForAllAsTheMost) {
  EXPECT_EQ(ranks({1, 1, 0}, {candidate(5, 0.5, 0), candidate(5, 0.5, 0)}),
            (std::vector<double>{2, 2}));
  EXPECT_TRUE(ranks({1, 1, 1}, {}).empty());
}

// What a retrieval's order says of how well an entry matches.
class Matches : public testing::Test {
 protected:
  Matches() {
    place_.make();
    session_ = place_.open();
    add("strong", "tea tea tea", 0.1F);
    add("weak", "tea and very many other words beside it", 0.9F);
  }
  void add(const std::string& id, const std::string& content, float along) {
    ASSERT_TRUE(session_->add(session::entry_text(id, content)).ok());
    const std::vector<float> vector = {along, -1.0F};
    ASSERT_TRUE(session_->put_vector(id, vector).ok());
    host_.clock.advance_ms(1000);
  }
  // Of each that a query finds: as a share of the best there is.
  std::map<std::string, double> of(const std::string& query) {
    const auto request = parse_request(R"({"retrieve":[{"query":)" + query + "}]}");
    EXPECT_TRUE(request.ok()) << request.status().message();
    Sessions sessions(*session_, nullptr);
    const auto found = find_candidates(sessions, *request, session_->now_ms());
    EXPECT_TRUE(found.ok()) << found.status().message();
    std::map<std::string, double> matches;
    for (const auto& one : found->ranked) matches[session_->read(one.entry)->id] = one.match;
    return matches;
  }

  session::Host host_;
  session::SessionDisk place_{host_};
  std::shared_ptr<session::Session> session_;
};

TEST_F(Matches, OfAnOrderByMatchAreSharesOfTheBest) {
  for (const char* order : {"best", "match"}) {
    auto matches = of(R"({"text":"tea","sort_by":")" + std::string(order) + "\"}");
    EXPECT_EQ(matches["strong"], 1) << order;
    EXPECT_GT(matches["weak"], 0) << order;
    EXPECT_LT(matches["weak"], 1) << order;
  }
}

TEST_F(Matches, OfAnyOtherOrderAreWhatTheWordsSay) {
  const auto by_match = of(R"({"text":"tea","sort_by":"match"})");
  for (const char* order : {R"("time")", R"("importance")", R"("relevance")",
                            R"("time","order":"asc")", R"("match","order":"asc")"}) {
    auto matches = of(R"({"text":"tea","sort_by":)" + std::string(order) + "}");
    EXPECT_GT(matches["strong"], matches["weak"]) << order;
    EXPECT_GT(matches["weak"], 0) << order;
    EXPECT_LE(matches["strong"], 1) << order;
  }
}

TEST_F(Matches, AreNoneWithoutWordsOrVector) {
  EXPECT_EQ(of(R"({"sort_by":"match"})"),
            (std::map<std::string, double>{{"strong", 0}, {"weak", 0}}));
}

// The first of an order by match is worth nothing here: all vectors point away.
TEST_F(Matches, OfVectorsThatPointAwayAreWithinTheirRange) {
  const auto matches = of(R"({"vector":[0,1],"sort_by":"match"})");
  EXPECT_EQ(matches.size(), 2U);
  for (const auto& [id, match] : matches) {
    EXPECT_GE(match, 0) << id;
    EXPECT_LE(match, 1) << id;
  }
}

TEST_F(Matches, OfARetrievalThatFindsNothingAreNotThere) {
  EXPECT_TRUE(of(R"({"text":"absent"})").empty());
}

}  // namespace
}  // namespace varve::context
