// Queries by words: rare and frequent ones, many, wildcards, phrases.
#include <sstream>

#include "asking.h"
#include "query_json.h"

namespace varve::bench {

namespace {

constexpr size_t kCommonRanks = 16;
constexpr size_t kRareRankMin = 5'000;
constexpr size_t kManyWords = 16;

// Of the standing kinds, or one text of words made anew for each query.
auto of_kind(std::vector<TextQuery> QuerySet::*kind) {
  return [kind](size_t entry_count) {
    const QuerySet queries = make_queries(Workload(kBodyBytes), entry_count, kQueryCount);
    std::vector<std::string> texts;
    for (const auto& query : queries.*kind) texts.push_back(json_of(query));
    return texts;
  };
}

template <typename MakeText>
auto of_text(MakeText make_text) {
  return [make_text](size_t entry_count) {
    const Workload workload(kBodyBytes);
    Random random(5);
    std::vector<std::string> queries;
    for (size_t i = 0; i < kQueryCount; ++i) {
      queries.push_back(R"({"text":")" + make_text(workload, entry_count, random) +
                        R"(","sort_by":"match","limit":10})");
    }
    return queries;
  };
}

std::string unique(const Workload&, size_t entry_count, Random& random) {
  return unique_word_of(random.below(entry_count));
}

std::string rare(const Workload&, size_t, Random& random) {
  return word_of(kRareRankMin + random.below(kVocabularyCount - kRareRankMin));
}

std::string common(const Workload&, size_t, Random& random) {
  return word_of(random.below(kCommonRanks));
}

std::string many(const Workload& workload, size_t, Random& random) {
  std::string text;
  for (size_t i = 0; i < kManyWords; ++i) {
    text += (i == 0 ? "" : " ") + word_of(workload.draw_rank(random));
  }
  return text;
}

std::string wildcard(const Workload&, size_t, Random& random) {
  return word_of(kRareRankMin + random.below(kRareRankMin)) + "*";
}

// Two neighbours of one entry.
std::string phrase(const Workload& workload, size_t entry_count, Random& random) {
  const WorkloadEntry entry = workload.entry(random.below(entry_count));
  std::istringstream message{std::string(entry.message())};
  std::string first;
  std::string second;
  message >> first >> first >> second;  // the first of all is in no other entry
  return R"(\")" + first + " " + second + R"(\")";
}

std::string without(const Workload&, size_t, Random& random) {
  return word_of(kCommonRanks + random.below(kRareRankMin)) + " -" +
         word_of(random.below(kCommonRanks));
}

// An add, and a query for the one word that only this entry has.
void add_and_find(benchmark::State& state) {
  const Workload workload(kBodyBytes);
  const auto stored_count = static_cast<size_t>(state.range(0));
  BenchStore store;
  store.fill(workload, stored_count);
  size_t number = stored_count;
  for (auto _ : state) {
    state.PauseTiming();
    const WorkloadEntry entry = workload.entry(number);
    const std::string query = json_of(TextQuery{{unique_word_of(number++)}, false});
    state.ResumeTiming();
    store.add(entry.json);
    if (store.query(query) != 1) give_up("an entry just added was not found");
  }
  count_work(state, 1, 0);
}

}  // namespace

void register_texts(const Scale& scale) {
  register_query("BM_QueryTextUnique", scale, of_text(unique));
  register_query("BM_QueryTextRare", scale, of_text(rare));
  register_query("BM_QueryTextCommon", scale, of_text(common));
  register_query("BM_QueryTextAny", scale, of_kind(&QuerySet::any));
  register_query("BM_QueryTextAll", scale, of_kind(&QuerySet::all));
  register_query("BM_QueryTextCommonAndRare", scale, of_kind(&QuerySet::common_and_rare));
  register_query("BM_QueryTextMany", scale, of_text(many));
  register_query("BM_QueryTextWithout", scale, of_text(without));
  register_query("BM_QueryTextWildcard", scale, of_text(wildcard));
  register_query("BM_QueryTextPhrase", scale, of_text(phrase));
  with_sizes(benchmark::RegisterBenchmark("BM_AddAndFind", add_and_find), "entries",
             scale.of({1'000, 10'000}));
}

}  // namespace varve::bench
