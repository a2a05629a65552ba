#include "context/counter.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace varve::context {
namespace {

int32_t count_bytes(void* calls, const char*, size_t len, uint64_t* tokens_out) {
  *static_cast<int*>(calls) += 1;
  *tokens_out = len;
  return 0;
}

int32_t fail(void*, const char*, size_t, uint64_t*) { return -3; }

TEST(CountCache, KnowsWhatItWasToldAndNothingElse) {
  CountCache cache;
  EXPECT_FALSE(cache.find(0));
  EXPECT_FALSE(cache.find(7));
  cache.keep(7, 41);
  cache.keep(0, 5);
  EXPECT_EQ(cache.find(7), 41U);
  EXPECT_EQ(cache.find(0), 5U);
  EXPECT_FALSE(cache.find(8));
}

TEST(CountCache, GivesAPlaceToTheNewerOne) {
  CountCache cache;
  const auto key_of = [](uint64_t number) { return 7 + (number << 40); };  // all of one group
  for (uint64_t number = 0; number < 4; ++number) cache.keep(key_of(number), 41 + number);
  for (uint64_t number = 0; number < 4; ++number)
    EXPECT_EQ(cache.find(key_of(number)), 41 + number);
  cache.keep(key_of(2), 50);
  EXPECT_EQ(cache.find(key_of(2)), 50U) << "in its own place";
  cache.keep(key_of(4), 45);
  EXPECT_EQ(cache.find(key_of(4)), 45U);
  int known = 0;
  for (uint64_t number = 0; number <= 4; ++number) known += cache.find(key_of(number)) ? 1 : 0;
  EXPECT_EQ(known, 4);
}

// Keys of one group, written and read at once: whoever finds one finds its own count.
TEST(CountCache, NeverTellsOneKeysCountForAnother) {
  CountCache cache;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (uint64_t number = 1; number <= 6; ++number) {
    threads.emplace_back([&cache, &wrong, number] {
      const uint64_t key = number << 40;
      for (int round = 0; round < 20000; ++round) {
        cache.keep(key, number);
        const auto found = cache.find(key);
        if (found && *found != number) wrong += 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Counter, AsksTheHostOnceForAKey) {
  CountCache cache;
  int calls = 0;
  const Counter counter(&count_bytes, &calls, 1, &cache);
  EXPECT_FALSE(counter.known(9));
  EXPECT_EQ(*counter.count_keyed(9, "four"), 4U);
  EXPECT_EQ(*counter.count_keyed(9, "four"), 4U);
  EXPECT_EQ(counter.known(9), 4U);
  EXPECT_EQ(calls, 1);
  const Counter next(&count_bytes, &calls, 2, &cache);
  EXPECT_FALSE(next.known(9));
  EXPECT_EQ(*next.count("12345"), 5U);
}

TEST(Counter, EstimatesWithoutAFunction) {
  CountCache cache;
  const Counter counter(nullptr, nullptr, 0, &cache);
  EXPECT_EQ(*counter.count("two words"), 2U);
}

TEST(Counter, PassesTheHostsFailureOnAndRemembersNothing) {
  CountCache cache;
  const Counter counter(&fail, nullptr, 1, &cache);
  const auto counted = counter.count_keyed(9, "x");
  EXPECT_EQ(counted.code(), Code::kCallback);
  EXPECT_NE(counted.status().message().find("-3"), std::string::npos);
  EXPECT_FALSE(counter.known(9));
}

TEST(AddTokens, StopsAtTheLargestNumber) {
  EXPECT_EQ(add_tokens(2, 3), 5U);
  EXPECT_EQ(add_tokens(uint64_t{1} << 63, uint64_t{1} << 63), UINT64_MAX);
  EXPECT_EQ(add_tokens(UINT64_MAX, 0), UINT64_MAX);
}

}  // namespace
}  // namespace varve::context
