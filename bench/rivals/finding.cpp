// The workloads that find. Before any of them is timed, answers are checked, which also warms up.
#include <algorithm>
#include <numeric>
#include <utility>

#include "bench_run.h"

namespace varve::bench {

namespace {

constexpr size_t kGetCount = 20'000;
constexpr size_t kCheckedCount = 20;

void measure_gets_of(Run* run, Rival* store, const RivalEntry& rival, const std::string& work,
                     const std::vector<std::string>& ids) {
  size_t bytes = 0;
  const auto times_us = timed(*run, ids.size(), [&](size_t i) { bytes += store->get(ids[i]); });
  if (bytes < times_us.size() * run->options.body_bytes) give_up(rival.name + " read too little");
  run->figures.note_percentiles(work, rival.name, "us", times_us);
}

// All of them, or so many, once each since the store was opened; then those again, at random.
void measure_gets(Run* run, Rival* store, const RivalEntry& rival) {
  std::vector<size_t> numbers(run->options.entry_count);
  std::iota(numbers.begin(), numbers.end(), size_t{0});
  Random random(7);
  const size_t count = std::min(kGetCount, numbers.size());
  for (size_t i = 0; i < count; ++i) {
    std::swap(numbers[i], numbers[i + random.below(numbers.size() - i)]);
  }
  std::vector<std::string> ids(count);
  for (size_t i = 0; i < count; ++i) ids[i] = entry_id(numbers[i]);
  measure_gets_of(run, store, rival, "get by id, its first time", ids);
  ids.resize(kGetCount);
  for (auto& id : ids) id = entry_id(numbers[random.below(count)]);
  measure_gets_of(run, store, rival, "get by id", ids);
}

// The first answers, checked in the first round. False: the engine cannot.
// find(query, answer) is one of the Rival's.
template <typename Query, typename Find>
bool check_answers(Run* run, const RivalEntry& rival, const std::string& work,
                   const std::vector<Query>& queries, Find find) {
  std::string answer;
  size_t found_count = 0;
  for (size_t i = 0; i < std::min(kCheckedCount, queries.size()); ++i) {
    answer.clear();
    if (!find(queries[i], &answer)) return false;
    if (run->round > 0) continue;
    run->answers.check(queries[i], rival.name, answer);
    const size_t count = numbers_in(answer).size();
    if (answer.size() < count * run->options.body_bytes) {
      give_up(rival.name + " gave entries, but not in full: " + work);
    }
    found_count += count;
  }
  if (run->round == 0 && found_count == 0) give_up("nothing is there to be found: " + work);
  return true;
}

// Each is asked once before: what is timed is an engine that has been asked for a while.
template <typename Query, typename Find>
void measure_queries(Run* run, const RivalEntry& rival, const std::string& work,
                     const std::vector<Query>& queries, Find find) {
  if (!check_answers(run, rival, work, queries, find)) return;
  std::string answer;
  const auto ask = [&](size_t i) {
    answer.clear();
    find(queries[i], &answer);
  };
  (void)timed(*run, queries.size(), ask);
  const auto times_us = timed(*run, queries.size(), ask);
  run->figures.note_percentiles(work, rival.name, "us", times_us);
}

void measure_text(Run* run, Rival* store, const RivalEntry& rival) {
  const auto find = [&](const TextQuery& query, std::string* answer) {
    return store->find_text(query, answer);
  };
  const QuerySet& queries = run->queries;
  measure_queries(run, rival, "text, any of 3 words, top 10", queries.any, find);
  measure_queries(run, rival, "text, all of 3 words, top 10", queries.all, find);
  measure_queries(run, rival, "text, common and rare word, top 10", queries.common_and_rare, find);
}

}  // namespace

void measure_finding(Run* run, Rival* store, const RivalEntry& rival) {
  if (run->options.wants("get")) measure_gets(run, store, rival);
  if (run->options.wants("tagged")) {
    measure_queries(run, rival, "tag + type + range, 10 newest", run->queries.tagged,
                    [&](const TaggedQuery& query, std::string* answer) {
                      return store->find_tagged(query, answer);
                    });
  }
  if (run->options.wants("text")) measure_text(run, store, rival);
  if (run->options.wants("ranked")) {
    measure_queries(run, rival, "decay-ranked top 10 of all", run->queries.ranked,
                    [&](const RankedQuery& query, std::string* answer) {
                      return store->find_ranked(query, answer);
                    });
  }
}

}  // namespace varve::bench
