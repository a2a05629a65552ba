// Goal: digits are those of std::to_chars, bit for bit, wherever there are any.
// Method: compare the two on random numbers of every magnitude, on short decimals and their
// neighbours, and on both ends of each power of two.
#include "json/shortest.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "json/canonical.h"

namespace varve::json {
namespace {

std::string by_to_chars(double number) {
  std::array<char, 64> text;
  char* const end = text.data() + text.size();
  return {text.data(), std::to_chars(text.data(), end, number, std::chars_format::fixed).ptr};
}

// Whether there were digits, which are compared.
bool check_digits(double positive) {
  const auto found = shortest_digits(positive);
  if (!found) return false;
  std::string digits = std::to_string(found->digits);
  if (digits.size() <= found->scale) digits.insert(0, found->scale + 1 - digits.size(), '0');
  digits.insert(digits.size() - found->scale, ".");
  EXPECT_EQ(digits, by_to_chars(positive));
  std::string written;
  append_double(-positive, written);
  EXPECT_EQ(written, "-" + digits);
  return true;
}

TEST(Shortest, RandomNumbersOfEveryMagnitude) {
  std::mt19937_64 random(1);
  for (uint64_t exponent = 1023 - 19; exponent <= 1023 + 51; ++exponent) {
    for (int i = 0; i < 2000; ++i) {
      const uint64_t fraction = random() >> 12 | 1;
      EXPECT_TRUE(check_digits(std::bit_cast<double>(exponent << 52 | fraction)));
    }
  }
}

TEST(Shortest, ShortDecimalsAndTheirNeighbours) {
  std::mt19937_64 random(2);
  int found = 0;
  for (int i = 0; i < 50'000; ++i) {
    const double scale = std::pow(10, static_cast<double>(random() % 8));
    const double number = static_cast<double>(random() % 1'000'000) / scale;
    for (const double near : {number, std::nextafter(number, 0), std::nextafter(number, 1e300)}) {
      if (check_digits(near)) ++found;
    }
  }
  EXPECT_GT(found, 100'000);
}

TEST(Shortest, BothSidesOfPowersOfTwo) {
  for (uint64_t exponent = 1023 - 19; exponent < 1023 + 51; ++exponent) {
    const uint64_t power = exponent << 52;
    EXPECT_FALSE(check_digits(std::bit_cast<double>(power)));
    EXPECT_TRUE(check_digits(std::bit_cast<double>(power + 1)));
    EXPECT_TRUE(check_digits(std::bit_cast<double>(power - 1)));
  }
}

// Two decimals of the same length are as near: the even one, as ECMAScript wants.
TEST(Shortest, HalvesGoToTheEvenDigit) {
  for (double number = 562949953421312; number < 562949953421328; number += 0.125) {
    check_digits(number);
  }
}

TEST(Shortest, LeavesTheRestToOthers) {
  using Limits = std::numeric_limits<double>;
  for (const double number : {0.0, -1.5, 1.0, 3.0, 9.999e-7, 9007199254740994.0, 1e300,
                              Limits::quiet_NaN(), Limits::infinity()}) {
    EXPECT_FALSE(shortest_digits(number)) << number;
  }
}

}  // namespace
}  // namespace varve::json
