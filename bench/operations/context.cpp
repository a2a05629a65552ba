#include "operations.h"
#include "query_json.h"

namespace varve::bench {

namespace {

constexpr size_t kQuestionCount = 300;

void build_context(benchmark::State& state) {
  const auto entry_count = static_cast<size_t>(state.range(0));
  BenchStore& store = filled_store(entry_count);
  std::vector<std::string> requests;
  const Workload workload(kBodyBytes);
  for (const auto& question : make_questions(workload, entry_count, kQuestionCount, false)) {
    requests.push_back(json_of(question));
    store.context(requests.back());  // reads and counts what later ones have ready
  }
  size_t next = 0;
  size_t bytes = 0;
  for (auto _ : state) bytes += store.context(requests[next++ % requests.size()]).size();
  if (bytes < static_cast<size_t>(state.iterations()) * kContextTokens) {
    give_up("contexts are smaller than their budget");
  }
  count_work(state, 1, bytes);
}

// A call and its result: the second looks for the first.
void record_call_and_result(benchmark::State& state) {
  BenchStore store;
  const std::string call = R"({"name":"weather","arguments":{"city":"Lund"}})";
  const std::string result = R"({"name":"weather","result":"rain, 4 m/s"})";
  const auto record = [&](const char* kind, const std::string& payload) {
    varve_error_t* error = nullptr;
    check(varve_context_record(store.session(), kind, VARVE_NUL_TERMINATED, payload.data(),
                               payload.size(), nullptr, nullptr, &error),
          error, "record");
  };
  for (auto _ : state) {
    record("tool_call", call);
    record("tool_result", result);
  }
  const auto recorded = 2 * static_cast<uint64_t>(state.iterations());
  if (store.count("{}") != recorded) give_up("not every step was recorded");
  count_work(state, 2, 0);
}

}  // namespace

void register_contexts(const Scale& scale) {
  with_sizes(benchmark::RegisterBenchmark("BM_Context4000Tokens", build_context), "entries",
             scale.of({1'000, 10'000, 100'000}));
  benchmark::RegisterBenchmark("BM_RecordCallAndResult", record_call_and_result);
}

}  // namespace varve::bench
