#include "query/top_k.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace varve::query {
namespace {

bool same(const PlaceInOrder& a, const PlaceInOrder& b) {
  return a.key == b.key && a.timestamp_ms == b.timestamp_ms && a.row == b.row;
}

std::vector<PlaceInOrder> some_places(std::mt19937& random, uint32_t count) {
  std::vector<PlaceInOrder> places;
  for (uint32_t row = 0; row < count; ++row) {
    places.push_back({static_cast<double>(random() % 20), static_cast<int64_t>(random() % 5), row});
  }
  std::shuffle(places.begin(), places.end(), random);
  return places;
}

TEST(TopK, IsTheBeginningOfTheSortedWhole) {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    const bool ascending = random() % 2 == 0;
    const uint64_t count = random() % 30;
    auto places = some_places(random, static_cast<uint32_t>(random() % 200));
    std::optional<PlaceInOrder> after;
    if (!places.empty() && random() % 2 == 0) after = places.front();
    TopK best(count, ascending, after);
    for (const PlaceInOrder& place : places) best.offer(place);
    TopK filled(count, ascending, after);
    filled.fill(places);

    const auto precedes = [ascending](const PlaceInOrder& a, const PlaceInOrder& b) {
      return ascending ? comes_before(b, a) : comes_before(a, b);
    };
    std::erase_if(places, [&](const PlaceInOrder& one) { return after && !precedes(*after, one); });
    std::sort(places.begin(), places.end(), precedes);
    if (places.size() > count) places.resize(count);
    ASSERT_EQ(filled.is_full(), places.size() >= count);
    for (const auto& found : {best.take(), filled.take()}) {
      ASSERT_TRUE(std::equal(found.begin(), found.end(), places.begin(), places.end(), same));
    }
  }
}

TEST(TopK, ItsThresholdIsTheLastOfTheBest) {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    const uint64_t count = 1 + random() % 20;
    TopK best(count, false, std::nullopt);
    std::vector<PlaceInOrder> seen;
    for (const PlaceInOrder& place : some_places(random, 100)) {
      best.offer(place);
      seen.push_back(place);
      ASSERT_EQ(best.is_full(), seen.size() >= count);
      if (!best.is_full()) {
        ASSERT_LT(best.floor(), std::numeric_limits<double>::lowest());
        ASSERT_FALSE(best.is_beyond(0));
        continue;
      }
      std::sort(seen.begin(), seen.end(), comes_before);
      const PlaceInOrder& last = seen[count - 1];
      ASSERT_TRUE(same(best.threshold(), last));
      ASSERT_FALSE(best.is_beyond(last.key));
      ASSERT_EQ(best.floor(), last.key) << "a later time decides among equal keys";
      ASSERT_TRUE(best.is_beyond(last.key - 1));
    }
  }
}

TEST(TopK, AFloorThatIsKnownRefusesBeforeAnythingIsOffered) {
  TopK best(2, false, std::nullopt);
  EXPECT_FALSE(best.has_floor());
  best.raise_floor(5);
  best.raise_floor(3);
  EXPECT_TRUE(best.has_floor());
  EXPECT_EQ(best.floor(), 5);
  EXPECT_TRUE(best.is_beyond(4.9));
  EXPECT_FALSE(best.is_beyond(5)) << "equal keys are ordered by time";
  best.offer({7, 0, 1});
  EXPECT_EQ(best.floor(), 5);
  best.offer({6, 0, 2});
  EXPECT_EQ(best.floor(), 6) << "what was offered is better";
  EXPECT_EQ(best.take().size(), 2u);
}

TEST(TopK, OfNoneIsBeyondEverything) {
  TopK none(0, false, std::nullopt);
  none.offer({1, 1, 1});
  EXPECT_TRUE(none.is_beyond(1e300));
  EXPECT_GT(none.floor(), 1e300);
  EXPECT_TRUE(none.take().empty());
}

TEST(TopK, OfMoreThanThereAreIsAll) {
  TopK all(UINT64_MAX, false, std::nullopt);
  for (uint32_t row = 0; row < 100; ++row) all.offer({1, 1, row});
  EXPECT_FALSE(all.is_full());
  EXPECT_EQ(all.take().size(), 100u);
}

}  // namespace
}  // namespace varve::query
