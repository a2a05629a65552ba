#include "operations.h"

namespace varve::bench {

namespace {

constexpr size_t kPrime = 7919;  // coprime to every size: all entries, in no order

void get_any(benchmark::State& state) {
  const auto entry_count = static_cast<size_t>(state.range(0));
  BenchStore& store = filled_store(entry_count);
  std::vector<std::string> ids;
  for (size_t i = 0; i < entry_count; ++i) ids.push_back(entry_id(i * kPrime % entry_count));
  size_t next = 0;
  size_t bytes = 0;
  for (auto _ : state) bytes += store.get(ids[next++ % ids.size()]);
  if (bytes < static_cast<size_t>(state.iterations()) * kBodyBytes) give_up("too little was read");
  count_work(state, 1, bytes);
}

void get_missing(benchmark::State& state) {
  const auto entry_count = static_cast<size_t>(state.range(0));
  BenchStore& store = filled_store(entry_count);
  const std::string id = entry_id(entry_count);
  varve_status_t status = VARVE_OK;
  for (auto _ : state) {
    char* text = nullptr;
    status = varve_session_get(store.session(), id.data(), id.size(), &text, nullptr, nullptr);
  }
  if (status != VARVE_NOT_FOUND) give_up("an entry was found that nobody added");
  count_work(state, 1, 0);
}

}  // namespace

void register_gets(const Scale& scale) {
  const auto sizes = scale.of({1'000, 10'000, 100'000});
  with_sizes(benchmark::RegisterBenchmark("BM_Get", get_any), "entries", sizes);
  with_sizes(benchmark::RegisterBenchmark("BM_GetMissing", get_missing), "entries", sizes);
}

}  // namespace varve::bench
