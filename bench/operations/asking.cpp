#include "asking.h"

namespace varve::bench {

void ask_in_turn(benchmark::State& state, BenchStore& store,
                 const std::vector<std::string>& queries) {
  size_t found_count = 0;
  for (const auto& query : queries) found_count += store.query(query);  // and what it needs is read
  if (found_count == 0) give_up("nothing is ever found by " + queries.front());
  size_t next = 0;
  for (auto _ : state) benchmark::DoNotOptimize(store.query(queries[next++ % queries.size()]));
  state.counters["found"] = static_cast<double>(found_count) / static_cast<double>(queries.size());
  count_work(state, 1, 0);
}

}  // namespace varve::bench
