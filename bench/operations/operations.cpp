#include "operations.h"

#include <algorithm>
#include <map>
#include <memory>

namespace varve::bench {

std::vector<int64_t> Scale::of(const std::vector<int64_t>& sizes) const {
  constexpr int64_t kTinySize = 200;
  if (!is_tiny_) return sizes;
  return {std::min(kTinySize, *std::min_element(sizes.begin(), sizes.end()))};
}

Benchmark* with_sizes(Benchmark* benchmark, const std::string& name,
                      const std::vector<int64_t>& sizes) {
  benchmark->ArgName(name);
  for (const int64_t size : sizes) benchmark->Arg(size);
  return benchmark;
}

void count_work(benchmark::State& state, int64_t items_per_iteration, size_t bytes) {
  state.SetItemsProcessed(state.iterations() * items_per_iteration);
  if (bytes > 0) state.SetBytesProcessed(static_cast<int64_t>(bytes));
}

BenchStore& filled_store(size_t entry_count) {
  static std::map<size_t, std::unique_ptr<BenchStore>> stores;
  std::unique_ptr<BenchStore>& store = stores[entry_count];
  if (!store) {
    store = std::make_unique<BenchStore>();
    store->fill(Workload(kBodyBytes), entry_count);
  }
  return *store;
}

}  // namespace varve::bench
