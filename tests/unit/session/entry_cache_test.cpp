#include "session/entry_cache.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace varve::session {
namespace {

EntryLine line(const std::string& text) { return std::make_shared<const std::string>(text); }
constexpr index::Location kPlace{100, 5, 77};

TEST(EntryCache, GivesALineForTheVeryPlaceItWasReadFrom) {
  EntryCache cache(8);
  cache.keep(1, 3, kPlace, line("three"));
  ASSERT_NE(cache.find(1, 3, kPlace), nullptr);
  EXPECT_EQ(*cache.find(1, 3, kPlace), "three");
  EXPECT_EQ(cache.find(2, 3, kPlace), nullptr) << "another generation";
  EXPECT_EQ(cache.find(1, 4, kPlace), nullptr) << "another row";
  EXPECT_EQ(cache.find(1, 3, {101, 5, 77}), nullptr) << "another offset";
  EXPECT_EQ(cache.find(1, 3, {100, 6, 77}), nullptr) << "another length";
  EXPECT_EQ(cache.find(1, 3, {100, 5, 78}), nullptr) << "another hash";
}

TEST(EntryCache, OneLineAPlaceAndTheNewestStays) {
  EntryCache cache(8);
  cache.keep(1, 3, kPlace, line("three"));
  const EntryLine held = cache.find(1, 3, kPlace);
  cache.keep(1, 11, {900, 6, 5}, line("eleven"));
  EXPECT_EQ(cache.find(1, 3, kPlace), nullptr);
  EXPECT_EQ(*cache.find(1, 11, {900, 6, 5}), "eleven");
  EXPECT_EQ(*held, "three") << "whoever holds a line keeps it";
}

TEST(EntryCache, IsBoundedInNumberAndInLength) {
  EntryCache cache(4);
  for (uint32_t row = 0; row < 100; ++row) cache.keep(1, row, {row, 1, row}, line("x"));
  size_t kept = 0;
  for (uint32_t row = 0; row < 100; ++row) {
    if (cache.find(1, row, {row, 1, row}) != nullptr) kept += 1;
  }
  EXPECT_EQ(kept, 4u);
  cache.keep(1, 0, kPlace, line(std::string(EntryCache::kLineBytesMax + 1, 'x')));
  EXPECT_EQ(cache.find(1, 0, kPlace), nullptr);
  cache.keep(1, 0, kPlace, line(std::string(EntryCache::kLineBytesMax, 'x')));
  EXPECT_NE(cache.find(1, 0, kPlace), nullptr);
}

TEST(EntryCache, ForgetsEverything) {
  EntryCache cache(4);
  cache.keep(1, 3, kPlace, line(std::string(1000, 'x')));
  EXPECT_GT(cache.memory_bytes(), 1000u);
  cache.clear();
  EXPECT_EQ(cache.find(1, 3, kPlace), nullptr);
  EXPECT_LT(cache.memory_bytes(), 1000u);
}

TEST(EntryCache, TakesMemoryForWhatItKeepsAndNotForWhatItMight) {
  EntryCache cache(1'000'000);
  const uint64_t empty = cache.memory_bytes();
  EXPECT_LT(empty, 1'000'000u);
  cache.keep(1, 999'999, kPlace, line("last"));
  EXPECT_GT(cache.memory_bytes(), empty);
  EXPECT_LT(cache.memory_bytes(), empty + 10'000);
  EXPECT_EQ(*cache.find(1, 999'999, kPlace), "last");
  EXPECT_EQ(cache.find(1, 999'998, kPlace), nullptr);
  EXPECT_EQ(cache.find(1, 5, kPlace), nullptr);
}

TEST(EntryCache, OfNoPlacesKeepsNothing) {
  EntryCache cache(0);
  cache.keep(1, 3, kPlace, line("three"));
  EXPECT_EQ(cache.find(1, 3, kPlace), nullptr);
}

}  // namespace
}  // namespace varve::session
