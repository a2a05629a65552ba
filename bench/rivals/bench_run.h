// One run of varve_rivals: what its workloads share, and the workloads.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "answers.h"
#include "figures.h"
#include "options.h"
#include "queries.h"
#include "rival.h"
#include "timing.h"

namespace varve::bench {

constexpr size_t kLargeEntryCount = 200'000;  // the targets of 1 GB are for more than these

struct Run {
  explicit Run(Options given)
      : options(std::move(given)),
        workload(options.body_bytes),
        queries(make_queries(workload, options.entry_count, options.query_count)),
        deleted(tag_of_share(workload, options.entry_count, 0.1)),
        figures(options.entry_count > kLargeEntryCount),
        answers(workload, options.entry_count) {}

  // Ours alone, within the directory given: it is emptied.
  [[nodiscard]] std::filesystem::path workspace() const {
    return options.directory / "varve-rivals-bench";
  }
  // Of a rival's loaded store, which stays from round to round.
  [[nodiscard]] std::filesystem::path store_directory(const RivalEntry& rival) const {
    return workspace() / rival.name;
  }
  // An empty one.
  [[nodiscard]] std::filesystem::path fresh_directory(const std::filesystem::path& path) const {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
    return path;
  }

  Options options;
  Workload workload;
  QuerySet queries;
  TaggedEntries deleted;  // by measure_removing
  Figures figures;
  Answers answers;
  size_t round = 0;
};

// [us] of each action(0) ... action(count - 1); fewer when the budget is used up.
template <typename Action>
std::vector<double> timed(const Run& run, size_t count, Action action) {
  constexpr size_t kLeastCount = 20;
  std::vector<double> times_us;
  times_us.reserve(count);
  const auto begin = Steady::now();
  for (size_t i = 0; i < count; ++i) {
    const auto start = Steady::now();
    action(i);
    times_us.push_back(microseconds_since(start));
    if (i + 1 >= kLeastCount && microseconds_since(begin) > run.options.budget_s * 1e6) {
      std::fprintf(stderr, "  the budget ended after %zu of %zu\n", i + 1, count);
      break;
    }
  }
  return times_us;
}

struct Load {
  double time_us = 0;
  double given_bytes = 0;
};
Load load_all(const Run& run, Rival* store);  // all entries, into an empty store

void measure_adding(Run* run, const RivalEntry& rival);    // add, batch: into new stores
void measure_sharing(Run* run, const RivalEntry& rival);   // threads, processes: into new stores
void measure_removing(Run* run, const RivalEntry& rival);  // delete, compact: in a store of its own
void measure_loading(Run* run, const RivalEntry& rival);   // load: leaves store_directory() filled
void measure_memory(Run* run, const RivalEntry& rival);    // memory: of a fresh process
void measure_opening(Run* run, const RivalEntry& rival);   // open: in fresh processes
void measure_finding(Run* run, Rival* store, const RivalEntry& rival);  // get tagged text ranked
void measure_contexts(Run* run, Rival* store, const RivalEntry& rival);
void measure_rebuilding(Run* run, Rival* store, const RivalEntry& rival);

}  // namespace varve::bench
