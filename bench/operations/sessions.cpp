// Many sessions in one store.
#include <algorithm>
#include <map>
#include <memory>

#include "operations.h"

namespace varve::bench {

namespace {

void create_session(BenchStore& store, const std::string& id, bool with_entry) {
  const std::string options = R"({"session_id":")" + id + R"(","durability":"os"})";
  varve_session_t* session = nullptr;
  varve_error_t* error = nullptr;
  check(varve_session_create(store.store(), options.data(), options.size(), &session, &error),
        error, "create session");
  if (with_entry) {
    constexpr std::string_view kEntry = R"({"type":"finding","content":"tea","tags":["drinks"]})";
    check(varve_session_add(session, kEntry.data(), kEntry.size(), nullptr, nullptr, &error), error,
          "add");
  }
  varve_session_close(session);
}

std::string session_id(int64_t number) { return "many" + std::to_string(number); }

// Filled once; each session has one entry.
BenchStore& store_of_sessions(int64_t session_count) {
  static std::map<int64_t, std::unique_ptr<BenchStore>> stores;
  std::unique_ptr<BenchStore>& store = stores[session_count];
  if (store) return *store;
  store = std::make_unique<BenchStore>();
  for (int64_t i = 0; i < session_count; ++i) create_session(*store, session_id(i), true);
  return *store;
}

void create_sessions(benchmark::State& state) {
  BenchStore& store = store_of_sessions(state.range(0));
  static int64_t next = 0;  // over all calls of this function: ids must be new
  const int64_t first = next;
  for (auto _ : state) create_session(store, "new" + std::to_string(next++), false);
  for (int64_t i = first; i < next; ++i) {
    const std::string id = "new" + std::to_string(i);
    check(varve_store_delete_session(store.store(), id.data(), id.size(), nullptr), nullptr,
          "delete session");
  }
  count_work(state, 1, 0);
}

void open_sessions(benchmark::State& state) {
  BenchStore& store = store_of_sessions(state.range(0));
  int64_t next = 0;
  for (auto _ : state) {
    const std::string id = session_id(next++ * 7919 % state.range(0));
    varve_session_t* session = nullptr;
    check(varve_session_open(store.store(), id.data(), id.size(), &session, nullptr), nullptr,
          "open session");
    varve_session_close(session);
  }
  count_work(state, 1, 0);
}

void list_sessions(benchmark::State& state) {
  BenchStore& store = store_of_sessions(state.range(0));
  constexpr std::string_view kFilter = R"({"limit":100})";
  size_t bytes = 0;
  for (auto _ : state) {
    char* text = nullptr;
    size_t size = 0;
    check(
        varve_store_sessions(store.store(), kFilter.data(), kFilter.size(), &text, &size, nullptr),
        nullptr, "list sessions");
    bytes += size;
    varve_free(text);
  }
  if (bytes < static_cast<size_t>(state.iterations()) * 1000) give_up("there are no sessions");
  count_work(state, std::min<int64_t>(state.range(0), 100), bytes);
}

void query_sessions(benchmark::State& state) {
  BenchStore& store = store_of_sessions(state.range(0));
  constexpr std::string_view kQuery = R"({"tags":{"include":["drinks"]},"limit":10})";
  size_t found_count = 0;
  for (auto _ : state) {
    varve_results_t* results = nullptr;
    check(varve_store_query(store.store(), kQuery.data(), kQuery.size(), &results, nullptr),
          nullptr, "query store");
    found_count += varve_results_count(results);
    varve_results_free(results);
  }
  if (found_count == 0) give_up("no session has what was asked for");
  count_work(state, state.range(0), 0);
}

}  // namespace

void register_sessions(const Scale& scale) {
  const auto sizes = scale.of({10, 1'000});
  const auto sized = [&](const char* name, void (*function)(benchmark::State&)) {
    return with_sizes(benchmark::RegisterBenchmark(name, function), "sessions", sizes)
        ->UseRealTime();
  };
  sized("BM_SessionCreate", create_sessions);
  sized("BM_SessionOpen", open_sessions);
  sized("BM_SessionList", list_sessions);
  sized("BM_StoreQueryTagged", query_sessions)->Unit(benchmark::kMicrosecond);
}

}  // namespace varve::bench
