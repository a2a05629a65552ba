// The same work on varve and its rivals, interleaved round by round in one run; medians and ratios.
// `varve_rivals --help` says how to choose. --directory decides what is measured: it must be on the
// disk you care about, not on tmpfs.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "bench_run.h"

namespace varve::bench {

namespace {

RivalEntry alone(RivalEntry rival) {
  rival.make = [make = std::move(rival.make)] {
    auto store = make();
    store->use_alone();
    return store;
  };
  return rival;
}

std::vector<RivalEntry> rivals_of(const Options& options) {
  std::vector<RivalEntry> chosen;
  for (const auto& rivals : {varve_rivals(), sqlite_rivals(), lmdb_rivals(), leveldb_rivals(),
                             rocksdb_rivals(), xapian_rivals()}) {
    for (const auto& rival : rivals) {
      if (!options.wants_rival(rival.name)) continue;
      chosen.push_back(options.exclusive ? alone(rival) : rival);
    }
  }
  if (chosen.empty()) give_up("--rivals: none of them is known");
  return chosen;
}

// Into the page cache, so that an engine is not measured by when its store was last in use.
void read_files(const std::filesystem::path& directory) {
  std::vector<char> block(1 << 20);
  for (const auto& file : std::filesystem::recursive_directory_iterator(directory)) {
    std::ifstream stream(file.path(), std::ios::binary);
    while (stream.read(block.data(), static_cast<std::streamsize>(block.size()))) {
    }
  }
}

void measure_on_loaded(Run* run, const RivalEntry& rival) {
  const bool loads = run->options.loads_in(run->round);
  if (loads) measure_loading(run, rival);
  if (!std::filesystem::exists(run->store_directory(rival))) {
    give_up("--loads 0, and there is no store of " + rival.name);
  }
  read_files(run->store_directory(rival));
  if (run->options.wants("open")) measure_opening(run, rival);
  if (run->options.wants("memory")) measure_memory(run, rival);
  auto store = rival.make();
  store->open(run->store_directory(rival), false);
  measure_finding(run, store.get(), rival);
  if (run->options.wants("context")) measure_contexts(run, store.get(), rival);
  if (loads && run->options.wants("rebuild")) measure_rebuilding(run, store.get(), rival);
  store->close();
}

void run_round(Run* run, const RivalEntry& rival) {
  const auto start = Steady::now();
  measure_adding(run, rival);
  measure_sharing(run, rival);
  measure_removing(run, rival);
  if (run->options.wants_loaded_store()) measure_on_loaded(run, rival);
  std::fprintf(stderr, "round %zu of %zu: %s in %.1f s\n", run->round + 1, run->options.round_count,
               rival.name.c_str(), microseconds_since(start) / 1e6);
}

void print_report(const Run& run, const std::vector<RivalEntry>& rivals) {
  std::vector<std::string> names;
  std::printf("%zu entries of about %zu bytes; medians of %zu rounds of up to %zu queries a kind\n",
              run.options.entry_count, run.workload.entry(0).json.size(), run.options.round_count,
              run.options.query_count);
  for (const auto& rival : rivals) {
    names.push_back(rival.name);
    std::printf("%s %s\n", rival.name.c_str(), rival.version.c_str());
  }
  if (run.options.wants("delete")) {
    const size_t count = run.deleted.numbers.size();
    std::printf("deleted: %zu entries, those with %s, %.1f %% of all\n", count,
                run.deleted.tag.c_str(),
                100.0 * static_cast<double>(count) / static_cast<double>(run.options.entry_count));
  }
  run.answers.print_agreement();
  std::printf("\n");
  run.figures.print(names);
}

}  // namespace

}  // namespace varve::bench

int main(int argc, char** argv) {
  using namespace varve::bench;
  Run run(parse_options(argc, argv));
  const std::vector<RivalEntry> rivals = rivals_of(run.options);
  std::filesystem::create_directories(run.workspace());
  std::vector<RivalEntry> order = rivals;
  for (run.round = 0; run.round < run.options.round_count; ++run.round) {
    for (const auto& rival : order) run_round(&run, rival);
    // Another order every round: nobody always goes first.
    std::rotate(order.begin(), order.begin() + 1, order.end());
  }
  const bool has_loaded = run.options.load_count != size_t{0};
  if (has_loaded && !run.options.keep) std::filesystem::remove_all(run.workspace());
  print_report(run, rivals);
  return 0;
}
