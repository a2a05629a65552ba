#include "query/length_limits.h"

#include <gtest/gtest.h>

#include <random>

namespace varve::query {
namespace {

// Never no to a posting that has the score, and rarely yes to one that has not.
TEST(LengthLimits, TellWhatTheScoreTells) {
  std::mt19937 random(3);
  int yes_count = 0;
  int wrong_yes_count = 0;
  for (int round = 0; round < 300; ++round) {
    const uint64_t entry_count = 1 + random() % 100'000;
    const Bm25 bm25(entry_count, entry_count * (1 + random() % 400));
    const double idf = bm25.idf(1 + random() % entry_count);
    const double least = Bm25::weight(idf) * static_cast<double>(random() % 1100) / 1000;
    const LengthLimits limits(bm25, idf, least);
    for (uint32_t frequency = 1; frequency < 7; ++frequency) {
      for (int i = 0; i < 50; ++i) {
        const auto length = static_cast<uint32_t>(random() % 1000);
        const bool has_score = bm25.score(idf, frequency, length) >= least;
        const bool can_reach = limits.can_reach(frequency, length);
        ASSERT_TRUE(can_reach || !has_score) << frequency << ' ' << length << ' ' << least;
        yes_count += can_reach ? 1 : 0;
        wrong_yes_count += can_reach && !has_score ? 1 : 0;
        ASSERT_TRUE(limits.can_any_reach(frequency) || !can_reach);
      }
    }
  }
  EXPECT_GT(yes_count, 1000);
  EXPECT_LT(wrong_yes_count, yes_count / 50);
}

TEST(LengthLimits, OfAScoreThatAllHaveThereAreNone) {
  const Bm25 bm25(100, 5000);
  for (const double least : {0.0, -1.0}) {
    const LengthLimits limits(bm25, 2, least);
    EXPECT_TRUE(limits.can_reach(1, UINT32_MAX - 1));
    EXPECT_TRUE(limits.can_any_reach(1));
  }
}

TEST(LengthLimits, WhatNobodyCanReachNoneDoes) {
  const Bm25 bm25(100, 5000);
  const LengthLimits limits(bm25, 2, 1.01 * Bm25::weight(2));
  for (uint32_t frequency = 1; frequency < 7; ++frequency) {
    EXPECT_FALSE(limits.can_reach(frequency, 0));
    EXPECT_FALSE(limits.can_any_reach(frequency));
  }
}

// Nothing is known of words that an entry has very often; nor without any words, where all lengths
// count alike.
TEST(LengthLimits, DoubtIsAYes) {
  EXPECT_TRUE(LengthLimits(Bm25(100, 5000), 2, 100).can_reach(7, 10));
  EXPECT_TRUE(LengthLimits(Bm25(100, 5000), 2, 100).can_any_reach(UINT32_MAX));
  EXPECT_TRUE(LengthLimits(Bm25(100, 0), 2, 1.9).can_reach(1, 1'000'000));
}

}  // namespace
}  // namespace varve::query
