// Deletion, and what gives the space back. Stores are filled anew for each, outside of the time.
#include "operations.h"

namespace varve::bench {

namespace {

constexpr int kIterations = 5;

struct Tagged {
  std::string query;
  uint64_t count = 0;
};

// A tenth of the entries.
Tagged a_tenth(size_t entry_count) {
  const auto tagged = tag_of_share(Workload(kBodyBytes), entry_count, 0.1);
  return {R"({"tags":{"include":[")" + tagged.tag + R"("]}})", tagged.numbers.size()};
}

void delete_one(benchmark::State& state, const char* durability) {
  const auto entry_count = static_cast<size_t>(state.range(0));
  BenchStore store(durability);
  store.fill(Workload(kBodyBytes), entry_count);
  size_t next = 0;
  for (auto _ : state) {
    const std::string id = entry_id(next++);
    varve_error_t* error = nullptr;
    check(varve_session_delete(store.session(), id.data(), id.size(), "bench", VARVE_NUL_TERMINATED,
                               &error),
          error, "delete");
  }
  if (store.count("{}") != entry_count - next) give_up("not every entry was deleted");
  count_work(state, 1, 0);
}

void delete_where(benchmark::State& state) {
  const auto entry_count = static_cast<size_t>(state.range(0));
  const Tagged tenth = a_tenth(entry_count);
  for (auto _ : state) {
    state.PauseTiming();
    {
      BenchStore store("commit");
      store.fill(Workload(kBodyBytes), entry_count);
      state.ResumeTiming();
      const uint64_t count = store.delete_where(tenth.query);
      state.PauseTiming();
      if (count != tenth.count) give_up("not every entry of a tag was deleted");
    }
    state.ResumeTiming();
  }
  count_work(state, static_cast<int64_t>(tenth.count), 0);
}

// After a tenth has been deleted.
void remove_for_good(benchmark::State& state, void (BenchStore::*remove)()) {
  const auto entry_count = static_cast<size_t>(state.range(0));
  const Tagged tenth = a_tenth(entry_count);
  size_t bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    {
      BenchStore store("commit");
      store.fill(Workload(kBodyBytes), entry_count);
      store.delete_where(tenth.query);
      const size_t bytes_before = store.log_bytes();
      state.ResumeTiming();
      (store.*remove)();
      state.PauseTiming();
      if (store.log_bytes() >= bytes_before) give_up("no space was given back");
      if (store.count("{}") != entry_count - tenth.count) give_up("an entry was lost");
      bytes += bytes_before;
    }
    state.ResumeTiming();
  }
  count_work(state, state.range(0), bytes);
}

Benchmark* timed_few(Benchmark* benchmark) {
  return benchmark->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(kIterations);
}

}  // namespace

void register_removals(const Scale& scale) {
  const auto sizes = scale.of({1'000, 10'000});
  const auto sized = [&](Benchmark* benchmark) { return with_sizes(benchmark, "entries", sizes); };
  sized(benchmark::RegisterBenchmark("BM_DeleteDurable", delete_one, "commit"))
      ->UseRealTime()
      ->Iterations(100);
  sized(benchmark::RegisterBenchmark("BM_DeleteBuffered", delete_one, "os"))->Iterations(100);
  timed_few(sized(benchmark::RegisterBenchmark("BM_DeleteWhereTenth", delete_where)));
  timed_few(
      sized(benchmark::RegisterBenchmark("BM_Compact", remove_for_good, &BenchStore::compact)));
  timed_few(sized(benchmark::RegisterBenchmark("BM_Purge", remove_for_good, &BenchStore::purge)));
}

}  // namespace varve::bench
