// One session that grows.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "bench_store.h"
#include "give_up.h"
#include "measurements.h"
#include "query_json.h"
#include "timing.h"

namespace varve::bench {

namespace {

constexpr size_t kBodyBytes = 850;
constexpr size_t kCallCount = 300;
constexpr size_t kOpenCount = 7;
constexpr double kMegabyte = 1e6;

// Notes figures of one size.
class Notes {
 public:
  explicit Notes(size_t size) : size_(static_cast<double>(size)) {}
  void add(const char* chart, const char* series, double value) {
    measurements_.push_back({chart, series, size_, value});
  }
  std::vector<Measurement> take() { return std::move(measurements_); }

 private:
  double size_;
  std::vector<Measurement> measurements_;
};

// [us] of the second time each query is asked: what they need has been read by the first.
template <typename Query>
double asked_us(BenchStore& store, const std::vector<Query>& queries) {
  std::vector<std::string> texts;
  size_t found_count = 0;
  for (const auto& query : queries) {
    texts.push_back(json_of(query));
    found_count += store.query(texts.back());
  }
  if (found_count == 0) give_up("nothing is found by " + texts.front());
  return median_us(texts.size(), [&](size_t i) { store.query(texts[i]); });
}

double contexts_us(BenchStore& store, const Workload& workload, size_t entry_count) {
  std::vector<std::string> requests;
  for (const auto& question : make_questions(workload, entry_count, kCallCount, false)) {
    requests.push_back(json_of(question));
    if (store.context(requests.back()).size() < kContextTokens) give_up("a context is too small");
  }
  return median_us(requests.size(), [&](size_t i) { store.context(requests[i]); });
}

void measure_finding(Notes* notes, BenchStore& store, const Workload& workload, size_t count) {
  const QuerySet queries = make_queries(workload, count, kCallCount);
  notes->add("finding", "by tag, type and time", asked_us(store, queries.tagged));
  notes->add("finding", "any of 3 words", asked_us(store, queries.any));
  notes->add("finding", "a common and a rare word", asked_us(store, queries.common_and_rare));
  notes->add("finding", "by relevance that decays", asked_us(store, queries.ranked));
  notes->add("finding", "context of 4,000 tokens", contexts_us(store, workload, count));
  const auto get = [&](size_t i) { store.get(entry_id(i * 7919 % count)); };
  median_us(kCallCount, get);
  notes->add("finding", "get", median_us(kCallCount, get));
}

void measure_adding(Notes* notes, BenchStore& store, const Workload& workload, size_t count) {
  const auto entries = workload.entries(count, kCallCount);
  notes->add("finding", "buffered add",
             median_us(entries.size(), [&](size_t i) { store.add(entries[i].json); }));
}

void measure_opening(Notes* notes, BenchStore& store, size_t count) {
  const std::string id = entry_id(count / 2);
  const std::string query = json_of(TextQuery{{unique_word_of(count / 2)}, false});
  std::vector<double> gets_us;
  std::vector<double> texts_us;
  for (size_t i = 0; i < kOpenCount; ++i) {
    store.close();
    const auto start = Steady::now();
    store.open_store();
    store.get(id);
    gets_us.push_back(microseconds_since(start));
    if (store.query(query) != 1) give_up("a word is not found after opening");
    texts_us.push_back(microseconds_since(start));
  }
  notes->add("upkeep", "open and get", percentile(gets_us, 0.5) / 1000);
  notes->add("upkeep", "open and find by words", percentile(texts_us, 0.5) / 1000);
}

double number_in(const std::string& json, const std::string& member) {
  const size_t at = json.find("\"" + member + "\":");
  if (at == std::string::npos) give_up("there is no " + member + " in " + json);
  return std::strtod(json.c_str() + at + member.size() + 3, nullptr);
}

void measure_sizes(Notes* notes, BenchStore& store) {
  const auto index_bytes = std::filesystem::file_size(store.session_directory() / "index.bin");
  notes->add("space", "log", static_cast<double>(store.log_bytes()) / kMegabyte);
  notes->add("space", "index on disk", static_cast<double>(index_bytes) / kMegabyte);
  notes->add("space", "index in memory", number_in(store.stats(), "memory_bytes") / kMegabyte);
}

void measure_upkeep(Notes* notes, BenchStore& store, const Workload& workload, size_t count) {
  const auto once_ms = [](auto action) { return median_us(1, action) / 1000; };
  notes->add("upkeep", "rebuild", once_ms([&](size_t) { store.rebuild(); }));
  measure_sizes(notes, store);  // now that all words are in the index
  const auto tagged = tag_of_share(workload, count, 0.1);
  const std::string query = R"({"tags":{"include":[")" + tagged.tag + R"("]}})";
  notes->add("upkeep", "delete a tenth", once_ms([&](size_t) { store.delete_where(query); }));
  notes->add("upkeep", "compact", once_ms([&](size_t) { store.compact(); }));
}

}  // namespace

std::vector<Measurement> measure_entries(size_t entry_count, const std::filesystem::path& parent) {
  const Workload workload(kBodyBytes);
  BenchStore store("os", parent);
  store.fill(workload, entry_count);
  Notes notes(entry_count);
  measure_finding(&notes, store, workload, entry_count);
  measure_adding(&notes, store, workload, entry_count);
  measure_opening(&notes, store, entry_count);
  measure_upkeep(&notes, store, workload, entry_count);
  return notes.take();
}

}  // namespace varve::bench
