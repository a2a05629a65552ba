#include "cli/suggestion.h"

#include <algorithm>
#include <numeric>

namespace varve::cli {
namespace {

// The number of insertions, deletions and replacements between the two (Levenshtein).
size_t edit_distance(const std::string& from, const std::string& to) {
  std::vector<size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= from.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= to.size(); ++j) {
      const size_t replaced = diagonal + (from[i - 1] == to[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[to.size()];
}

}  // namespace

std::string closest(const std::string& word, const std::vector<std::string>& known) {
  std::string best;
  size_t best_distance = word.size() / 3 + 1;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance || (best.empty() && distance == best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace varve::cli
