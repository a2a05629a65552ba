// Micro-benchmarks of varve's own operations through the C ABI. Names carry parameters with units.
#include <benchmark/benchmark.h>
#include <varve/varve.h>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "queries.h"
#include "query_json.h"
#include "workload.h"

namespace {

using varve::bench::json_of;
using varve::bench::make_workload;
using varve::bench::QuerySet;
using varve::bench::Workload;
using varve::bench::WorkloadEntry;

constexpr size_t kBodyBytes = 850;

// A session in a directory of its own, removed afterwards.
class Session {
 public:
  explicit Session(const char* durability)
      : directory_(
            std::filesystem::temp_directory_path() /
            ("varve-bench-" + std::to_string(getpid()) + "-" + std::to_string(std::rand()))) {
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
  const auto entries = make_workload(static_cast<size_t>(state.range(0)), kBodyBytes);
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
  session.fill(make_workload(static_cast<size_t>(state.range(0)), kBodyBytes));
  session.reopen();
  for (auto _ : state) session.reopen();
}

void BM_RebuildIndex(benchmark::State& state) {
  Session session("os");
  session.fill(make_workload(static_cast<size_t>(state.range(0)), kBodyBytes));
  for (auto _ : state) {
    if (varve_session_rebuild_index(session.handle(), nullptr, 0, nullptr, nullptr, nullptr) !=
        VARVE_OK) {
      std::abort();
    }
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

// Filled once for all benchmarks that only read.
Session& filled_session(size_t entry_count) {
  static std::map<size_t, std::unique_ptr<Session>> sessions;
  std::unique_ptr<Session>& session = sessions[entry_count];
  if (session) return *session;
  constexpr size_t kFillCount = 20'000;
  session = std::make_unique<Session>("os");
  const Workload workload(kBodyBytes);
  for (size_t first = 0; first < entry_count; first += kFillCount) {
    session->fill(workload.entries(first, std::min(kFillCount, entry_count - first)));
  }
  return *session;
}

// Many different queries of one kind, as JSON, over so many entries.
template <typename Query>
void query(benchmark::State& state, std::vector<Query> QuerySet::*kind) {
  constexpr size_t kQueryCount = 500;
  const auto entry_count = static_cast<size_t>(state.range(0));
  const QuerySet queries =
      varve::bench::make_queries(Workload(kBodyBytes), entry_count, kQueryCount);
  std::vector<std::string> texts;
  for (const auto& one : queries.*kind) texts.push_back(json_of(one));
  Session& session = filled_session(entry_count);
  size_t next = 0;
  size_t found_count = 0;
  for (auto _ : state) {
    const std::string& text = texts[next++ % texts.size()];
    varve_results_t* results = nullptr;
    const char* json = nullptr;
    size_t size = 0;
    if (varve_session_query(session.handle(), text.data(), text.size(), &results, nullptr) !=
            VARVE_OK ||
        varve_results_json(results, &json, &size, nullptr) != VARVE_OK) {
      std::abort();
    }
    found_count += varve_results_count(results);
    varve_results_free(results);
  }
  if (found_count == 0 && next >= texts.size()) state.SkipWithError("nothing was ever found");
  state.SetItemsProcessed(state.iterations());
}

void BM_QueryTagged(benchmark::State& state) { query(state, &QuerySet::tagged); }
void BM_QueryTextAny(benchmark::State& state) { query(state, &QuerySet::any); }
void BM_QueryTextAll(benchmark::State& state) { query(state, &QuerySet::all); }
void BM_QueryTextCommonAndRare(benchmark::State& state) {
  query(state, &QuerySet::common_and_rare);
}
void BM_QueryRanked(benchmark::State& state) { query(state, &QuerySet::ranked); }

// An add, and a query for the one word that only this entry has.
void BM_AddAndFind(benchmark::State& state) {
  Session session("os");
  const Workload workload(kBodyBytes);
  const auto stored_count = static_cast<size_t>(state.range(0));
  session.fill(workload.entries(0, stored_count));
  size_t number = stored_count;
  for (auto _ : state) {
    state.PauseTiming();
    const WorkloadEntry entry = workload.entry(number);
    const std::string text =
        json_of(varve::bench::TextQuery{{varve::bench::unique_word_of(number++)}, false});
    state.ResumeTiming();
    session.add(entry);
    varve_results_t* results = nullptr;
    if (varve_session_query(session.handle(), text.data(), text.size(), &results, nullptr) !=
            VARVE_OK ||
        varve_results_count(results) != 1) {
      std::abort();
    }
    varve_results_free(results);
  }
  state.SetItemsProcessed(state.iterations());
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
BENCHMARK(BM_QueryTagged)->ArgName("entries")->Arg(1'000)->Arg(10'000)->Arg(100'000);
BENCHMARK(BM_QueryTextAny)->ArgName("entries")->Arg(1'000)->Arg(10'000)->Arg(100'000);
BENCHMARK(BM_QueryTextAll)->ArgName("entries")->Arg(1'000)->Arg(10'000)->Arg(100'000);
BENCHMARK(BM_QueryTextCommonAndRare)->ArgName("entries")->Arg(1'000)->Arg(10'000)->Arg(100'000);
BENCHMARK(BM_QueryRanked)->ArgName("entries")->Arg(1'000)->Arg(10'000)->Arg(100'000);
BENCHMARK(BM_AddAndFind)->ArgName("entries")->Arg(1'000)->Arg(10'000);
