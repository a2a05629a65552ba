#include "base/hex.h"

#include <array>
#include <limits>

#include <gtest/gtest.h>

namespace varve {
namespace {

TEST(Hex, EveryByteIsTwoLowerCaseDigitsTheHigherHalfFirst) {
  for (int byte = 0; byte < 256; ++byte) {
    std::string digits = "before ";
    append_hex(static_cast<uint8_t>(byte), &digits);
    ASSERT_EQ(digits.size(), 9U);
    EXPECT_EQ(digits.find_first_not_of("0123456789abcdef", 7), std::string::npos) << digits;
    EXPECT_EQ(std::stoi(digits.substr(7), nullptr, 16), byte);
  }
}

TEST(Hex, BytesKeepTheirOrder) {
  EXPECT_EQ(to_hex(std::array<uint8_t, 4>{0x00, 0x0f, 0xa0, 0xff}), "000fa0ff");
  EXPECT_EQ(to_hex(std::span<const uint8_t>()), "");
}

TEST(Hex, ANumberHasAllItsDigits) {
  EXPECT_EQ(to_hex(uint64_t{0}), "0000000000000000");
  EXPECT_EQ(to_hex(uint64_t{0x0123456789abcdef}), "0123456789abcdef");
  EXPECT_EQ(to_hex(std::numeric_limits<uint64_t>::max()), "ffffffffffffffff");
}

}  // namespace
}  // namespace varve
