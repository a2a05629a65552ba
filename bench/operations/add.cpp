#include <memory>

#include "operations.h"

namespace varve::bench {

namespace {

constexpr size_t kDifferentEntries = 64;

void check_added(BenchStore& store, int64_t count) {
  if (store.count("{}") != static_cast<uint64_t>(count)) give_up("not every entry was added");
}

std::vector<std::string> entries_to_add(size_t body_bytes) {
  std::vector<std::string> texts;
  for (const auto& entry : make_workload(kDifferentEntries, body_bytes)) {
    texts.push_back(without_id(entry));
  }
  return texts;
}

void add_by_one(benchmark::State& state, const char* durability) {
  const auto texts = entries_to_add(static_cast<size_t>(state.range(0)));
  BenchStore store(durability);
  size_t next = 0;
  size_t bytes = 0;
  for (auto _ : state) {
    const std::string& text = texts[next++ % texts.size()];
    store.add(text);
    bytes += text.size();
  }
  check_added(store, state.iterations());
  count_work(state, 1, bytes);
}

// Threads of one process that add to one session: those that wait for the disk share a sync.
void add_by_threads(benchmark::State& state, const char* durability) {
  static std::unique_ptr<BenchStore> store;
  const bool is_first = state.thread_index() == 0;
  if (is_first) store = std::make_unique<BenchStore>(durability);
  const auto texts = entries_to_add(kBodyBytes);
  size_t next = 0;
  size_t bytes = 0;
  for (auto _ : state) {
    const std::string& text = texts[next++ % texts.size()];
    store->add(text);
    bytes += text.size();
  }
  count_work(state, 1, bytes);
  if (!is_first) return;
  // The other threads have left the loop as well: its end is a barrier.
  check_added(*store, state.iterations() * state.threads());
  store.reset();
}

}  // namespace

void register_adds(const Scale& scale) {
  const auto sizes = scale.of({100, 850, 10'000});
  const auto one = [&](const char* name, const char* durability) {
    return with_sizes(benchmark::RegisterBenchmark(name, add_by_one, durability), "body_bytes",
                      sizes);
  };
  one("BM_AddDurable", "commit")->UseRealTime();
  one("BM_AddInterval", "interval");
  one("BM_AddBuffered", "os");
  for (const int thread_count : {1, 2, 4, 8}) {
    benchmark::RegisterBenchmark("BM_AddDurableThreads", add_by_threads, "commit")
        ->Threads(thread_count)
        ->UseRealTime();
    benchmark::RegisterBenchmark("BM_AddBufferedThreads", add_by_threads, "os")
        ->Threads(thread_count)
        ->UseRealTime();
  }
}

}  // namespace varve::bench
