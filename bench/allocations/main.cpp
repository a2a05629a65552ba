// varve_allocations: how often an operation allocates in the steady state, and how much. Prints a
// table; exits 1 when one does more often than it may. The numbers are the same on every machine.
//
//   varve_allocations [ENTRIES]    entries in the session (10000)
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "bench_store.h"
#include "counter.h"
#include "give_up.h"
#include "query_json.h"

namespace varve::bench {

namespace {

constexpr size_t kBodyBytes = 850;
constexpr size_t kCallCount = 500;  // counted, after as many that are not

struct Operation {
  const char* name;
  uint64_t allocations_max;  // per call on average: half as much again as when it was set
  std::function<void(size_t)> call;
};

struct Counted {
  double mean_count = 0;
  uint64_t most_count = 0;
  double mean_bytes = 0;
};

Counted count_calls(const std::function<void(size_t)>& call) {
  for (size_t i = 0; i < kCallCount; ++i) call(i);  // the caches are filled
  Counted counted;
  for (size_t i = 0; i < kCallCount; ++i) {
    const Allocations before = allocations_of_thread();
    call(i);
    const Allocations after = allocations_of_thread();
    const uint64_t count = after.count - before.count;
    counted.mean_count += static_cast<double>(count) / kCallCount;
    counted.mean_bytes += static_cast<double>(after.bytes - before.bytes) / kCallCount;
    counted.most_count = std::max(counted.most_count, count);
  }
  return counted;
}

// What the operations are called with, made before anything is counted.
struct Material {
  explicit Material(size_t entry_count) {
    const Workload workload(kBodyBytes);
    for (const auto& entry : workload.entries(0, kCallCount)) added.push_back(without_id(entry));
    for (size_t i = 0; i < 10; ++i) batch += added[i] + "\n";
    for (size_t i = 0; i < kCallCount; ++i) ids.push_back(entry_id(i * 7919 % entry_count));
    const QuerySet queries = make_queries(workload, entry_count, kCallCount);
    for (const auto& query : queries.tagged) tagged.push_back(json_of(query));
    for (const auto& query : queries.any) any.push_back(json_of(query));
    for (const auto& query : queries.ranked) ranked.push_back(json_of(query));
    for (const auto& question : make_questions(workload, entry_count, kCallCount, false)) {
      questions.push_back(json_of(question));
    }
  }

  std::vector<std::string> added;
  std::string batch;  // of 10
  std::vector<std::string> ids;
  std::vector<std::string> tagged;
  std::vector<std::string> any;
  std::vector<std::string> ranked;
  std::vector<std::string> questions;
};

void append_turn(BenchStore& store) {
  check(varve_transcript_append(store.session(), "user", 4, "hello", 5, nullptr), nullptr,
        "append turn");
}

// Those that read come first: they find the entries that the store was filled with.
std::vector<Operation> operations_of(BenchStore& store, const Material& material) {
  return {
      {"get", 2, [&](size_t i) { store.get(material.ids[i]); }},
      {"query, tag + type + range", 30, [&](size_t i) { store.query(material.tagged[i]); }},
      {"query, any of 3 words", 45, [&](size_t i) { store.query(material.any[i]); }},
      {"query, decay-ranked", 40, [&](size_t i) { store.query(material.ranked[i]); }},
      {"context of 4,000 tokens", 500, [&](size_t i) { store.context(material.questions[i]); }},
      {"add", 30, [&](size_t i) { store.add(material.added[i]); }},
      {"batch of 10", 200, [&](size_t) { store.add_batch(material.batch); }},
      {"transcript, a turn", 55, [&](size_t) { append_turn(store); }},
  };
}

// False: more than it may.
bool report(const Operation& operation) {
  const Counted counted = count_calls(operation.call);
  const bool is_bounded = counted.mean_count <= static_cast<double>(operation.allocations_max);
  std::printf("| %s | %.1f | %llu | %.0f | %llu%s |\n", operation.name, counted.mean_count,
              static_cast<unsigned long long>(counted.most_count), counted.mean_bytes,
              static_cast<unsigned long long>(operation.allocations_max),
              is_bounded ? "" : " **exceeded**");
  // A count of nothing would pass every bound.
  if (counted.mean_count == 0)
    give_up("no allocation was counted: the counter is not in its place");
  return is_bounded;
}

}  // namespace

}  // namespace varve::bench

int main(int argc, char** argv) {
  using namespace varve::bench;
  const size_t entry_count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000;
  if (entry_count == 0) give_up("varve_allocations [ENTRIES]");
  BenchStore store;
  store.fill(Workload(kBodyBytes), entry_count);
  const Material material(entry_count);
  std::printf("%zu entries of about 1 KB; %zu calls of each, after as many\n\n", entry_count,
              kCallCount);
  std::printf("| operation | allocations | most | bytes | allowed |\n|---|---|---|---|---|\n");
  bool is_bounded = true;
  for (const auto& operation : operations_of(store, material)) is_bounded &= report(operation);
  return is_bounded ? 0 : 1;
}
