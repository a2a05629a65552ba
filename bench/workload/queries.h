// The questions every benchmark asks: many different ones of each kind, from a fixed seed, about
// what is there. All want the first kAnswersMax entries.
#pragma once

#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "workload.h"

namespace varve::bench {

constexpr size_t kAnswersMax = 10;

// Newest first: entries with this tag, of this type, in [start, end).
struct TaggedQuery {
  std::string tag;
  std::string type;
  int64_t start_ms = 0;
  int64_t end_ms = 0;
};

// Best by BM25: entries with any or with all of the words.
struct TextQuery {
  std::vector<std::string> words;
  bool all = false;
};

// Best of all entries by ranked_score at this time.
struct RankedQuery {
  int64_t now_ms = 0;
};

struct QuerySet {
  std::vector<TaggedQuery> tagged;
  std::vector<TextQuery> any;              // three words of one entry
  std::vector<TextQuery> all;              // the same words
  std::vector<TextQuery> common_and_rare;  // any of a frequent word and one of few entries
  std::vector<RankedQuery> ranked;
};

QuerySet make_queries(const Workload& workload, size_t entry_count, size_t query_count,
                      uint64_t seed = 1);

// What a memory is asked before a model is: 6 to 12 words, as often as entries have them, at a
// moment after the last entry.
struct Question {
  std::vector<std::string> words;
  int64_t now_ms = 0;
};

constexpr size_t kContextTokens = 4000;
// What varve looks at for a context of so many tokens, and so what a rival must find and read.
constexpr size_t kContextMatches = 200;
constexpr size_t kContextNewest = 100;

// with_frequent: also the words that stand for a language's "the" and "of", which others leave out.
std::vector<Question> make_questions(const Workload& workload, size_t entry_count, size_t count,
                                     bool with_frequent, uint64_t seed = 2);

struct TaggedEntries {
  std::string tag;
  std::vector<size_t> numbers;  // ascending
};

// Of all tags the one that nearest to `share` of the entries have, and these.
TaggedEntries tag_of_share(const Workload& workload, size_t entry_count, double share);

// importance * max(0.1, 2^(-age / 168 h)). All engines compute it from the same doubles.
constexpr double kDecayPerMs = std::numbers::ln2 / (168.0 * 3'600'000.0);
constexpr double kDecayMin = 0.1;
double ranked_score(double importance, int64_t age_ms);

}  // namespace varve::bench
