// Benchmarks of queries with a vector: every vector of a session is compared.
#include <random>

#include "operations.h"

namespace varve::bench {

namespace {

constexpr size_t kResults = 10;

void check_ok(varve_status_t status) { check(status, nullptr, "a call with vectors"); }

// A store in memory with so many entries that have a vector.
class VectorSession {
 public:
  VectorSession(size_t entry_count, uint32_t dimension) : dimension_(dimension) {
    const std::string config = R"({"storage":{"max_session_size_mb":0}})";
    check_ok(varve_store_open("memory:", VARVE_NUL_TERMINATED, config.data(), config.size(),
                              &store_, nullptr));
    check_ok(varve_session_create(store_, nullptr, 0, &session_, nullptr));
    std::string lines;
    for (size_t i = 0; i < entry_count; ++i) {
      lines += R"({"id":"e)" + std::to_string(i) + R"(","type":"finding","content":"note )" +
               std::to_string(i % 100) + "\"}\n";
    }
    check_ok(
        varve_session_add_batch(session_, lines.data(), lines.size(), nullptr, nullptr, nullptr));
    for (size_t i = 0; i < entry_count; ++i) {
      const std::string id = "e" + std::to_string(i);
      const std::vector<float> values = next_vector();
      check_ok(varve_session_put_vector(session_, id.data(), id.size(), values.data(), dimension,
                                        nullptr));
    }
  }
  ~VectorSession() {
    varve_session_close(session_);
    varve_store_close(store_);
  }
  VectorSession(const VectorSession&) = delete;
  VectorSession& operator=(const VectorSession&) = delete;

  std::string query(const std::string& more) {
    std::string text = R"({"limit":)" + std::to_string(kResults) + more + R"(,"vector":[)";
    const std::vector<float> values = next_vector();
    for (const float value : values) text += std::to_string(value) + ",";
    text.back() = ']';
    return text + "}";
  }

  void ask(const std::string& query) {
    varve_results_t* results = nullptr;
    check_ok(varve_session_query(session_, query.data(), query.size(), &results, nullptr));
    if (varve_results_count(results) != kResults) give_up("vectors find too little");
    varve_results_free(results);
  }

 private:
  std::vector<float> next_vector() {
    std::normal_distribution<float> number;
    std::vector<float> values(dimension_);
    for (float& value : values) value = number(random_);
    return values;
  }

  uint32_t dimension_;
  std::mt19937 random_{1};
  varve_store_t* store_ = nullptr;
  varve_session_t* session_ = nullptr;
};

void ask(benchmark::State& state, const std::string& more) {
  VectorSession session(static_cast<size_t>(state.range(0)), static_cast<uint32_t>(state.range(1)));
  const std::string query = session.query(more);
  session.ask(query);  // loads the vectors
  for (auto _ : state) session.ask(query);
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

}  // namespace

void register_vectors(const Scale& scale) {
  const auto sized = [&](const char* name, const std::string& more) {
    Benchmark* benchmark = benchmark::RegisterBenchmark(name, ask, more)
                               ->ArgNames({"entries", "dimension"})
                               ->Unit(benchmark::kMicrosecond);
    for (const int64_t size : scale.of({1'000, 10'000})) benchmark->Args({size, 768});
  };
  sized("BM_QueryVector", "");
  sized("BM_QueryVectorAndText", R"(,"text":"note 7")");
}

}  // namespace varve::bench
