#include "base/release_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace varve {
namespace {

TEST(ReleaseMemory, LeavesAnEmptyContainerWithoutAny) {
  std::string text(100'000, 'x');
  release_memory(&text);
  EXPECT_EQ(text, "");
  EXPECT_EQ(text.capacity(), std::string().capacity());

  std::vector<int> numbers(100'000);
  release_memory(&numbers);
  EXPECT_TRUE(numbers.empty());
  EXPECT_EQ(numbers.capacity(), 0u);
}

}  // namespace
}  // namespace varve
