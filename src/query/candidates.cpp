#include "query/candidates.h"

#include <algorithm>

namespace varve::query {

Candidates with_vectors(const Candidates& by_words, const std::vector<VectorMatch>& vectors,
                        RowFilter& filter) {
  Candidates all;
  all.reserve(by_words.size() + vectors.size());
  auto found = by_words.begin();
  for (const VectorMatch& vector : vectors) {
    while (found != by_words.end() && found->row < vector.row) all.push_back(*found++);
    if (found != by_words.end() && found->row == vector.row) {
      all.push_back(*found++);
    } else if (filter.accepts(vector.row)) {
      all.push_back({vector.row, {}, {}, 0, {}});
    } else {
      continue;
    }
    all.back().similarity = vector.similarity;
  }
  while (found != by_words.end()) all.push_back(*found++);
  return all;
}

RankKeys rank_keys_of(const Candidates& candidates) {
  RankKeys keys;
  for (const Candidate& candidate : candidates) {
    if (candidate.text_key) keys.text.push_back(*candidate.text_key);
    if (candidate.similarity) keys.vectors.push_back(*candidate.similarity);
  }
  keys.sort();
  return keys;
}

const Candidate* find_candidate(const Candidates& candidates, uint32_t row) {
  const auto found =
      std::lower_bound(candidates.begin(), candidates.end(), row,
                       [](const Candidate& one, uint32_t wanted) { return one.row < wanted; });
  return found != candidates.end() && found->row == row ? &*found : nullptr;
}

}  // namespace varve::query
