#include "query/fusion.h"

#include <algorithm>
#include <functional>

namespace varve::query {

namespace {

void append(std::vector<double>& keys, const std::vector<double>& more) {
  keys.insert(keys.end(), more.begin(), more.end());
}

// `falling`: the largest first.
uint64_t rank_of(double key, const std::vector<double>& falling) {
  const auto first = std::lower_bound(falling.begin(), falling.end(), key, std::greater<>());
  return static_cast<uint64_t>(first - falling.begin()) + 1;
}

double share(double weight, uint64_t rank) {
  return weight * (kFusionConstant + 1) / (kFusionConstant + static_cast<double>(rank));
}

}  // namespace

void RankKeys::add(const RankKeys& other) {
  append(text, other.text);
  append(vectors, other.vectors);
}

void RankKeys::sort() {
  std::sort(text.begin(), text.end(), std::greater<>());
  std::sort(vectors.begin(), vectors.end(), std::greater<>());
}

FusionParts Fusion::parts(std::optional<double> text_key, std::optional<double> similarity) const {
  FusionParts parts;
  parts.similarity = similarity;
  if (text_key) {
    parts.text_rank = rank_of(*text_key, keys_.text);
    const double of_words = 1 - weight_;
    parts.text = share(similarity ? of_words : std::min(1.0, 2 * of_words), parts.text_rank);
  }
  if (similarity) {
    parts.vector_rank = rank_of(*similarity, keys_.vectors);
    parts.vector = share(weight_, parts.vector_rank);
  }
  return parts;
}

}  // namespace varve::query
