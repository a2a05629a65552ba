// The largest rows without looking at all, against a look at all: exactly the same, always.
#include "query/ordered_search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "query_fixture.h"

namespace varve::query {
namespace {

constexpr uint64_t kNeverGiveUp = std::numeric_limits<uint64_t>::max();
constexpr const char* kTypes[] = {"message", "decision", "finding", "preference", "own_type"};

// The formulas of the relevance, by hand: half-lives and floor as in decay::Rules::defaults().
double naive_relevance(const std::string& type, int64_t time_ms, double importance,
                       int64_t now_ms) {
  const double hours = time_ms >= now_ms ? 0 : static_cast<double>(now_ms - time_ms) / 3'600'000.0;
  const double half_life = type == "decision" ? 720 : type == "finding" ? 336 : 168;
  double decay = std::max(0.1, std::pow(0.5, hours / half_life));
  if (type == "preference") decay = 1;
  return importance * decay * (hours < 24 ? 1.5 : 1.0);
}

enum class Times { kRising, kEqual, kMixed, kFuture, kFarApart };

class RandomStore {
 public:
  explicit RandomStore(uint32_t seed) : random_(seed) {
    const uint32_t row_count = 1 + static_cast<uint32_t>(random_() % 2500);
    const auto times = static_cast<Times>(random_() % 5);
    const bool few_importances = random_() % 2 == 0;
    for (uint32_t row = 0; row < row_count; ++row) {
      entry::EntryFacts facts;
      facts.id = "e" + std::to_string(row);
      facts.type = kTypes[random_() % 5];
      facts.timestamp_ms = time_of(times, row, row_count);
      facts.importance = importance(few_importances);
      if (random_() % 20 == 0) facts.expires_at_ms = kNowMs + (random_() % 2 == 0 ? 1 : -1);
      if (random_() % 4 == 0) facts.tags.emplace_back("a.b");
      log_.add_facts(facts);
      if (random_() % 300 == 0) log_.index().arrange();  // in several steps, as a log grows
    }
    for (uint32_t row = 0; row < row_count; ++row) {
      if (random_() % 10 == 0) log_.index().add_tombstone("e" + std::to_string(row));
    }
    log_.index().arrange();
    if (random_() % 2 == 0) change_rules();
  }

  index::Index& index() { return log_.index(); }
  decay::Rules& rules() { return log_.rules(); }
  std::mt19937& random() { return random_; }

 private:
  int64_t time_of(Times times, uint32_t row, uint32_t row_count) {
    const auto any = [&](int64_t span_ms) {
      return static_cast<int64_t>(random_() % 1000) * span_ms / 1000;
    };
    switch (times) {
      case Times::kRising: return kNowMs - int64_t{row_count - row} * 600'000;
      case Times::kEqual: return kNowMs - kDayMs * (1 + static_cast<int64_t>(random_() % 2));
      case Times::kMixed: return kNowMs - any(60 * kDayMs);
      case Times::kFuture: return kNowMs + any(4 * kDayMs) - kDayMs;
      case Times::kFarApart: break;
    }
    return random_() % 3 == 0 ? -any(4000 * kDayMs) : kNowMs - any(2 * kDayMs);
  }
  double importance(bool few) {
    if (few) return static_cast<double>(random_() % 3) / 2;  // 0, 0.5, 1
    return std::uniform_real_distribution<double>(0, 1)(random_);
  }
  void change_rules() {
    decay::Rules& rules = log_.rules();
    rules.by_type["message"].curve = decay::Curve::kLinear;
    rules.by_type["decision"].curve = decay::Curve::kStep;
    rules.by_type["finding"].factor_min = random_() % 2 == 0 ? 0 : 1;
    rules.fallback.half_life_hours = random_() % 2 == 0 ? 1e-6 : 1e9;
    rules.enabled = random_() % 5 != 0;
  }

  std::mt19937 random_;
  QueryLog log_;
};

std::vector<PlaceInOrder> scan(RandomStore& store, RowFilter& filter, const OrderKey& key,
                               double key_min, const std::optional<PlaceInOrder>& after,
                               size_t count, bool ascending = false) {
  const auto precedes = [ascending](const PlaceInOrder& a, const PlaceInOrder& b) {
    return ascending ? comes_before(b, a) : comes_before(a, b);
  };
  std::vector<PlaceInOrder> all;
  for (uint32_t row = 0; row < store.index().size(); ++row) {
    const PlaceInOrder place{key.of(row), store.index().timestamp_ms(row), row};
    EXPECT_TRUE(std::isfinite(place.key));
    if (!filter.accepts(row) || place.key < key_min) continue;
    if (!after || precedes(*after, place)) all.push_back(place);
  }
  std::sort(all.begin(), all.end(), precedes);
  if (all.size() > count) all.resize(count);
  return all;
}

void expect_same_order(const std::vector<PlaceInOrder>& found,
                       const std::vector<PlaceInOrder>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].row, expected[i].row) << "place " << i;
    ASSERT_EQ(found[i].key, expected[i].key) << "place " << i;
  }
}

class OrderedSearch : public ::testing::TestWithParam<uint32_t> {};

TEST_P(OrderedSearch, IsExactlyTheFullScan) {
  for (uint32_t seed = GetParam() * 1000; seed < GetParam() * 1000 + 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomStore store(seed);
    const int64_t now_ms = kNowMs + static_cast<int64_t>(store.random()() % 3) * 200 * kDayMs;
    const Relevance relevance(store.index(), store.rules(), now_ms);
    for (const SortBy sort_by : {SortBy::kRelevance, SortBy::kTime, SortBy::kImportance}) {
      const OrderKey key(store.index(), relevance, sort_by);
      RowFilter filter(store.index(), store.index().size(), now_ms);
      if (store.random()() % 2 == 0) filter.require_types({"message", "preference"});
      if (store.random()() % 3 == 0) filter.require_time(kNowMs - 30 * kDayMs, kNowMs - kHourMs);
      if (store.random()() % 3 == 0) {
        filter.require(RowSet::of_lists({store.index().facets().tag("a")}));
      }
      const double key_min = store.random()() % 2 == 0 && sort_by == SortBy::kRelevance
                                 ? 0.3
                                 : std::numeric_limits<double>::lowest();
      for (const bool ascending : {false, true}) {
        for (const size_t count : {1u, 2u, 10u, 150u, 5000u}) {
          RowFilter other = filter;
          TopK best(count, ascending, std::nullopt);
          ASSERT_TRUE(search_in_order(store.index(), filter, key, key_min, kNeverGiveUp, &best));
          const auto expected = scan(store, other, key, key_min, std::nullopt, count, ascending);
          expect_same_order(best.take(), expected);
          if (expected.empty()) continue;
          const PlaceInOrder after = expected[store.random()() % expected.size()];
          TopK next(count, ascending, after);
          ASSERT_TRUE(search_in_order(store.index(), filter, key, key_min, kNeverGiveUp, &next));
          expect_same_order(next.take(), scan(store, other, key, key_min, after, count, ascending));
        }
      }
    }
  }
}

// Oldest first is the reverse, on each page.
TEST_P(OrderedSearch, OldestFirstIsExactlyTheFullScan) {
  for (uint32_t seed = GetParam() * 1000; seed < GetParam() * 1000 + 25; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomStore store(seed);
    const Relevance relevance(store.index(), store.rules(), kNowMs);
    const OrderKey key(store.index(), relevance, SortBy::kTime);
    const uint32_t row_end = store.index().size() - store.random()() % 2;
    RowFilter filter(store.index(), row_end, kNowMs);
    if (store.random()() % 2 == 0) filter.require_types({"message", "preference"});
    if (store.random()() % 3 == 0) filter.require_time(kNowMs - 30 * kDayMs, kNowMs - kHourMs);
    if (store.random()() % 3 == 0) {
      filter.require(RowSet::of_lists({store.index().facets().tag("a")}));
    }
    RowFilter other = filter;
    auto all = scan(store, other, key, std::numeric_limits<double>::lowest(), std::nullopt, 5000);
    std::reverse(all.begin(), all.end());
    for (const size_t count : {1u, 7u, 150u, 5000u}) {
      std::vector<PlaceInOrder> found;
      std::optional<PlaceInOrder> after;
      for (;;) {
        TopK best(count, true, after);
        ASSERT_TRUE(search_oldest_first(store.index(), filter, kNeverGiveUp, &best));
        const auto page = best.take();
        if (page.empty()) break;
        found.insert(found.end(), page.begin(), page.end());
        after = page.back();
      }
      expect_same_order(found, all);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, OrderedSearch, ::testing::Range(1u, 9u));

TEST(Relevance, IsTheFormula) {
  QueryLog log;
  std::mt19937 random(3);
  for (uint32_t row = 0; row < 2000; ++row) {
    entry::EntryFacts facts;
    facts.id = "e" + std::to_string(row);
    facts.type = kTypes[random() % 5];
    facts.timestamp_ms = kNowMs - static_cast<int64_t>(random() % 4'000'000) * 1000 + kDayMs;
    facts.importance = std::uniform_real_distribution<double>(0, 1)(random);
    log.add_facts(facts);
  }
  const index::Index& index = log.index();
  const Relevance relevance(index, log.rules(), kNowMs);
  for (uint32_t row = 0; row < 2000; ++row) {
    EXPECT_NEAR(
        relevance.of(row),
        naive_relevance(index.type(row), index.timestamp_ms(row), index.importance(row), kNowMs),
        1e-12);
  }
}

TEST(Relevance, OfAnExactAgeIsWhatPaperSays) {
  QueryLog log;
  const auto row_of = [&](std::string_view type, int64_t age_hours) {
    entry::EntryFacts facts;
    facts.id = "e" + std::to_string(log.index().size());
    facts.type = type;
    facts.timestamp_ms = kNowMs - age_hours * kHourMs;
    facts.importance = 1;
    return log.add_facts(facts);
  };
  struct Case {
    const char* type;
    int64_t age_hours;
    double relevance;
  };
  const Case cases[] = {{"message", 0, 1.5},         {"message", 24, 0.9057236642639067},
                        {"message", 168, 0.5},       {"message", 336, 0.25},
                        {"message", 10'000, 0.1},    {"decision", 720, 0.5},
                        {"finding", 336, 0.5},       {"preference", 100'000, 1},
                        {"some_other", 168, 0.5},    {"message", -50, 1.5},
                        {"conversation", 504, 0.125}};
  for (const Case& one : cases) row_of(one.type, one.age_hours);
  const Relevance relevance(log.index(), log.rules(), kNowMs);
  for (uint32_t row = 0; row < std::size(cases); ++row) {
    EXPECT_NEAR(relevance.of(row), cases[row].relevance, 1e-12)
        << cases[row].type << " " << cases[row].age_hours;
  }
}

TEST(OrderedSearchCost, FollowsTheNumberOfResultsNotTheLog) {
  QueryLog log;
  for (uint32_t row = 0; row < 20'000; ++row) {
    entry::EntryFacts facts;
    facts.id = "e" + std::to_string(row);
    facts.type = "message";
    facts.timestamp_ms = kNowMs - (20'000 - int64_t{row}) * 60'000;
    facts.importance = 0.5;
    log.add_facts(facts);
  }
  log.index().arrange();
  uint32_t asked = 0;
  RowFilter filter(log.index(), 20'000, kNowMs);
  filter.require_that([&](uint32_t) { return ++asked > 0; });
  const Relevance relevance(log.index(), log.rules(), kNowMs);
  TopK best(10, false, std::nullopt);
  const OrderKey key(log.index(), relevance, SortBy::kRelevance);
  EXPECT_TRUE(search_in_order(log.index(), filter, key, 0, kNeverGiveUp, &best));
  EXPECT_EQ(best.take().front().row, 19'999u);
  EXPECT_LT(asked, 200u);
}

// Of rows that rise in relevance with the log, from its two ends.
TEST(OrderedSearchCost, OfTheLeastFollowsTheNumberOfResultsOnEachPage) {
  constexpr uint32_t kRows = 20'000;
  QueryLog log;
  for (uint32_t row = 0; row < kRows; ++row) {
    entry::EntryFacts facts;
    facts.id = "e" + std::to_string(row);
    facts.type = row % 2 == 0 ? "message" : "finding";
    facts.timestamp_ms = kNowMs - (kRows - int64_t{row}) * 60'000;
    facts.importance = 0.2 + 0.6 * row / kRows;
    log.add_facts(facts);
  }
  log.index().arrange();
  const Relevance relevance(log.index(), log.rules(), kNowMs);
  for (const SortBy sort_by : {SortBy::kRelevance, SortBy::kImportance}) {
    for (const bool ascending : {false, true}) {
      const OrderKey key(log.index(), relevance, sort_by);
      std::optional<PlaceInOrder> after;
      for (int page = 0; page < 100; ++page) {
        uint32_t asked = 0;
        RowFilter filter(log.index(), kRows, kNowMs);
        filter.require_that([&](uint32_t) { return ++asked > 0; });
        TopK best(10, ascending, after);
        EXPECT_TRUE(search_in_order(log.index(), filter, key, 0, kNeverGiveUp, &best));
        after = best.take().back();
        EXPECT_LT(asked, 200u) << page;
      }
    }
  }
  const Answer least = log.answer(R"({"limit":2,"sort_by":"importance","order":"asc"})");
  EXPECT_EQ(least.strategy, "the least first, bounded by time and importance");
  EXPECT_EQ(log.ids_of(least), "e0 e1");
}

// 40,000 entries; of every fiftieth, the least important, the tag is `tag`.
std::unique_ptr<QueryLog> log_of_an_unimportant_tag(bool of_a_type_each) {
  auto log = std::make_unique<QueryLog>();
  for (uint32_t row = 0; row < 40'000; ++row) {
    entry::EntryFacts facts;
    facts.id = "e" + std::to_string(row);
    facts.type = of_a_type_each ? "type" + std::to_string(row) : "message";
    facts.timestamp_ms = kNowMs - (40'000 - int64_t{row}) * 60'000;
    facts.importance = row % 50 == 0 ? 0.1 : 0.9;
    if (row % 50 == 0) facts.tags.emplace_back("draft");
    log->add_facts(facts);
  }
  log->index().arrange();
  return log;
}

// Times that do not rise with the log, as of an import: they are what orders the rows.
TEST(OrderedSearchCost, OfAPageByTimeFollowsThePageAndNotThoseBefore) {
  constexpr uint32_t kRows = 4000;
  constexpr size_t kPage = 10;
  QueryLog log;
  for (uint32_t row = 0; row < kRows; ++row) {
    entry::EntryFacts facts;
    facts.id = "e" + std::to_string(row);
    facts.type = "message";
    facts.timestamp_ms = kNowMs - int64_t{row ^ 63} * 60'000;
    log.add_facts(facts);
  }
  log.index().arrange();
  const Relevance relevance(log.index(), log.rules(), kNowMs);
  const OrderKey key(log.index(), relevance, SortBy::kTime);
  size_t looked_at = 0;
  size_t found = 0;
  std::optional<PlaceInOrder> after;
  for (;;) {
    RowFilter filter(log.index(), kRows, kNowMs);
    filter.require_that([&](uint32_t) { return ++looked_at > 0; });
    TopK best(kPage, false, after);
    ASSERT_TRUE(search_in_order(log.index(), filter, key, -1e18, kNeverGiveUp, &best));
    const auto page = best.take();
    if (page.empty()) break;
    found += page.size();
    after = page.back();
  }
  EXPECT_EQ(found, kRows);
  EXPECT_LT(looked_at, 6 * kRows) << "half of all rows for each of the pages would be 200 times";
}

// The same by the whole query, in both directions: no page looks at what is on another.
TEST(OrderedSearchCost, OfAPageByTimeIsThatOfOnePageInBothDirections) {
  constexpr uint32_t kRows = 4000;
  QueryLog log;
  for (uint32_t row = 0; row < kRows; ++row) {
    entry::EntryFacts facts;
    facts.id = "e" + std::to_string(row);
    facts.type = row % 2 == 0 ? "message" : "finding";
    facts.timestamp_ms = kNowMs - int64_t{row ^ 63} * 60'000;
    log.add_facts(facts);
  }
  const std::string by_time = R"({"limit":3,"sort_by":"time","order":)";
  const Answer newest = log.answer(by_time + R"("desc"})");
  EXPECT_EQ(newest.strategy, "the largest first, bounded by time and importance");
  EXPECT_EQ(log.ids_of(newest), "e63 e62 e61");
  const Answer oldest = log.answer(by_time + R"("asc"})");
  EXPECT_EQ(oldest.strategy, "the oldest first, by the order of time");
  EXPECT_EQ(log.ids_of(oldest), "e3968 e3969 e3970");
}

TEST(OrderedSearchCost, OldestFirstFollowsTheNumberOfResultsNotTheLog) {
  const auto log = log_of_an_unimportant_tag(false);
  uint32_t asked = 0;
  RowFilter filter(log->index(), 40'000, kNowMs);
  filter.require_that([&](uint32_t row) { return ++asked > 0 && row >= 20'000; });
  const int64_t half_ms = log->index().timestamp_ms(20'000);
  TopK page(10, true, PlaceInOrder{static_cast<double>(half_ms), half_ms, 20'000});
  EXPECT_TRUE(search_oldest_first(log->index(), filter, 20, &page));
  EXPECT_EQ(page.take().front().row, 20'001u);
  EXPECT_EQ(asked, 10u);
  // Where the oldest have none of what is asked for it gives up.
  asked = 0;
  TopK first(10, true, std::nullopt);
  EXPECT_FALSE(search_oldest_first(log->index(), filter, 800, &first));
  EXPECT_LE(asked, 801u);
}

TEST(OrderedSearchCost, OfATagWhoseEntriesAreTheLeastFollowsTheTag) {
  const auto log = log_of_an_unimportant_tag(false);
  uint32_t asked = 0;
  RowFilter filter(log->index(), 40'000, kNowMs);
  filter.require_that([&](uint32_t row) { return ++asked > 0 && row % 50 == 0; });
  const Relevance relevance(log->index(), log->rules(), kNowMs);
  TopK best(10, false, std::nullopt);
  const OrderKey key(log->index(), relevance, SortBy::kImportance);
  EXPECT_FALSE(search_in_order(log->index(), filter, key, 0, 800, &best));
  EXPECT_LE(asked, 800u + index::TimeOrder::kFanout);
}

TEST(OrderedSearchCost, OfATagAmongVeryManyTypesFollowsTheTag) {
  for (const bool of_a_type_each : {false, true}) {
    const auto log = log_of_an_unimportant_tag(of_a_type_each);
    for (const std::string sort_by : {"relevance", "importance"}) {
      const Answer answer =
          log->answer(R"({"limit":2,"tags":{"include":["draft"]},"sort_by":")" + sort_by + R"("})");
      EXPECT_EQ(answer.strategy, "every row that fits");
      EXPECT_EQ(log->ids_of(answer), "e39950 e39900");
    }
  }
}

}  // namespace
}  // namespace varve::query
