#include "operations.h"

#include <filesystem>

namespace varve::bench {

namespace {

void rebuild(benchmark::State& state) {
  const auto entry_count = static_cast<size_t>(state.range(0));
  BenchStore& store = filled_store(entry_count);
  store.use_threads(static_cast<int>(state.range(1)));
  const auto index = store.session_directory() / "index.bin";
  std::filesystem::remove(index);
  for (auto _ : state) store.rebuild();
  if (!std::filesystem::exists(index)) give_up("the index was not made anew");
  if (store.count("{}") != entry_count) give_up("the index made anew does not have every entry");
  store.use_threads(1);
  count_work(state, state.range(0), store.log_bytes() * static_cast<size_t>(state.iterations()));
}

}  // namespace

void register_rebuilds(const Scale& scale) {
  benchmark::RegisterBenchmark("BM_Rebuild", rebuild)
      ->ArgNames({"entries", "threads_allowed"})
      ->ArgsProduct({scale.of({1'000, 10'000, 100'000}), {1, 2}})
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

}  // namespace varve::bench
