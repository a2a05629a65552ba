#include "context/candidates.h"

#include <gtest/gtest.h>

#include <vector>

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

}  // namespace
}  // namespace varve::context
