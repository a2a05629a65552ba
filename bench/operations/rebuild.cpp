#include "operations.h"

namespace varve::bench {

namespace {

void rebuild(benchmark::State& state) {
  const auto entry_count = static_cast<size_t>(state.range(0));
  BenchStore& store = filled_store(entry_count);
  const auto index = store.session_directory() / "index.bin";
  std::filesystem::remove(index);
  for (auto _ : state) store.rebuild();
  if (!std::filesystem::exists(index)) give_up("the index was not made anew");
  if (store.count("{}") != entry_count) give_up("the index made anew does not have every entry");
  count_work(state, state.range(0), store.log_bytes() * static_cast<size_t>(state.iterations()));
}

}  // namespace

void register_rebuilds(const Scale& scale) {
  with_sizes(benchmark::RegisterBenchmark("BM_Rebuild", rebuild), "entries",
             scale.of({1'000, 10'000, 100'000}))
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

}  // namespace varve::bench
