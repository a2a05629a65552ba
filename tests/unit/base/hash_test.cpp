#include "base/hash.h"

#include <string>

#include <gtest/gtest.h>

namespace varve {
namespace {

// index.bin stores these values: another function under the same name must not pass.
TEST(Hash, IsXxh3WithSeedZero) {
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2ULL);
  EXPECT_EQ(hash64("a"), 0xe6c632b61e964e1fULL);
  EXPECT_EQ(hash64("abc"), 0x78af5f94892f3950ULL);
}

TEST(Hash, OneBitChangesTheValueOfLongInput) {
  std::string text(5000, 'x');
  const uint64_t before = hash64(text);
  text[4321] = 'y';
  EXPECT_NE(hash64(text), before);
}

}  // namespace
}  // namespace varve
