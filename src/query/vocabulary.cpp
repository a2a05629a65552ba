#include "query/vocabulary.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii.h"

namespace varve::query {

namespace {

constexpr std::array<std::pair<std::string_view, SortBy>, 5> kSorts = {{
    {"best", SortBy::kBest},
    {"relevance", SortBy::kRelevance},
    {"match", SortBy::kMatch},
    {"time", SortBy::kTime},
    {"importance", SortBy::kImportance},
}};

// 35,000 years: before every time that there is, wherever it is counted from.
constexpr int64_t kMillisecondsMax = int64_t{1} << 50;

}  // namespace

std::string_view sort_name(SortBy sort_by) { return kSorts[static_cast<size_t>(sort_by)].first; }

std::optional<SortBy> find_sort(std::string_view name) {
  const auto* sort = std::find_if(kSorts.begin(), kSorts.end(),
                                  [&](const auto& one) { return one.first == name; });
  return sort == kSorts.end() ? std::nullopt : std::optional(sort->second);
}

std::optional<int64_t> parse_span(std::string_view text) {
  if (text.size() < 2 || text.size() > 10) return std::nullopt;
  int64_t count = 0;
  for (const char c : text.substr(0, text.size() - 1)) {
    if (!is_digit(c)) return std::nullopt;
    count = count * 10 + (c - '0');
  }
  int64_t unit_ms = 0;
  switch (text.back()) {
    case 's': unit_ms = 1000; break;
    case 'm': unit_ms = 60 * 1000; break;
    case 'h': unit_ms = 3600 * 1000; break;
    case 'd': unit_ms = 24 * 3600 * 1000; break;
    case 'w': unit_ms = 7 * 24 * 3600 * int64_t{1000}; break;
    default: return std::nullopt;
  }
  if (count == 0) return std::nullopt;
  return std::min(count * unit_ms, kMillisecondsMax);
}

}  // namespace varve::query
