// The same work on varve and its rivals, interleaved round by round in one run, medians and ratios.
//
//   varve_rivals [--entries 10000] [--body 850] [--rounds 5] [--directory DIR]
//
// DIR decides what is measured: it must be on the disk you care about, not on tmpfs.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>

#include "rival.h"

namespace varve::bench {

void give_up(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

namespace {

namespace fs = std::filesystem;
using Steady = std::chrono::steady_clock;

struct Options {
  size_t entry_count = 10'000;
  size_t body_bytes = 850;
  size_t round_count = 5;
  fs::path directory = fs::current_path() / "varve-bench";
};

double microseconds_since(Steady::time_point start) {
  return std::chrono::duration<double, std::micro>(Steady::now() - start).count();
}

double percentile(std::vector<double> values, double share) {
  const auto at = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + at, values.end());
  return values[static_cast<size_t>(at)];
}

// Rows in the order of the report; for each rival the figure of every round.
using Figures = std::map<std::string, std::map<std::string, std::vector<double>>>;

class Bench {
 public:
  Bench(Options options, std::vector<RivalEntry> rivals, std::string program)
      : options_(std::move(options)),
        rivals_(std::move(rivals)),
        program_(std::move(program)),
        entries_(make_workload(options_.entry_count, options_.body_bytes)) {}

  void run() {
    for (size_t round = 0; round < options_.round_count; ++round) {
      // Another order every round: nobody always goes first.
      std::rotate(rivals_.begin(), rivals_.begin() + 1, rivals_.end());
      for (const auto& rival : rivals_) run_round(rival);
      std::fprintf(stderr, "round %zu of %zu done\n", round + 1, options_.round_count);
    }
    fs::remove_all(options_.directory);
  }

  void print() const {
    double bytes = 0;
    for (const auto& entry : entries_) bytes += static_cast<double>(entry.json.size());
    std::printf("%zu entries of %.0f bytes, %zu rounds, medians (min to max of the rounds)\n\n",
                entries_.size(), bytes / static_cast<double>(entries_.size()),
                options_.round_count);
    std::printf(
        "| work | rival | median | min | max | varve / rival |\n|---|---|---|---|---|---|\n");
    for (const auto& [work, by_rival] : figures_) {
      const double ours = percentile(by_rival.at("varve"), 0.5);
      for (const auto& [rival, values] : by_rival) {
        const double median = percentile(values, 0.5);
        std::printf("| %s | %s | %.2f | %.2f | %.2f | %.2f |\n", work.c_str() + 2, rival.c_str(),
                    median, *std::min_element(values.begin(), values.end()),
                    *std::max_element(values.begin(), values.end()), ours / median);
      }
    }
  }

 private:
  fs::path fresh_directory() const {
    fs::remove_all(options_.directory);
    fs::create_directories(options_.directory);
    return options_.directory;
  }

  void note(const std::string& work, const RivalEntry& rival, double figure) {
    figures_[work][rival.name].push_back(figure);
  }

  void run_round(const RivalEntry& rival) {
    measure_adds(rival, true, std::min<size_t>(entries_.size(), 1000), "1 durable add, us");
    measure_adds(rival, false, entries_.size(), "2 buffered add, us");
    const fs::path directory = fresh_directory();
    {
      auto store = rival.make();
      store->open(directory, false);
      const auto start = Steady::now();
      store->add_all(entries_);
      note("5 load all, ms", rival, microseconds_since(start) / 1000);
      measure_gets(rival, *store);
      measure_rebuild(rival, *store);
      store->close();
    }
    note("4 open and first get, fresh process, ms", rival, open_in_process(rival, directory));
  }

  void measure_adds(const RivalEntry& rival, bool durable, size_t count, const std::string& work) {
    auto store = rival.make();
    store->open(fresh_directory(), durable);
    std::vector<double> times;
    times.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      const auto start = Steady::now();
      store->add(entries_[i]);
      times.push_back(microseconds_since(start));
    }
    store->close();
    note(work + ", p50", rival, percentile(times, 0.5));
    note(work + ", p99", rival, percentile(times, 0.99));
  }

  void measure_gets(const RivalEntry& rival, Rival& store) {
    std::mt19937_64 random(7);
    constexpr size_t kGets = 20'000;
    std::vector<double> times;
    times.reserve(kGets);
    size_t bytes = 0;
    for (size_t i = 0; i < kGets; ++i) {
      const std::string& id = entries_[random() % entries_.size()].id;
      const auto start = Steady::now();
      bytes += store.get(id);
      times.push_back(microseconds_since(start));
    }
    if (bytes == 0) give_up("nothing was read");
    note("3 get by id, us, p50", rival, percentile(times, 0.5));
  }

  void measure_rebuild(const RivalEntry& rival, Rival& store) {
    const auto start = Steady::now();
    if (rival.name == "LMDB") {
      // It has no rebuild: the indexes are made by loading.
      note("6 rebuild all indexes, ms", rival, figures_["5 load all, ms"][rival.name].back());
      return;
    }
    store.rebuild();
    note("6 rebuild all indexes, ms", rival, microseconds_since(start) / 1000);
  }

  double open_in_process(const RivalEntry& rival, const fs::path& directory) {
    const std::string id = entries_[entries_.size() / 2].id;
    std::vector<double> times;
    for (int i = 0; i < 5; ++i) {
      const auto start = Steady::now();
      const pid_t child = fork();
      if (child == 0) {
        execl(program_.c_str(), program_.c_str(), "--open", rival.name.c_str(), directory.c_str(),
              id.c_str(), static_cast<char*>(nullptr));
        _exit(127);
      }
      int status = 0;
      waitpid(child, &status, 0);
      if (status != 0) give_up("the opening process of " + rival.name + " did not succeed");
      times.push_back(microseconds_since(start) / 1000);
    }
    return percentile(times, 0.5);
  }

  Options options_;
  std::vector<RivalEntry> rivals_;
  std::string program_;
  std::vector<WorkloadEntry> entries_;
  Figures figures_;
};

std::vector<RivalEntry> all_rivals() { return {varve_rival(), sqlite_rival(), lmdb_rival()}; }

// The other half of open_in_process().
int open_and_get(const std::string& name, const std::string& directory, const std::string& id) {
  for (const auto& rival : all_rivals()) {
    if (rival.name != name) continue;
    auto store = rival.make();
    store->open(directory, false);
    return store->get(id) > 0 ? 0 : 1;
  }
  return 1;
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--entries") {
      options.entry_count = std::stoul(value);
    } else if (name == "--body") {
      options.body_bytes = std::stoul(value);
    } else if (name == "--rounds") {
      options.round_count = std::stoul(value);
    } else if (name == "--directory") {
      options.directory = value;
    } else {
      give_up("unknown option " + name);
    }
  }
  return options;
}

}  // namespace
}  // namespace varve::bench

int main(int argc, char** argv) {
  using namespace varve::bench;
  if (argc == 5 && std::string(argv[1]) == "--open") return open_and_get(argv[2], argv[3], argv[4]);
  for (const auto& rival : all_rivals()) {
    std::printf("%s %s\n", rival.name.c_str(), rival.version.c_str());
  }
  Bench bench(parse(argc, argv), all_rivals(), std::filesystem::canonical("/proc/self/exe"));
  bench.run();
  bench.print();
  return 0;
}
