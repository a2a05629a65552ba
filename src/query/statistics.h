// What BM25 needs to know of the whole collection: of one session, or of several together.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace varve::query {

struct TextStatistics {
  uint64_t entry_count = 0;
  uint64_t total_length = 0;                                // [terms]
  std::map<std::string, uint64_t, std::less<>> row_counts;  // entries with each ranked term

  void add(const TextStatistics& other) {
    entry_count += other.entry_count;
    total_length += other.total_length;
    for (const auto& [term, count] : other.row_counts) row_counts[term] += count;
  }
};

}  // namespace varve::query
