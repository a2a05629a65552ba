#include "cli/arguments/suggestion.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace varve::cli {
namespace {

// What other programs call the directory that is --root here.
constexpr std::array kNamesOfRoot{"store", "dir", "directory", "path", "db", "database"};

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
  const auto begins_so = [&](const std::string& name) { return name.starts_with(word); };
  if (word.size() > 1) {
    const auto found = std::ranges::find_if(known, begins_so);
    if (found != known.end()) return *found;
  }
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

std::string closest_option(const std::string& word, const std::vector<std::string>& known) {
  const std::string name = word.substr(std::min(word.find_first_not_of('-'), word.size()));
  const auto names_root = [&](const char* other) { return name == other; };
  if (std::ranges::any_of(kNamesOfRoot, names_root)) return "--root";
  const std::string similar = closest(name, known);
  return similar.empty() ? "" : "--" + similar;
}

}  // namespace varve::cli
