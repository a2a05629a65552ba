// What was measured at which size, as a file of lines: chart, series, size, value, with tabs
// between. The charts are made from it, so that they can be made again from what is committed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace varve::bench {

struct Measurement {
  std::string chart;
  std::string series;
  double size = 0;
  double value = 0;  // in the unit of the chart
};

std::vector<Measurement> read_measurements(const std::filesystem::path& path);
// Replaces those of the same chart and size, keeps the others: a million can be measured by itself.
void merge_measurements(const std::filesystem::path& path,
                        const std::vector<Measurement>& measurements);

std::vector<Measurement> measure_entries(size_t entry_count, const std::filesystem::path& parent);
std::vector<Measurement> measure_sessions(size_t session_count,
                                          const std::filesystem::path& parent);

}  // namespace varve::bench
