// varve_growth: the same figures at several sizes, and charts of them.
//
//   varve_growth entries N,N... FIGURES [DIRECTORY]    measures one session of N entries
//   varve_growth sessions N,N... FIGURES [DIRECTORY]   measures a store of N sessions
//   varve_growth plot FIGURES FOLDER                   makes the charts of what was measured
//
// Each figure is the least of three rounds, or that of one where there are 100,000 or more. FIGURES
// is a file that is added to. DIRECTORY is where the stores are made: on the disk you care about.
// The charts depend on FIGURES alone.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "chart.h"
#include "give_up.h"
#include "measurements.h"

namespace varve::bench {

namespace {

struct Kind {
  const char* name;
  Chart chart;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"finding", {"Finding and adding", "entries in the session", "µs", {}}},
      {"upkeep", {"Opening and upkeep", "entries in the session", "ms", {}}},
      {"space", {"Space", "entries in the session", "MB", {}}},
      {"sessions", {"Many sessions", "sessions in the store", "µs", {}}}};
  return all;
}

// The measurements are sorted by series and size.
Chart filled(Chart chart, const std::string& name, const std::vector<Measurement>& measurements) {
  for (const auto& one : measurements) {
    if (one.chart != name) continue;
    if (chart.series.empty() || chart.series.back().name != one.series) {
      chart.series.push_back({one.series, {}});
    }
    chart.series.back().points.emplace_back(one.size, one.value);
  }
  return chart;
}

void plot(const std::filesystem::path& figures, const std::filesystem::path& folder) {
  const auto measurements = read_measurements(figures);
  std::filesystem::create_directories(folder);
  for (const auto& kind : kinds()) {
    const Chart chart = filled(kind.chart, kind.name, measurements);
    if (chart.series.empty()) continue;
    std::ofstream file(folder / (std::string(kind.name) + ".svg"));
    file << svg_of(chart);
    if (!file.flush()) give_up(folder.string() + " cannot be written to");
  }
}

using Measure = std::vector<Measurement> (*)(size_t, const std::filesystem::path&);

// The least of some rounds: what else runs on the machine only ever adds. A large size is measured
// once, since most of its time goes into making it.
std::vector<Measurement> least_of_rounds(Measure measure, size_t size,
                                         const std::filesystem::path& directory) {
  constexpr size_t kRoundCount = 3;
  constexpr size_t kOnceFrom = 100'000;
  std::vector<Measurement> least = measure(size, directory);
  for (size_t round = 1; round < kRoundCount && size < kOnceFrom; ++round) {
    const auto again = measure(size, directory);
    for (size_t i = 0; i < least.size(); ++i) {
      least[i].value = std::min(least[i].value, again[i].value);
    }
  }
  return least;
}

void measure_all(Measure measure, const std::string& sizes, const std::filesystem::path& figures,
                 const std::filesystem::path& directory) {
  std::istringstream parts(sizes);
  for (std::string part; std::getline(parts, part, ',');) {
    const size_t size = std::strtoull(part.c_str(), nullptr, 10);
    if (size == 0) give_up("no size: " + part);
    merge_measurements(figures, least_of_rounds(measure, size, directory));
    std::fprintf(stderr, "%zu measured\n", size);
  }
}

int run(const std::vector<std::string>& arguments) {
  constexpr const char* kUsage =
      "varve_growth entries|sessions N,N... FIGURES [DIRECTORY], or plot FIGURES FOLDER";
  if (arguments.size() < 3) give_up(kUsage);
  const std::string directory = arguments.size() > 3 ? arguments[3] : std::string();
  if (arguments[0] == "plot") {
    plot(arguments[1], arguments[2]);
  } else if (arguments[0] == "entries") {
    measure_all(measure_entries, arguments[1], arguments[2], directory);
  } else if (arguments[0] == "sessions") {
    measure_all(measure_sessions, arguments[1], arguments[2], directory);
  } else {
    give_up(kUsage);
  }
  return 0;
}

}  // namespace

}  // namespace varve::bench

int main(int argc, char** argv) { return varve::bench::run({argv + 1, argv + argc}); }
