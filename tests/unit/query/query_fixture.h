// Logs made in memory, with everything that queries need, and queries on them.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "entry/entry.h"
#include "index/index.h"
#include "query/parse.h"
#include "query/search.h"
#include "query/text_lookup.h"
#include "support/environment.h"

namespace varve::query {

inline constexpr int64_t kHourMs = 3'600'000;
inline constexpr int64_t kDayMs = 24 * kHourMs;
inline constexpr int64_t kNowMs = test::kStartMs;

// Without stems and stop words, a text is its words: what a test can count by itself.
inline text::Settings plain_words() {
  text::Settings settings;
  settings.language = "none";
  settings.own_stop_words = true;
  return settings;
}

// id, importance, hours of age; type finding unless told.
inline std::string entry_of(const std::string& id, double importance, int64_t age_hours,
                            const std::string& members = R"("content":"-")",
                            const std::string& type = "finding") {
  return R"({"id":")" + id + R"(","type":")" + type + R"(","importance":)" +
         std::to_string(importance) + R"(,"timestamp":")" +
         format_rfc3339(kNowMs - age_hours * kHourMs) + R"(",)" + members + "}";
}

class QueryLog {
 public:
  explicit QueryLog(const text::Settings& settings = {}) : analyzer_(settings), index_(settings) {}

  // An entry as a caller would give it.
  uint32_t add(std::string_view text) {
    entry::DraftOptions options;
    options.now_ms = kNowMs;
    auto draft = entry::draft(text, options, surroundings_->ids, scratch_);
    EXPECT_TRUE(draft.ok()) << draft.status().message() << " " << text;
    if (!draft.ok()) return 0;
    const uint32_t row = index_.size();
    lines_.push_back(entry::seal(*draft, row + 1, {}));
    lines_.back().pop_back();
    index_.add(draft->facts, {}, 0);
    EXPECT_TRUE(document_.parse(lines_.back()).ok());
    const json::Value root = document_.root();
    index_.text_to_extend().add(&root);
    return row;
  }

  // A row without words: facts alone.
  uint32_t add_facts(const entry::EntryFacts& facts) {
    index_.add(facts, {}, 0);
    return index_.size() - 1;
  }

  // How alike entries are to the vector of any query that has one; rows rising.
  std::vector<VectorMatch> vectors;
  // How any query weighs what `best` adds up.
  BestWeights weights;
  // [BM25] of the best match in all sessions; 0: this is the only one.
  double best_match = 0;
  // That results of any query have.
  double key_min = kAllKeys;
  // What others do while entries are read for the checks of a query: what they add comes later.
  std::function<void()> meanwhile;

  index::Index& index() { return index_; }
  text::Analyzer& analyzer() { return analyzer_; }
  decay::Rules& rules() { return rules_; }

  // A search of the query, which must outlive it, with what only entries can tell.
  Result<Search> search(const Query& query, int64_t now_ms = kNowMs) {
    index_.arrange();
    SearchInput input;
    input.index = &index_;
    input.query = &query;
    input.rules = &rules_;
    input.analyzer = query.has_text() ? &analyzer_ : nullptr;
    input.now_ms = now_ms;
    input.live_ms = now_ms;
    if (query.has_vector()) input.vectors = vectors;
    input.weights = weights;
    input.best_match = best_match;
    input.key_min = key_min;
    input.searches = std::make_shared<KnownSearches>();
    if (meanwhile) input.row_end_max = index_.size();
    VARVE_TRY_ASSIGN(Search first, Search::plan(input));
    if (first.checks().empty()) return first;
    for (size_t i = 0; i < first.checks().size(); ++i) {
      std::vector<uint32_t>& passed = input.passed.emplace_back();
      VARVE_TRY_ASSIGN(const auto rows, first.rows_to_check(i));
      for (const uint32_t row : rows) {
        EXPECT_TRUE(document_.parse(lines_[row]).ok());
        for_each_held(document_.root(), {&first.checks()[i]}, analyzer_,
                      [&](size_t) { passed.push_back(row); });
      }
    }
    if (meanwhile) meanwhile();
    return Search::plan(input);
  }

  // Answers a query as a session does: what only entries can tell is read from them.
  Result<Answer> ask(const Query& query, int64_t now_ms = kNowMs) {
    VARVE_TRY_ASSIGN(Search made, search(query, now_ms));
    return made.run();
  }
  Result<std::vector<uint32_t>> all_rows(const Query& query, int64_t now_ms = kNowMs) {
    VARVE_TRY_ASSIGN(Search made, search(query, now_ms));
    return made.all_rows();
  }

  Answer answer(std::string_view text) {
    auto query = parse_query(text, Scope::kSession);
    EXPECT_TRUE(query.ok()) << query.status().message();
    if (!query.ok()) return {};
    auto found = ask(*query, query->now_ms.value_or(kNowMs));
    EXPECT_TRUE(found.ok()) << found.status().message();
    return found.ok() ? *found : Answer();
  }
  // Ids in the answer's order, with blanks between.
  std::string ids(std::string_view text) { return ids_of(answer(text)); }
  // Those that count and delete see, in the order of the log.
  std::string all_ids(std::string_view text) {
    auto query = parse_query(text, Scope::kSet);
    EXPECT_TRUE(query.ok()) << query.status().message();
    if (!query.ok()) return {};
    auto rows = all_rows(*query, query->now_ms.value_or(kNowMs));
    EXPECT_TRUE(rows.ok()) << rows.status().message();
    std::string found;
    for (const uint32_t row : rows.ok() ? *rows : std::vector<uint32_t>()) append_id(row, &found);
    return found;
  }
  std::string ids_of(const Answer& found) {
    std::string listed;
    for (const Hit& hit : found.hits) append_id(hit.place.row, &listed);
    return listed;
  }

 private:
  void append_id(uint32_t row, std::string* out) {
    if (!out->empty()) out->push_back(' ');
    out->append(index_.id(row));
  }

  struct Surroundings {
    test::ManualClock clock;
    test::SeededRandom random;
    IdGenerator ids{clock, random};
  };

  std::unique_ptr<Surroundings> surroundings_ = std::make_unique<Surroundings>();
  json::Document scratch_;
  json::Document document_;
  std::vector<std::string> lines_;
  text::Analyzer analyzer_;
  decay::Rules rules_ = decay::Rules::defaults();
  index::Index index_;
};

}  // namespace varve::query
