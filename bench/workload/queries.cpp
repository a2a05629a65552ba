#include "queries.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

namespace varve::bench {

namespace {

constexpr int64_t kHourMs = 3'600'000;
constexpr size_t kCommonRankMax = 16;
// More frequent words stand for a language's "the" and "of", which few ask for; with them, nearly
// every question would be about nearly every entry.
constexpr size_t kAskedRankMin = 64;
constexpr size_t kRareRankMin = 5000;

std::vector<std::string> words_of(const WorkloadEntry& entry, size_t count, Random& random) {
  std::istringstream message{std::string(entry.message())};
  std::string word;
  message >> word;  // the one that no other entry has: no question by itself
  std::set<std::string> different;
  while (message >> word) different.insert(word);
  for (size_t rank = 0; rank < kAskedRankMin; ++rank) different.erase(word_of(rank));
  std::vector<std::string> words(different.begin(), different.end());
  for (size_t i = 0; i < words.size(); ++i) {
    std::swap(words[i], words[i + random.below(words.size() - i)]);
  }
  words.resize(std::min(count, words.size()));
  return words;
}

TaggedQuery tagged_query(const Workload& workload, size_t entry_count, Random& random) {
  const WorkloadEntry about = workload.head(random.below(entry_count));
  const WorkloadEntry other = workload.head(random.below(entry_count));
  const int64_t first_ms = entry_time_ms(0);
  const auto span_ms = static_cast<double>(entry_time_ms(entry_count) - first_ms);
  const double start = random.unit() * 0.8;
  const double length = 0.1 + random.unit() * 0.4;
  TaggedQuery query;
  query.tag = about.tags[random.below(about.tags.size())];
  query.type = other.type;
  query.start_ms = first_ms + static_cast<int64_t>(start * span_ms);
  query.end_ms = first_ms + static_cast<int64_t>((start + length) * span_ms);
  return query;
}

}  // namespace

double ranked_score(double importance, int64_t age_ms) {
  return importance * std::max(kDecayMin, std::exp(-kDecayPerMs * static_cast<double>(age_ms)));
}

TaggedEntries tag_of_share(const Workload& workload, size_t entry_count, double share) {
  std::map<std::string, std::vector<size_t>> numbers_of;
  for (size_t number = 0; number < entry_count; ++number) {
    for (const auto& tag : workload.head(number).tags) numbers_of[tag].push_back(number);
  }
  const double wanted_count = share * static_cast<double>(entry_count);
  const auto distance = [&](const auto& tagged) {
    return std::abs(static_cast<double>(tagged.second.size()) - wanted_count);
  };
  const auto nearest = std::min_element(
      numbers_of.begin(), numbers_of.end(),
      [&](const auto& left, const auto& right) { return distance(left) < distance(right); });
  return {nearest->first, nearest->second};
}

std::vector<Question> make_questions(const Workload& workload, size_t entry_count, size_t count,
                                     bool with_frequent, uint64_t seed) {
  constexpr size_t kWordsMin = 6;
  constexpr size_t kWordsMax = 12;
  Random random(seed);
  std::vector<Question> questions(count);
  for (auto& question : questions) {
    const size_t word_count = kWordsMin + random.below(kWordsMax - kWordsMin + 1);
    while (question.words.size() < word_count) {
      const size_t rank = workload.draw_rank(random);
      if (rank >= kAskedRankMin || with_frequent) question.words.push_back(word_of(rank));
    }
    question.now_ms = entry_time_ms(entry_count) + kHourMs;
  }
  return questions;
}

QuerySet make_queries(const Workload& workload, size_t entry_count, size_t query_count,
                      uint64_t seed) {
  Random random(seed);
  QuerySet queries;
  std::set<std::vector<std::string>> asked;
  for (size_t i = 0; i < query_count; ++i) {
    queries.tagged.push_back(tagged_query(workload, entry_count, random));
    std::vector<std::string> words;
    // Different ones, unless there are hardly any words.
    for (int attempt = 0; attempt < 100; ++attempt) {
      words = words_of(workload.entry(random.below(entry_count)), 3, random);
      if (asked.insert(words).second) break;
    }
    queries.any.push_back({words, false});
    queries.all.push_back({words, true});
    queries.common_and_rare.push_back(
        {{word_of(random.below(kCommonRankMax)),
          word_of(kRareRankMin + random.below(kVocabularyCount - kRareRankMin))},
         false});
    // Past the last day of entries, so that no engine's bonus for recent ones takes part.
    const int64_t later_ms =
        static_cast<int64_t>(random.below(13 * 24)) * kHourMs + static_cast<int64_t>(i) * 1000;
    queries.ranked.push_back({entry_time_ms(entry_count) + 25 * kHourMs + later_ms});
  }
  return queries;
}

}  // namespace varve::bench
