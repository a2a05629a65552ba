// Queries without words: tags, types, time, relevance, references, content.
#include "asking.h"
#include "query_json.h"

namespace varve::bench {

namespace {

constexpr const char* kLimit = R"("limit":10})";

template <typename Kind>
auto of_workload(Kind QuerySet::*kind) {
  return [kind](size_t entry_count) {
    const QuerySet queries =
        varve::bench::make_queries(Workload(kBodyBytes), entry_count, kQueryCount);
    std::vector<std::string> texts;
    for (const auto& query : queries.*kind) texts.push_back(json_of(query));
    return texts;
  };
}

auto always(const std::string& members) {
  return [members](size_t) { return std::vector<std::string>{"{" + members + "," + kLimit}; };
}

// What many different entries are connected with, two steps far.
std::vector<std::string> about_references(size_t entry_count) {
  Random random(3);
  std::vector<std::string> texts;
  for (size_t i = 0; i < kQueryCount; ++i) {
    texts.push_back(R"({"references":[")" + entry_id(random.below(entry_count)) +
                    R"("],"max_depth":2,)" + kLimit);
  }
  return texts;
}

std::vector<std::string> about_ids(size_t entry_count) {
  Random random(4);
  std::vector<std::string> texts;
  for (size_t i = 0; i < kQueryCount; ++i) {
    std::string ids;
    for (size_t j = 0; j < 10; ++j) ids += ",\"" + entry_id(random.below(entry_count)) + "\"";
    texts.push_back(R"({"ids":[)" + ids.substr(1) + R"(],"sort_by":"time",)" + kLimit);
  }
  return texts;
}

void count_tagged(benchmark::State& state) {
  const auto entry_count = static_cast<size_t>(state.range(0));
  BenchStore& store = filled_store(entry_count);
  const auto tagged = tag_of_share(Workload(kBodyBytes), entry_count, 0.1);
  const std::string query = R"({"tags":{"include":[")" + tagged.tag + R"("]}})";
  uint64_t count = 0;
  for (auto _ : state) count = store.count(query);
  if (count != tagged.numbers.size()) give_up("not every entry of a tag was counted");
  count_work(state, 1, 0);
}

void tell_tags(benchmark::State& state) {
  BenchStore& store = filled_store(static_cast<size_t>(state.range(0)));
  size_t bytes = 0;
  for (auto _ : state) {
    char* text = nullptr;
    size_t size = 0;
    check(varve_session_tags(store.session(), &text, &size, nullptr), nullptr, "tags");
    bytes += size;
    varve_free(text);
  }
  if (bytes < static_cast<size_t>(state.iterations()) * 100) give_up("there are no tags");
  count_work(state, 1, bytes);
}

}  // namespace

void register_queries(const Scale& scale) {
  const auto sizes = scale.of({1'000, 10'000, 100'000});
  register_query("BM_QueryTagged", scale, of_workload(&QuerySet::tagged));
  register_query("BM_QueryRanked", scale, of_workload(&QuerySet::ranked));
  register_query("BM_QueryNewest", scale, always(R"("sort_by":"time")"));
  register_query("BM_QueryImportance", scale, always(R"("sort_by":"importance")"));
  register_query("BM_QueryContent", scale, always(R"("content":{"role":"user"},"sort_by":"time")"));
  register_query("BM_QueryReferences", scale, about_references);
  register_query("BM_QueryIds", scale, about_ids);
  with_sizes(benchmark::RegisterBenchmark("BM_CountTagged", count_tagged), "entries", sizes);
  with_sizes(benchmark::RegisterBenchmark("BM_Tags", tell_tags), "entries", sizes);
}

}  // namespace varve::bench
