// The benchmarks of varve_bench: a source file for each kind of operation, registered by main.cpp.
// Every benchmark checks, after its loop, that it did what its name says.
#pragma once

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "bench_store.h"
#include "give_up.h"
#include "workload.h"

namespace varve::bench {

constexpr size_t kBodyBytes = 850;  // of an entry's message: an entry of about 1 KB

// What sizes are measured: those that are given, or a tiny one when run as a test.
class Scale {
 public:
  explicit Scale(bool is_tiny) : is_tiny_(is_tiny) {}
  [[nodiscard]] std::vector<int64_t> of(const std::vector<int64_t>& sizes) const;

 private:
  bool is_tiny_;
};

using Benchmark = benchmark::internal::Benchmark;

// One run for each size; `name` tells it, with its unit.
Benchmark* with_sizes(Benchmark* benchmark, const std::string& name,
                      const std::vector<int64_t>& sizes);

// Items are what the name says is done; bytes those given to or taken from varve, 0 where they say
// nothing.
void count_work(benchmark::State& state, int64_t items_per_iteration, size_t bytes);

// The store of a workload's first entries, filled once for all benchmarks that only read.
BenchStore& filled_store(size_t entry_count);

void register_adds(const Scale& scale);
void register_batches(const Scale& scale);
void register_calls(const Scale& scale);
void register_contexts(const Scale& scale);
void register_gets(const Scale& scale);
void register_keys(const Scale& scale);
void register_opens(const Scale& scale);
void register_queries(const Scale& scale);
void register_rebuilds(const Scale& scale);
void register_removals(const Scale& scale);
void register_sessions(const Scale& scale);
void register_texts(const Scale& scale);
void register_transcripts(const Scale& scale);
void register_vectors(const Scale& scale);

}  // namespace varve::bench
