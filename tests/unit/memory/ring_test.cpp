#include "memory/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace varve::memory {
namespace {

TEST(Ring, IsEmptyAtFirst) { EXPECT_EQ(Ring<int>(3).size(), 0U); }

TEST(Ring, KeepsTheLastInOrder) {
  for (const size_t capacity : {1U, 2U, 3U, 7U}) {
    Ring<int> ring(capacity);
    std::deque<int> expected;
    for (int i = 0; i < 25; ++i) {
      ring.push(i);
      expected.push_back(i);
      if (expected.size() > capacity) expected.pop_front();
      ASSERT_EQ(ring.size(), expected.size());
      for (size_t k = 0; k < expected.size(); ++k) ASSERT_EQ(ring[k], expected[k]);
    }
  }
}

TEST(Ring, StartsAnewAfterClear) {
  Ring<std::string> ring(2);
  for (const char* item : {"a", "b", "c"}) ring.push(item);
  ring.clear();
  EXPECT_EQ(ring.size(), 0U);
  ring.push("d");
  EXPECT_EQ(ring[0], "d");
  ring.push("e");
  ring.push("f");
  EXPECT_EQ(ring[0] + ring[1], "ef");
}

}  // namespace
}  // namespace varve::memory
