#include "session/entry/entry_cache.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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

// Row r's line and place, as the tests below keep them.
index::Location place_of(uint32_t row) { return {row * 100ULL, 1, row}; }
void keep(EntryCache* cache, uint32_t row, uint64_t generation = 0) {
  cache->keep(generation, row, place_of(row), line("x"));
}
std::string kept(const EntryCache& cache, const std::vector<uint32_t>& rows) {
  std::string found;
  for (const uint32_t row : rows) {
    if (cache.find(0, row, place_of(row))) found += std::to_string(row) + " ";
  }
  return found;
}

TEST(EntryCache, ARowMayHaveANeighboursPlaceUntilItIsNeeded) {
  EntryCache cache(8);
  keep(&cache, 0);
  keep(&cache, 8);   // 0's place is taken: 1's
  keep(&cache, 16);  // 2's
  EXPECT_EQ(kept(cache, {0, 8, 16}), "0 8 16 ");
  keep(&cache, 1);  // 3's, for its own is taken
  EXPECT_EQ(kept(cache, {0, 1, 8, 16}), "0 1 8 16 ");
  keep(&cache, 2);  // and now no neighbour's is left: its own
  EXPECT_EQ(kept(cache, {0, 1, 2, 8, 16}), "0 1 2 8 ");
  keep(&cache, 4);
  EXPECT_EQ(kept(cache, {0, 1, 2, 4, 8}), "0 1 2 4 8 ") << "other neighbours";
}

TEST(EntryCache, InItsOwnPlaceTheNewestStays) {
  EntryCache cache(8);
  for (uint32_t row = 0; row < 8; ++row) keep(&cache, row);
  EXPECT_EQ(kept(cache, {0, 1, 2, 3, 4, 5, 6, 7}), "0 1 2 3 4 5 6 7 ");
  const EntryLine held = cache.find(0, 3, place_of(3));
  keep(&cache, 11);
  EXPECT_EQ(kept(cache, {0, 1, 2, 3, 4, 5, 6, 7, 11}), "0 1 2 4 5 6 7 11 ");
  EXPECT_EQ(*held, "x") << "whoever holds a line keeps it";
}

TEST(EntryCache, ALineOfALogThatWasReplacedMakesRoom) {
  EntryCache cache(4);
  for (const uint32_t row : {0U, 4U, 8U, 12U}) keep(&cache, row, 7);
  for (const uint32_t row : {0U, 1U, 5U, 9U}) keep(&cache, row);
  EXPECT_EQ(kept(cache, {0, 1, 5, 9}), "0 1 5 9 ") << "nobody asks for the lines of before";
}

TEST(EntryCache, ALineIsKeptOnce) {
  EntryCache cache(4);
  keep(&cache, 0);
  for (int again = 0; again < 4; ++again) keep(&cache, 4);
  keep(&cache, 2);
  keep(&cache, 3);
  EXPECT_EQ(kept(cache, {0, 2, 3, 4}), "0 2 3 4 ");
}

TEST(EntryCache, NeighboursAreFewerWhereTheCacheEnds) {
  EntryCache cache(5);
  keep(&cache, 4);
  keep(&cache, 9);
  EXPECT_EQ(kept(cache, {4, 9}), "9 ");
  EntryCache one(1);
  keep(&one, 4);
  keep(&one, 9);
  EXPECT_EQ(kept(one, {4, 9}), "9 ");
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

TEST(EntryCache, LinesOfALargeOneCountOnceAndOutliveIt) {
  constexpr uint32_t kRowCount = 5000;
  constexpr uint32_t kBytes = 1000;
  EntryLine held;
  {
    EntryCache cache(100'000);
    const auto place = [](uint32_t row) { return index::Location{row * 2000ULL, kBytes, row}; };
    const auto keep_all = [&] {
      for (uint32_t row = 0; row < kRowCount; ++row) {
        cache.keep(1, row, place(row), cache.line_of(std::string(kBytes, 'x')));
      }
      return cache.memory_bytes();
    };
    const uint64_t empty_bytes = cache.memory_bytes();
    const uint64_t full_bytes = keep_all();
    EXPECT_GE(full_bytes - empty_bytes, uint64_t{kRowCount} * kBytes);
    EXPECT_LE(full_bytes - empty_bytes, uint64_t{kRowCount} * kBytes * 5 / 4);
    EXPECT_LE(keep_all(), full_bytes + 2 * kBytes) << "other lines in the same memory";
    held = cache.find(1, 77, place(77));
  }
  ASSERT_TRUE(held);
  EXPECT_EQ(*held, std::string(kBytes, 'x'));
}

}  // namespace
}  // namespace varve::session
