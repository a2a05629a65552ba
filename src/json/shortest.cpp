#include "json/shortest.h"

#include <array>
#include <bit>

namespace varve::json {

namespace {

__extension__ using Wide = unsigned __int128;

constexpr double kMin = 1e-6;
constexpr double kMax = 9007199254740992.0;  // 2^53
constexpr uint32_t kMantissaBits = 52;
constexpr int32_t kExponentBias = 1075;  // so that the mantissa is an integer
constexpr uint32_t kScaleMax = 22;

constexpr auto kPowersOfFive = [] {
  std::array<uint64_t, kScaleMax + 1> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 5;
  return powers;
}();

// The least s with 10^s >= 2^exponent: log10(2) to nine digits is exact enough below 2^100.
constexpr uint32_t scale_for(uint32_t exponent) {
  return static_cast<uint32_t>((uint64_t{exponent} * 301'029'996 + 999'999'999) / 1'000'000'000);
}

void drop_zeros(ShortDecimal* decimal) {
  constexpr uint64_t kEightZeros = 100'000'000;
  while (decimal->digits % kEightZeros == 0) {
    decimal->digits /= kEightZeros;
    decimal->scale -= 8;
  }
  while (decimal->digits % 10 == 0) {
    decimal->digits /= 10;
    decimal->scale -= 1;
  }
}

}  // namespace

std::optional<ShortDecimal> shortest_digits(double positive) noexcept {
  if (!(positive >= kMin && positive < kMax)) return std::nullopt;
  const auto bits = std::bit_cast<uint64_t>(positive);
  const uint64_t fraction = bits & ((uint64_t{1} << kMantissaBits) - 1);
  if (fraction == 0) return std::nullopt;  // below it the neighbour is nearer than above it
  const uint64_t mantissa = fraction | uint64_t{1} << kMantissaBits;
  const auto exponent =
      static_cast<uint32_t>(kExponentBias - static_cast<int32_t>(bits >> kMantissaBits));
  const bool is_integer =
      exponent <= kMantissaBits && (mantissa & ((uint64_t{1} << exponent) - 1)) == 0;
  if (is_integer) return std::nullopt;
  // The number is twice / 2^(halves), in units of 10^-scale; the middles are `half` away.
  const uint32_t scale = scale_for(exponent);
  const uint64_t half = kPowersOfFive[scale];
  const Wide twice = Wide{mantissa} * half * 2;
  const uint32_t halves = exponent - scale + 1;
  const auto whole = static_cast<uint64_t>(twice >> halves);
  // Neither middle is an integer: odd numbers over a power of two, at least 2.
  const uint64_t tens = whole / 10 * 10;
  const auto above_low = static_cast<uint64_t>((twice - half) >> halves);  // last integer outside
  const auto below_high = static_cast<uint64_t>((twice + half) >> halves);
  ShortDecimal decimal{0, scale};
  if (tens > above_low) {
    decimal.digits = tens;
  } else if (tens + 10 <= below_high) {
    decimal.digits = tens + 10;
  } else {
    const Wide rest = twice - (Wide{whole} << halves);
    const Wide middle = Wide{1} << (halves - 1);
    const bool is_up = rest > middle || (rest == middle && whole % 2 != 0);
    decimal.digits = whole + (is_up ? 1 : 0);
    return decimal;
  }
  drop_zeros(&decimal);
  return decimal;
}

}  // namespace varve::json
