#include "base/histogram.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace varve {
namespace {

constexpr std::array<uint64_t, 3> kBounds = {10, 100, 1000};

TEST(AHistogram, CountsAValueInTheFirstBucketThatReachesIt) {
  struct Case {
    uint64_t value;
    size_t bucket;
  };
  constexpr Case kCases[] = {{0, 0},   {1, 0},    {9, 0},    {10, 0},
                             {11, 1},  {99, 1},   {100, 1},  {101, 2},
                             {999, 2}, {1000, 2}, {1001, 3}, {~uint64_t{0} >> 1, 3}};
  for (const auto& row : kCases) {
    Histogram histogram(kBounds);
    histogram.record(row.value);
    std::vector<uint64_t> expected(4, 0);
    expected[row.bucket] = 1;
    const auto snapshot = histogram.snapshot();
    EXPECT_EQ(snapshot.counts, expected) << row.value;
    EXPECT_EQ(snapshot.count, 1u);
    EXPECT_EQ(snapshot.sum, row.value);
    EXPECT_EQ(snapshot.max, row.value);
  }
}

TEST(AHistogram, OfDurationsHasBucketsFromTenMicrosecondsToAHundredSeconds) {
  struct Case {
    int64_t duration_us;
    size_t bucket;
  };
  constexpr Case kCases[] = {{-5, 0},          {0, 0},          {10, 0},         {11, 1},
                             {250, 4},         {251, 5},        {1'000, 6},      {1'001, 7},
                             {1'000'000, 15},  {1'000'001, 16}, {2'500'001, 17}, {100'000'000, 21},
                             {100'000'001, 22}};
  for (const auto& row : kCases) {
    Histogram histogram(kDurationBoundsUs);
    histogram.record_duration(7, 7 + row.duration_us);
    const auto snapshot = histogram.snapshot();
    ASSERT_EQ(snapshot.counts.size(), 23u);
    EXPECT_EQ(snapshot.counts[row.bucket], 1u) << row.duration_us;
    EXPECT_EQ(snapshot.sum, static_cast<uint64_t>(row.duration_us < 0 ? 0 : row.duration_us));
  }
}

TEST(AHistogram, TellsQuantilesByTheBoundOfTheirBucket) {
  Histogram histogram(kBounds);
  EXPECT_EQ(histogram.snapshot().quantile(0.5), 0u) << "of nothing";
  for (int i = 0; i < 98; ++i) histogram.record(5);
  histogram.record(50);
  histogram.record(500);
  const auto snapshot = histogram.snapshot();
  EXPECT_EQ(snapshot.quantile(0), 10u);
  EXPECT_EQ(snapshot.quantile(0.5), 10u);
  EXPECT_EQ(snapshot.quantile(0.98), 10u);
  EXPECT_EQ(snapshot.quantile(0.99), 100u);
  EXPECT_EQ(snapshot.quantile(1), 500u) << "never above the largest value";
  histogram.record(7000);
  EXPECT_EQ(histogram.snapshot().quantile(1), 7000u);
}

TEST(AHistogram, LosesNothingOfManyThreads) {
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kEach = 5000;
  Histogram histogram(kBounds);
  std::vector<std::thread> threads;
  for (uint64_t number = 0; number < kThreads; ++number) {
    threads.emplace_back([&histogram, number] {
      for (uint64_t i = 0; i < kEach; ++i) histogram.record(number == 0 ? 1 : 101);
    });
  }
  for (auto& thread : threads) thread.join();
  const auto snapshot = histogram.snapshot();
  EXPECT_EQ(snapshot.counts, (std::vector<uint64_t>{kEach, 0, 3 * kEach, 0}));
  EXPECT_EQ(snapshot.sum, kEach + 3 * kEach * 101);
  EXPECT_EQ(snapshot.max, 101u);
}

TEST(AHistogram, HasBoundsThatRise) {
  for (size_t i = 1; i < kDurationBoundsUs.size(); ++i) {
    EXPECT_LT(kDurationBoundsUs[i - 1], kDurationBoundsUs[i]);
  }
  for (size_t i = 1; i < kGroupBounds.size(); ++i) EXPECT_LT(kGroupBounds[i - 1], kGroupBounds[i]);
  EXPECT_LE(kDurationBoundsUs.size(), Histogram::kBoundsMax);
}

}  // namespace
}  // namespace varve
