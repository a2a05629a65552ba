#include "operations.h"

namespace varve::bench {

namespace {

void add_batch(benchmark::State& state, const char* durability) {
  const auto batch_count = static_cast<size_t>(state.range(0));
  std::string lines;
  for (const auto& entry : make_workload(batch_count, kBodyBytes))
    lines += without_id(entry) + "\n";
  BenchStore store(durability);
  for (auto _ : state) store.add_batch(lines);
  const auto added_count = static_cast<uint64_t>(state.iterations()) * batch_count;
  if (store.count("{}") != added_count) give_up("not every entry of a batch was added");
  count_work(state, state.range(0), lines.size() * static_cast<size_t>(state.iterations()));
}

}  // namespace

void register_batches(const Scale& scale) {
  const auto sizes = scale.of({10, 100, 1'000});
  with_sizes(benchmark::RegisterBenchmark("BM_BatchDurable", add_batch, "commit"), "batch_entries",
             sizes)
      ->UseRealTime();
  with_sizes(benchmark::RegisterBenchmark("BM_BatchBuffered", add_batch, "os"), "batch_entries",
             sizes);
}

}  // namespace varve::bench
