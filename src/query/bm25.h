// BM25: how well an entry matches words, by their rarity, how often it has them, and its length.
//
//   idf(t)      = ln(1 + (N - df + 0.5) / (df + 0.5))
//   score(t, d) = idf(t) · (k1 + 1) · f / (f + k1 · (1 - b + b · |d| / avgdl))
//
// N and avgdl count every entry of the log up to the query's last row, deleted ones too, so that
// every process computes the same whatever it has read when.
//
// A word that is a part of others (getUserProfile) counts half there, and is as frequent as it is
// as a word and as a part together.
//
// source: Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond (2009);
// the idf is Lucene's, never negative. k1 and b were measured (docs/retrieval.md).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

namespace varve::query {

class Bm25 {
 public:
  static constexpr double kK1 = 0.9;
  static constexpr double kB = 0.75;
  static constexpr double kPartWeight = 0.5;

  Bm25(uint64_t entry_count, uint64_t total_length)
      : entry_count_(static_cast<double>(entry_count)),
        norm_least_(total_length == 0 ? kK1 : kK1 * (1 - kB)),
        length_share_(total_length == 0 ? 0
                                        : kK1 * kB * static_cast<double>(entry_count) /
                                              static_cast<double>(total_length)),
        lengths_a_share_(total_length == 0 ? std::numeric_limits<double>::infinity()
                                           : 1 / length_share_) {}

  [[nodiscard]] double idf(uint64_t row_count) const {
    const auto rows = static_cast<double>(row_count);
    return std::log(1 + (entry_count_ - rows + 0.5) / (rows + 0.5));
  }

  // Rises with the frequency, falls with the length, also in floating point: so that the value for
  // a block's largest frequency and smallest length bounds all of its rows.
  [[nodiscard]] double score(double idf, uint32_t frequency, uint32_t length) const {
    return weight(idf) / (1 + share_of(norm(length), frequency));
  }
  // A length above all entries' whose norm() is at most `norm`; some whose norm() is little more
  // may be below it, too. (A score is weight() / (1 + norm() / frequency).)
  [[nodiscard]] uint32_t length_below(double norm) const {
    constexpr double kMost = UINT32_MAX - 2;
    if (norm < norm_least_) return 0;
    const double length = (norm - norm_least_) * lengths_a_share_;  // without words no number
    return length < kMost ? static_cast<uint32_t>(length) + 2 : UINT32_MAX;
  }
  // No score is above it, however high the frequency.
  [[nodiscard]] static double weight(double idf) { return idf * (kK1 + 1); }

 private:
  [[nodiscard]] double norm(uint32_t length) const {
    return norm_least_ + length_share_ * static_cast<double>(length);
  }
  // norm / frequency. A division takes as long as all the rest of a score, and nearly all
  // frequencies are 1 or 2, for which the quotient is the same without one.
  [[nodiscard]] static double share_of(double norm, uint32_t frequency) {
    if (frequency == 1) return norm;
    return frequency == 2 ? norm / 2 : norm / static_cast<double>(frequency);
  }

  double entry_count_;
  double norm_least_;       // of an entry without words
  double length_share_;     // k1 · b / avgdl
  double lengths_a_share_;  // 1 / length_share_
};

}  // namespace varve::query
