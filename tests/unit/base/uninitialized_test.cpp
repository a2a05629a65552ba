#include "base/uninitialized.h"

#include <cstdint>

#include <gtest/gtest.h>

namespace varve {
namespace {

TEST(UninitializedVector, LeavesWhatLiesWhereItGrows) {
  UninitializedVector<uint8_t> bytes(100, 7);
  const volatile uint8_t* memory = bytes.data();
  bytes.resize(10);
  bytes.resize(100);
  ASSERT_EQ(bytes.data(), memory);
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(memory[i], 7) << i;
}

TEST(UninitializedVector, TakesWhatItIsGiven) {
  UninitializedVector<uint32_t> numbers(3, 7U);
  numbers.push_back(8);
  numbers.resize(6, 9U);
  EXPECT_EQ(numbers, (UninitializedVector<uint32_t>{7, 7, 7, 8, 9, 9}));
}

}  // namespace
}  // namespace varve
