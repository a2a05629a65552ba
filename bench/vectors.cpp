// Benchmarks of queries with a vector: every vector of a session is compared.
#include <benchmark/benchmark.h>
#include <varve/varve.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr size_t kResults = 10;

void check(varve_status_t status) {
  if (status != VARVE_OK) std::abort();
}

// A store in memory with so many entries that have a vector.
class VectorSession {
 public:
  VectorSession(size_t entry_count, uint32_t dimension) : dimension_(dimension) {
    const std::string config = R"({"storage":{"max_session_size_mb":0}})";
    check(varve_store_open("memory:", VARVE_NUL_TERMINATED, config.data(), config.size(), &store_,
                           nullptr));
    check(varve_session_create(store_, nullptr, 0, &session_, nullptr));
    std::string lines;
    for (size_t i = 0; i < entry_count; ++i) {
      lines += R"({"id":"e)" + std::to_string(i) + R"(","type":"finding","content":"note )" +
               std::to_string(i % 100) + "\"}\n";
    }
    check(varve_session_add_batch(session_, lines.data(), lines.size(), nullptr, nullptr, nullptr));
    for (size_t i = 0; i < entry_count; ++i) {
      const std::string id = "e" + std::to_string(i);
      const std::vector<float> values = next_vector();
      check(varve_session_put_vector(session_, id.data(), id.size(), values.data(), dimension,
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
    check(varve_session_query(session_, query.data(), query.size(), &results, nullptr));
    if (varve_results_count(results) != kResults) std::abort();
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

void BM_QueryVector(benchmark::State& state) { ask(state, ""); }
void BM_QueryVectorAndText(benchmark::State& state) { ask(state, R"(,"text":"note 7")"); }

BENCHMARK(BM_QueryVector)
    ->ArgNames({"entries", "dimension"})
    ->Args({1'000, 768})
    ->Args({10'000, 768})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(BM_QueryVectorAndText)
    ->ArgNames({"entries", "dimension"})
    ->Args({10'000, 768})
    ->Unit(benchmark::kMicrosecond);

}  // namespace
