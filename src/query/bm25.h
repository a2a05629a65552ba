// BM25: how well an entry matches words, by their rarity, how often it has them, and its length.
//
//   idf(t)      = ln(1 + (N - df + 0.5) / (df + 0.5))
//   score(t, d) = idf(t) · (k1 + 1) · f / (f + k1 · (1 - b + b · |d| / avgdl))
//
// N and avgdl count every entry of the log up to the query's last row, deleted ones too, so that
// every process computes the same whatever it has read when.
//
// A score is a whole number of units of 2^-32, and one at least: below 2^20 such numbers add up in
// doubles without rounding, so that an entry's sum is the same in whatever order its words come.
//
// source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009);
// the idf is Lucene's, never negative. k1 and b were measured (docs/retrieval.md).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace varve::query {

class Bm25 {
 public:
  static constexpr double kK1 = 0.9;
  static constexpr double kB = 0.75;

  Bm25(uint64_t entry_count, uint64_t total_length)
      : entry_count_(static_cast<double>(entry_count)),
        length_share_(total_length == 0 ? 0
                                        : kK1 * kB * static_cast<double>(entry_count) /
                                              static_cast<double>(total_length)) {}

  [[nodiscard]] double idf(uint64_t row_count) const {
    const auto rows = static_cast<double>(row_count);
    return std::log(1 + (entry_count_ - rows + 0.5) / (rows + 0.5));
  }

  // Rises with the frequency, falls with the length, also in floating point: so that the value for
  // a block's largest frequency and smallest length bounds all of its rows.
  [[nodiscard]] double score(double idf, uint32_t frequency, uint32_t length) const {
    return in_units(idf * (kK1 + 1) / (1 + norm(length) / static_cast<double>(frequency)));
  }

 private:
  static constexpr double kUnit = 0x1p-32;
  static constexpr double kUnitIsLastDigit = 0x1.8p20;  // of a double of this size

  static double in_units(double value) {
    return std::max(kUnit, (value + kUnitIsLastDigit) - kUnitIsLastDigit);
  }
  [[nodiscard]] double norm(uint32_t length) const {
    return length_share_ == 0 ? kK1 : kK1 * (1 - kB) + length_share_ * static_cast<double>(length);
  }

  double entry_count_;
  double length_share_;  // k1 · b / avgdl
};

}  // namespace varve::query
