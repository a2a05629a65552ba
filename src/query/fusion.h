// Fusion: one order out of two, by words and by vectors.
//
//   score(i) = (1 - w) / (k + rank by words) + w / (k + rank by cosine),   k = 60
//   score(i) = min(1, 2 (1 - w)) / (k + rank by words)   where the entry has no vector
//
// w is the query's vector_weight; w = .5 is the order of the plain formula. A rank is 1 more than
// the number of entries with a larger key. An entry that words do not find gets nothing from them:
// it was looked at and has none. One without a vector was never compared, so words stand for the
// cosine, too, as far as they weigh (docs/decisions.md, 105). With nothing for it, it stood behind
// each entry that is far down in both orders.
//
// What is told is score · (k + 1): 1 for what is first in both.
//
// Ranks and not the keys are added, since BM25 and cosines have nothing in common, and neither has
// a scale that stays.
//
// source: Cormack, Clarke and Büttcher, Reciprocal Rank Fusion outperforms Condorcet and individual
// Rank Learning Methods (SIGIR 2009), which found k = 60; the weights are ours.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace varve::query {

inline constexpr double kFusionConstant = 60;

// A row that has a vector, and the cosine of its angle to the query's.
struct VectorMatch {
  uint32_t row = 0;
  double similarity = 0;
};

// Keys of all entries that words and vectors found, in one session or in all of them.
struct RankKeys {
  std::vector<double> text;
  std::vector<double> vectors;

  void add(const RankKeys& other);
  void sort();  // before they are used
};

struct FusionParts {
  std::optional<double> similarity;  // nothing: it has no vector
  uint64_t vector_rank = 0;          // 0: not ranked
  uint64_t text_rank = 0;
  double vector = 0;  // its share of the score, the best possible score being 1
  double text = 0;
  [[nodiscard]] double score() const { return vector + text; }
};

class Fusion {
 public:
  // `keys`, sorted, must outlive this.
  Fusion(const RankKeys& keys, double vector_weight) : keys_(keys), weight_(vector_weight) {}

  [[nodiscard]] FusionParts parts(std::optional<double> text_key,
                                  std::optional<double> similarity) const;

 private:
  const RankKeys& keys_;
  double weight_;
};

}  // namespace varve::query
