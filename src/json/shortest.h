// The shortest decimal digits of a double that is no integer, exactly, for the numbers that
// answers are full of.
//
// A double c·2^q, its neighbours' middles, and all decimals that read back as it, become integers
// and halves of them when multiplied by 10^s. With the s that makes the room between the middles 1
// to 10 wide, there is at most one multiple of ten in it, which is then the shortest, and else the
// integer nearest to c·2^q·10^s is. From 1e-6 on up to 2^53 all of this fits 128 bits without
// rounding; others are std::to_chars' work.
//
// source: the choice of s and of the candidates is that of Giulietti, The Schubfach way to render
// doubles (2020).
#pragma once

#include <cstdint>
#include <optional>

namespace varve::json {

// digits · 10^-scale; the last digit is not 0.
struct ShortDecimal {
  uint64_t digits;
  uint32_t scale;
};

// Nothing for integers, for numbers outside 1e-6 ..< 2^53, and for powers of two.
[[nodiscard]] std::optional<ShortDecimal> shortest_digits(double positive) noexcept;

}  // namespace varve::json
