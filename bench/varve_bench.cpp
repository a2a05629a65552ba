// Micro-benchmarks of varve's own operations through the C ABI. Names carry parameters with units.
#include <benchmark/benchmark.h>
#include <varve/varve.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "query_json.h"
#include "workload.h"

namespace {

using varve::bench::make_workload;
using varve::bench::WorkloadEntry;

// A session in a directory of its own, removed afterwards.
class Session {
 public:
  explicit Session(const char* durability)
      : directory_(std::filesystem::temp_directory_path() /
                   ("varve-bench-" + std::to_string(std::rand()))) {
    const std::string config = varve::bench::store_config(durability);
    const std::string path = directory_.string();
    if (varve_store_open(path.data(), path.size(), config.data(), config.size(), &store_,
                         nullptr) != VARVE_OK ||
        varve_session_create(store_, "{\"session_id\":\"bench\"}", VARVE_NUL_TERMINATED, &session_,
                             nullptr) != VARVE_OK) {
      std::abort();
    }
  }
  ~Session() {
    varve_session_close(session_);
    varve_store_close(store_);
    std::filesystem::remove_all(directory_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void add(const WorkloadEntry& entry) {
    // Without its id: every iteration adds a new entry.
    const std::string text = "{" + entry.json.substr(entry.json.find("\"type\""));
    if (varve_session_add(session_, text.data(), text.size(), nullptr, nullptr, nullptr) !=
        VARVE_OK) {
      std::abort();
    }
  }

  void fill(const std::vector<WorkloadEntry>& entries) {
    std::string lines;
    for (const auto& entry : entries) lines += entry.json + "\n";
    if (varve_session_add_batch(session_, lines.data(), lines.size(), nullptr, nullptr, nullptr) !=
        VARVE_OK) {
      std::abort();
    }
  }

  [[nodiscard]] varve_session_t* handle() const { return session_; }

  void reopen() {
    varve_session_close(session_);
    if (varve_session_open(store_, "bench", VARVE_NUL_TERMINATED, &session_, nullptr) != VARVE_OK) {
      std::abort();
    }
  }

 private:
  std::filesystem::path directory_;
  varve_store_t* store_ = nullptr;
  varve_session_t* session_ = nullptr;
};

void add_one(benchmark::State& state, const char* durability) {
  const auto entries = make_workload(64, static_cast<size_t>(state.range(0)));
  Session session(durability);
  size_t next = 0;
  int64_t bytes = 0;
  for (auto _ : state) {
    const WorkloadEntry& entry = entries[next++ % entries.size()];
    session.add(entry);
    bytes += static_cast<int64_t>(entry.json.size());
  }
  state.SetItemsProcessed(state.iterations());
  state.SetBytesProcessed(bytes);
}

void BM_AddDurable(benchmark::State& state) { add_one(state, "commit"); }
void BM_AddBuffered(benchmark::State& state) { add_one(state, "os"); }

void BM_Get(benchmark::State& state) {
  const auto entries = make_workload(static_cast<size_t>(state.range(0)), 850);
  Session session("os");
  session.fill(entries);
  size_t next = 0;
  for (auto _ : state) {
    const std::string& id = entries[next++ * 7919 % entries.size()].id;
    char* text = nullptr;
    size_t size = 0;
    if (varve_session_get(session.handle(), id.data(), id.size(), &text, &size, nullptr) !=
        VARVE_OK) {
      std::abort();
    }
    varve_free(text);
  }
  state.SetItemsProcessed(state.iterations());
}

void BM_OpenWithSnapshot(benchmark::State& state) {
  Session session("os");
  session.fill(make_workload(static_cast<size_t>(state.range(0)), 850));
  session.reopen();
  for (auto _ : state) session.reopen();
}

void BM_RebuildIndex(benchmark::State& state) {
  Session session("os");
  session.fill(make_workload(static_cast<size_t>(state.range(0)), 850));
  for (auto _ : state) {
    if (varve_session_rebuild_index(session.handle(), nullptr, 0, nullptr, nullptr, nullptr) !=
        VARVE_OK) {
      std::abort();
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

}  // namespace

BENCHMARK(BM_AddDurable)->ArgName("body_bytes")->Arg(100)->Arg(850)->UseRealTime();
BENCHMARK(BM_AddBuffered)->ArgName("body_bytes")->Arg(100)->Arg(850)->Arg(10'000);
BENCHMARK(BM_Get)->ArgName("entries")->Arg(1'000)->Arg(10'000);
BENCHMARK(BM_OpenWithSnapshot)->ArgName("entries")->Arg(1'000)->Arg(10'000);
BENCHMARK(BM_RebuildIndex)
    ->ArgName("entries")
    ->Arg(1'000)
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond);
