// One store whose sessions become many. Each has one entry; ten of all have the tag asked for.
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>

#include "bench_store.h"
#include "give_up.h"
#include "measurements.h"
#include "timing.h"

namespace varve::bench {

namespace {

constexpr size_t kSessionCalls = 100;
constexpr size_t kStoreQueries = 3;
constexpr size_t kTaggedCount = 10;

std::string session_id_of(size_t number) { return "many" + std::to_string(number); }

void create_session(BenchStore& store, const std::string& id, const char* tag) {
  const std::string options = R"({"session_id":")" + id + R"(","durability":"os"})";
  const std::string entry =
      R"({"type":"finding","content":"tea, not coffee","tags":[")" + std::string(tag) + R"("]})";
  varve_session_t* session = nullptr;
  varve_error_t* error = nullptr;
  check(varve_session_create(store.store(), options.data(), options.size(), &session, &error),
        error, "create session");
  check(varve_session_add(session, entry.data(), entry.size(), nullptr, nullptr, &error), error,
        "add");
  varve_session_close(session);
}

void open_session(BenchStore& store, const std::string& id) {
  varve_session_t* session = nullptr;
  check(varve_session_open(store.store(), id.data(), id.size(), &session, nullptr), nullptr,
        "open session");
  varve_session_close(session);
}

void list_sessions(BenchStore& store) {
  constexpr std::string_view kFilter = R"({"limit":100})";
  char* text = nullptr;
  check(
      varve_store_sessions(store.store(), kFilter.data(), kFilter.size(), &text, nullptr, nullptr),
      nullptr, "list sessions");
  varve_free(text);
}

size_t query_sessions(BenchStore& store) {
  constexpr std::string_view kQuery = R"({"tags":{"include":["rare"]},"limit":10})";
  varve_results_t* results = nullptr;
  check(varve_store_query(store.store(), kQuery.data(), kQuery.size(), &results, nullptr), nullptr,
        "query store");
  const size_t count = varve_results_count(results);
  varve_results_free(results);
  return count;
}

}  // namespace

std::vector<Measurement> measure_sessions(size_t session_count,
                                          const std::filesystem::path& parent) {
  BenchStore store("os", parent);
  for (size_t i = 0; i < session_count; ++i) {
    const bool is_tagged = i % std::max<size_t>(1, session_count / kTaggedCount) == 0;
    create_session(store, session_id_of(i), is_tagged ? "rare" : "common");
  }
  std::vector<Measurement> measurements;
  const auto note = [&](const char* series, double us) {
    measurements.push_back({"sessions", series, static_cast<double>(session_count), us});
  };
  if (query_sessions(store) == 0) give_up("no session has the tag");
  note("query all by tag", median_us(kStoreQueries, [&](size_t) { query_sessions(store); }));
  note("list 100", median_us(kSessionCalls, [&](size_t) { list_sessions(store); }));
  note("open one", median_us(kSessionCalls, [&](size_t i) {
         open_session(store, session_id_of(i * 7919 % session_count));
       }));
  note("create one, with an entry", median_us(kSessionCalls, [&](size_t i) {
         create_session(store, "new" + std::to_string(i), "common");
       }));
  return measurements;
}

}  // namespace varve::bench
