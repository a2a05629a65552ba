#include "session/entry_cache.h"

#include <gtest/gtest.h>

#include <string>

namespace varve::session {
namespace {

EntryLine line(const std::string& text) { return EntryLine(text); }
constexpr index::Location kPlace{100, 5, 77};

TEST(EntryCache, GivesALineForTheVeryPlaceItWasReadFrom) {
  EntryCache cache(8);
  cache.keep(1, 3, kPlace, line("three"));
  ASSERT_TRUE(cache.find(1, 3, kPlace));
  EXPECT_EQ(*cache.find(1, 3, kPlace), "three");
  EXPECT_FALSE(cache.find(2, 3, kPlace)) << "another generation";
  EXPECT_FALSE(cache.find(1, 4, kPlace)) << "another row";
  EXPECT_FALSE(cache.find(1, 3, {101, 5, 77})) << "another offset";
  EXPECT_FALSE(cache.find(1, 3, {100, 6, 77})) << "another length";
  EXPECT_FALSE(cache.find(1, 3, {100, 5, 78})) << "another hash";
}

TEST(EntryCache, OneLineAPlaceAndTheNewestStays) {
  EntryCache cache(8);
  cache.keep(1, 3, kPlace, line("three"));
  const EntryLine held = cache.find(1, 3, kPlace);
  cache.keep(1, 11, {900, 6, 5}, line("eleven"));
  EXPECT_FALSE(cache.find(1, 3, kPlace));
  EXPECT_EQ(*cache.find(1, 11, {900, 6, 5}), "eleven");
  EXPECT_EQ(*held, "three") << "whoever holds a line keeps it";
}

TEST(EntryCache, IsBoundedInNumberAndInLength) {
  EntryCache cache(4);
  for (uint32_t row = 0; row < 100; ++row) cache.keep(1, row, {row, 1, row}, line("x"));
  size_t kept = 0;
  for (uint32_t row = 0; row < 100; ++row) {
    if (cache.find(1, row, {row, 1, row})) kept += 1;
  }
  EXPECT_EQ(kept, 4u);
  constexpr size_t kMax = EntryCache::kLineBytesMax;
  cache.keep(1, 0, {100, kMax + 1, 77}, line(std::string(kMax + 1, 'x')));
  EXPECT_FALSE(cache.find(1, 0, {100, kMax + 1, 77}));
  cache.keep(1, 0, {100, kMax, 77}, line(std::string(kMax, 'x')));
  EXPECT_TRUE(cache.find(1, 0, {100, kMax, 77}));
}

TEST(EntryCache, ForgetsEverything) {
  EntryCache cache(4);
  const index::Location place{100, 1000, 77};
  cache.keep(1, 3, place, line(std::string(1000, 'x')));
  EXPECT_GT(cache.memory_bytes(), 1000u);
  ASSERT_TRUE(cache.find(1, 3, place));
  cache.clear();
  EXPECT_FALSE(cache.find(1, 3, place));
  EXPECT_LT(cache.memory_bytes(), 1000u);
}

TEST(EntryCache, TakesMemoryForWhatItKeepsAndNotForWhatItMight) {
  EntryCache cache(1'000'000);
  const uint64_t empty = cache.memory_bytes();
  EXPECT_LT(empty, 1'000'000u);
  cache.keep(1, 999'999, {100, 4, 77}, line("last"));
  EXPECT_GT(cache.memory_bytes(), empty);
  EXPECT_LT(cache.memory_bytes(), empty + 10'000);
  EXPECT_EQ(*cache.find(1, 999'999, {100, 4, 77}), "last");
  EXPECT_FALSE(cache.find(1, 999'998, kPlace));
  EXPECT_FALSE(cache.find(1, 5, kPlace));
}

TEST(EntryCache, OfNoPlacesKeepsNothing) {
  EntryCache cache(0);
  cache.keep(1, 3, kPlace, line("three"));
  cache.prefetch(3);
  EXPECT_FALSE(cache.find(1, 3, kPlace));
}

TEST(EntryCache, PrefetchingChangesNothing) {
  EntryCache cache(100);
  cache.prefetch(3);
  cache.keep(1, 3, kPlace, line("three"));
  cache.prefetch(3);
  cache.prefetch(4);
  EXPECT_EQ(*cache.find(1, 3, kPlace), "three");
  EXPECT_FALSE(cache.find(1, 4, kPlace));
}

}  // namespace
}  // namespace varve::session
