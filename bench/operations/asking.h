// Queries in turn, for the benchmarks that ask.
#pragma once

#include "operations.h"

namespace varve::bench {

constexpr size_t kQueryCount = 500;  // different ones of a kind

// Asks each of the queries again and again. Some must find something.
void ask_in_turn(benchmark::State& state, BenchStore& store,
                 const std::vector<std::string>& queries);

// Registers a benchmark that asks what `make_queries(entry_count)` gives of so many entries.
template <typename MakeQueries>
Benchmark* register_query(const char* name, const Scale& scale, MakeQueries make_queries) {
  const auto ask = [make_queries](benchmark::State& state) {
    const auto entry_count = static_cast<size_t>(state.range(0));
    ask_in_turn(state, filled_store(entry_count), make_queries(entry_count));
  };
  return with_sizes(benchmark::RegisterBenchmark(name, ask), "entries",
                    scale.of({1'000, 10'000, 100'000}));
}

}  // namespace varve::bench
