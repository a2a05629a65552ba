// The best rows without looking at all of them, against a look at all of them.
#include "query/ranker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <ostream>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "query/score_window.h"
#include "query_fixture.h"

namespace varve::query {
namespace {

std::string word_of(size_t number) {
  std::string word;
  for (size_t rest = number + 26; rest > 0; rest /= 26) {
    word.push_back(static_cast<char>('a' + rest % 26));
  }
  return word;
}

// Texts whose words are as unequally frequent as those of people are, and BM25 over them as the
// book has it.
class ZipfLog {
 public:
  ZipfLog(uint32_t seed, uint32_t row_count, size_t words_max) : random_(seed) {
    std::vector<double> weights;
    for (size_t i = 0; i < 300; ++i) weights.push_back(1.0 / static_cast<double>(i + 1));
    std::discrete_distribution<size_t> pick(weights.begin(), weights.end());
    for (uint32_t row = 0; row < row_count; ++row) {
      std::map<std::string, int> counts;
      std::string text;
      const size_t size = random_() % (words_max + 1);
      for (size_t i = 0; i < size; ++i) {
        const std::string word = word_of(pick(random_));
        counts[word] += 1;
        text += word + " ";
      }
      rows_.push_back(std::move(counts));
      lengths_.push_back(size);
      const int64_t time_ms = kNowMs - static_cast<int64_t>(random_() % 50) * 1000;
      entry::EntryFacts facts;
      facts.id = "e" + std::to_string(row);
      facts.type = row % 3 == 0 ? "finding" : "message";
      facts.timestamp_ms = time_ms;
      log_.add_facts(facts);
      json::Document document;
      EXPECT_TRUE(document.parse(R"({"content":")" + text + R"("})").ok());
      const json::Value root = document.root();
      log_.index().text_to_extend().add(&root);
    }
    log_.index().arrange();
  }

  [[nodiscard]] double bm25(const std::vector<std::string>& words, uint32_t row) const {
    const auto total = static_cast<double>(rows_.size());
    double length_mean = 0;
    for (const size_t length : lengths_) length_mean += static_cast<double>(length) / total;
    double sum = 0;
    for (const auto& word : std::set<std::string>(words.begin(), words.end())) {
      const auto found = rows_[row].find(word);
      if (found == rows_[row].end()) continue;
      double with_word = 0;
      for (const auto& counts : rows_) with_word += counts.contains(word) ? 1 : 0;
      const double idf = std::log(1 + (total - with_word + 0.5) / (with_word + 0.5));
      const double f = found->second;
      const double length = static_cast<double>(lengths_[row]);
      sum += idf * f * 1.9 / (f + 0.9 * (0.25 + 0.75 * length / length_mean));
    }
    return sum;
  }

  std::vector<std::string> words(size_t count, size_t rare_from) {
    std::vector<std::string> picked;
    for (size_t i = 0; i < count; ++i) {
      picked.push_back(word_of(random_() % 4 == 0 ? random_() % 5 : rare_from + random_() % 100));
    }
    return picked;
  }
  QueryLog& log() { return log_; }
  index::Index& index() { return log_.index(); }
  std::mt19937& random() { return random_; }

 private:
  std::mt19937 random_;
  QueryLog log_{plain_words()};
  std::vector<std::map<std::string, int>> rows_;
  std::vector<size_t> lengths_;
};

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += word + " ";
  return text;
}

TextPlan plan_of(ZipfLog& log, const std::vector<std::string>& words) {
  auto plan = plan_text(parse_text(joined(words)), log.index(), log.log().analyzer());
  EXPECT_TRUE(plan.ok());
  return *std::move(plan);
}

// By looking at every row.
std::vector<PlaceInOrder> scan(const index::Index& index, Ranker& ranker, RowFilter& filter,
                               bool any_row, size_t count) {
  std::vector<PlaceInOrder> all;
  for (uint32_t row = 0; row < index.size(); ++row) {
    const double score = ranker.score(row);
    if (filter.accepts(row) && (score > 0 || any_row)) {
      all.push_back({score, index.timestamp_ms(row), row});
    }
  }
  std::sort(all.begin(), all.end(), [](const PlaceInOrder& a, const PlaceInOrder& b) {
    if (a.key != b.key) return a.key > b.key;
    return a.timestamp_ms != b.timestamp_ms ? a.timestamp_ms > b.timestamp_ms : a.row > b.row;
  });
  if (all.size() > count) all.resize(count);
  return all;
}

void expect_same(const std::vector<PlaceInOrder>& found,
                 const std::vector<PlaceInOrder>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].row, expected[i].row) << "place " << i;
    ASSERT_EQ(found[i].key, expected[i].key) << "place " << i;
    ASSERT_EQ(found[i].timestamp_ms, expected[i].timestamp_ms);
  }
}

// The way in which they were found. `any_row` is what the ranker's plan says.
Ranker::Way expect_best_of_a_scan(const index::Index& index, Ranker& ranker,
                                  const RowFilter& filter, size_t count, bool any_row = false) {
  RowFilter scanned = filter;
  const auto expected = scan(index, ranker, scanned, any_row, count);
  RowFilter asked = filter;
  TopK best(count, false, std::nullopt);
  const Ranker::Way way = ranker.find_best(asked, &best);
  expect_same(best.take(), expected);
  return way;
}

const std::set<Ranker::Way> kBothOfLists = {Ranker::Way::kListsAddedUp, Ranker::Way::kListsWalked};

TEST(Ranker, ScoresAreTheFormulas) {
  ZipfLog log(1, 500, 40);
  for (int round = 0; round < 20; ++round) {
    const auto words = log.words(1 + static_cast<size_t>(round) % 5, 5);
    const TextPlan plan = plan_of(log, words);
    Ranker ranker(log.index(), plan, log.index().size());
    for (uint32_t row = 0; row < 500; ++row) {
      ASSERT_NEAR(ranker.score(row), log.bm25(words, row), 1e-9) << row;
    }
  }
}

class RankerScan : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RankerScan, FindsWhatALookAtEveryRowFinds) {
  ZipfLog log(GetParam(), GetParam() % 2 == 0 ? 3000 : 700, GetParam() % 3 == 0 ? 6 : 60);
  for (uint32_t i = 0; i < log.index().size(); i += 7) {
    if (GetParam() % 2 == 0) log.index().add_tombstone("e" + std::to_string(i));
  }
  for (int round = 0; round < 25; ++round) {
    const bool has_many_words = round % 5 == 4;
    const auto words = log.words(has_many_words ? 300 : 1 + log.random()() % 6, 3);
    TextPlan plan = plan_of(log, words);
    for (const size_t count : {1u, 2u, 10u, 100u, 2000u, 100'000u}) {
      const bool any_row = log.random()() % 5 == 0;
      plan.needs_term = !any_row;
      Ranker ranker(log.index(), plan, log.index().size());
      RowFilter filter(log.index(), log.index().size(), kNowMs);
      switch (log.random()() % 4) {
        case 0: filter.require_types({"finding"}); break;
        case 1: filter.require_time(kNowMs - 20'000, kNowMs - 5'000); break;
        case 2: {
          std::vector<uint32_t> rows;
          for (uint32_t row = 0; row < log.index().size(); ++row) {
            if (log.random()() % 40 == 0) rows.push_back(row);
          }
          filter.require(RowSet::of_rows(std::move(rows)));
          break;
        }
        default: break;
      }
      expect_best_of_a_scan(log.index(), ranker, filter, count, any_row);
      RowFilter other = filter;
      std::vector<PlaceInOrder> all = scan(log.index(), ranker, other, any_row, SIZE_MAX);
      if (all.empty()) continue;
      // The next page.
      const PlaceInOrder last = all[std::min(count, all.size()) / 2];
      std::erase_if(all, [&](const PlaceInOrder& place) { return !comes_before(last, place); });
      if (all.size() > count) all.resize(count);
      TopK next(count, false, last);
      ranker.find_best(filter, &next);
      expect_same(next.take(), all);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RankerScan, ::testing::Range(1u, 9u));

// More rows than a window, some windows without any. Lists of rare words are added up, those of
// frequent ones walked while few rows are wanted.
TEST(Ranker, FindsTheSameInManyWindows) {
  ZipfLog log(20, 3 * ScoreWindow::kRows + 100, 4);
  std::set<Ranker::Way> ways;
  for (int round = 0; round < 12; ++round) {
    const size_t rare_from = round % 2 == 0 ? 150 + log.random()() % 50 : 0;
    auto words = log.words(1 + log.random()() % 5, rare_from);
    if (round % 4 == 1) words = {word_of(0), word_of(static_cast<size_t>(round))};
    const TextPlan plan = plan_of(log, words);
    Ranker ranker(log.index(), plan, log.index().size());
    for (const size_t count : {1u, 10u, 300u, 5000u}) {
      RowFilter filter(log.index(), log.index().size(), kNowMs);
      if (round % 3 == 0) filter.require_types({"finding"});
      ways.insert(expect_best_of_a_scan(log.index(), ranker, filter, count));
    }
  }
  EXPECT_EQ(ways, kBothOfLists);
}

// Long lists, of words about as rare and of one that is far more frequent: added up and walked,
// from a threshold that the rarest gave.
TEST(Ranker, FindsTheSameInLongLists) {
  ZipfLog log(22, 12'000, 60);
  for (uint32_t i = 0; i < log.index().size(); i += 5) {
    log.index().add_tombstone("e" + std::to_string(i));
  }
  std::set<Ranker::Way> ways;
  for (int round = 0; round < 12; ++round) {
    std::vector<std::string> words;
    for (size_t i = 0; i < 9; ++i) words.push_back(word_of(20 + log.random()() % 200));
    if (round % 2 == 0) words = {word_of(299 - static_cast<size_t>(round)), word_of(0), word_of(1)};
    const TextPlan plan = plan_of(log, words);
    Ranker ranker(log.index(), plan, log.index().size());
    for (const size_t count : {1u, 10u, 50u, 200u}) {
      RowFilter filter(log.index(), log.index().size(), kNowMs);
      if (round % 3 == 0) filter.require_types({"finding"});
      ways.insert(expect_best_of_a_scan(log.index(), ranker, filter, count));
    }
  }
  EXPECT_EQ(ways, kBothOfLists);
}

// To be asked of this log for some words, and the way that costs least.
struct WayCase {
  std::string words;
  size_t count;
  uint32_t row_count;  // that a condition leaves; 0: all
  Ranker::Way way;
};
// Not by its bytes, some of which nobody sets.
void PrintTo(const WayCase& way_case, std::ostream* out) { *out << way_case.words; }

class RankerWay : public ::testing::TestWithParam<WayCase> {};

TEST_P(RankerWay, IsTheOneThatCostsLeast) {
  QueryLog log(plain_words());
  for (int i = 0; i < 6000; ++i) {
    std::string words = "often" + std::to_string(i % 2) + " some" + std::to_string(i % 12) +
                        " part" + std::to_string(i % 4);
    if (i % 300 == 7) words += " rare rare";
    log.add(R"({"type":"note","content":")" + words + R"("})");
  }
  const auto plan = plan_text(parse_text(GetParam().words), log.index(), log.analyzer());
  ASSERT_TRUE(plan.ok());
  Ranker ranker(log.index(), *plan, log.index().size());
  RowFilter filter(log.index(), log.index().size(), kNowMs);
  if (GetParam().row_count > 0) {
    std::vector<uint32_t> rows;
    for (uint32_t i = 0; i < GetParam().row_count; ++i) rows.push_back(7 + i * 20);
    filter.require(RowSet::of_rows(std::move(rows)));
  }
  EXPECT_EQ(expect_best_of_a_scan(log.index(), ranker, filter, GetParam().count), GetParam().way);
}

INSTANTIATE_TEST_SUITE_P(
    Queries, RankerWay,
    ::testing::Values(WayCase{"often0 often1 rare", 10, 20, Ranker::Way::kRowsWalked},
                      WayCase{"rare", 10, 20, Ranker::Way::kListsAddedUp},
                      WayCase{"rare some3", 10, 0, Ranker::Way::kListsAddedUp},
                      WayCase{"often0 often1 rare", 10, 0, Ranker::Way::kListsWalked},
                      WayCase{"often0 often1 rare", 3000, 0, Ranker::Way::kListsAddedUp},
                      WayCase{"part0 part1 part2 part3", 10, 0, Ranker::Way::kListsAddedUp}));

// Of a block one posting alone is in the window, and those behind it are not passed over.
TEST(Ranker, ARowAloneInItsWindowTakesNoOtherWithIt) {
  const std::set<uint32_t> rows = {0, ScoreWindow::kRows + 1, ScoreWindow::kRows + 2};
  QueryLog log(plain_words());
  for (uint32_t row = 0; row <= *rows.rbegin(); ++row) {
    log.add(rows.contains(row) ? R"({"type":"note","content":"rare"})"
                               : R"({"type":"note","content":"x"})");
  }
  const auto plan = plan_text(parse_text("rare"), log.index(), log.analyzer());
  ASSERT_TRUE(plan.ok());
  Ranker ranker(log.index(), *plan, log.index().size());
  RowFilter filter(log.index(), log.index().size(), kNowMs);
  std::set<uint32_t> found;
  ranker.for_each(filter, [&](uint32_t row, double) { found.insert(row); });
  EXPECT_EQ(found, rows);
}

TEST(Ranker, ScoresOfManyRowsAreThoseOfEach) {
  ZipfLog log(21, 2000, 20);
  for (int round = 0; round < 10; ++round) {
    const TextPlan plan = plan_of(log, log.words(1 + static_cast<size_t>(round) % 5, 2));
    Ranker ranker(log.index(), plan, log.index().size());
    std::vector<uint32_t> rows;
    for (uint32_t row = 0; row < log.index().size(); ++row) {
      if (log.random()() % 7 == 0) rows.push_back(row);
    }
    const auto scores = ranker.scores(rows);
    ASSERT_EQ(scores.size(), rows.size());
    for (size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(scores[i], ranker.score(rows[i])) << rows[i];
    EXPECT_TRUE(ranker.scores({}).empty());
  }
}

TEST(Ranker, EqualScoresAreOrderedByTimeThenByPlaceInTheLog) {
  QueryLog log(plain_words());
  for (int i = 0; i < 600; ++i) {
    log.add(R"({"type":"finding","content":"tea","id":"e)" + std::to_string(i) +
            R"(","timestamp":"2026-01-0)" + std::to_string(1 + i % 3) + R"(T00:00:00Z"})");
  }
  EXPECT_EQ(log.ids(R"({"text":"tea","sort_by":"match","limit":3})"), "e599 e596 e593");
}

TEST(Ranker, VisitsEveryMatchOnceWithItsScore) {
  ZipfLog log(3, 1200, 30);
  for (const auto& [few, word_count] :
       std::vector<std::pair<bool, size_t>>{{false, 4}, {true, 4}, {false, 300}, {true, 300}}) {
    const auto words = log.words(word_count, 2);
    TextPlan plan = plan_of(log, words);
    RowFilter filter(log.index(), log.index().size(), kNowMs);
    if (few) filter.require(RowSet::of_rows({0, 3, 500, 501, 502, 1199}));
    for (const bool any_row : {false, true}) {
      plan.needs_term = !any_row;
      Ranker ranker(log.index(), plan, log.index().size());
      std::map<uint32_t, double> seen;
      ranker.for_each(filter, [&](uint32_t row, double score) {
        EXPECT_TRUE(seen.emplace(row, score).second) << row;
      });
      for (uint32_t row = 0; row < log.index().size(); ++row) {
        const double score = ranker.score(row);
        const bool wanted = filter.accepts(row) && (any_row || score > 0);
        ASSERT_EQ(seen.contains(row), wanted) << row;
        if (wanted) {
          ASSERT_EQ(seen[row], score);
        }
      }
    }
  }
}

// With many words lists are added up, which tells of no row behind the last match.
TEST(Ranker, VisitsRowsWithoutAnyOfVeryManyWords) {
  QueryLog log(plain_words());
  std::string words;
  for (size_t i = 0; i < 100; ++i) words += word_of(i) + " ";
  for (const std::string& text : {std::string("-"), words, std::string("-"), std::string("-")}) {
    log.add(R"({"type":"note","content":")" + text + R"("})");
  }
  auto plan = plan_text(parse_text(words), log.index(), log.analyzer());
  ASSERT_TRUE(plan.ok());
  plan->needs_term = false;
  Ranker ranker(log.index(), *plan, log.index().size());
  RowFilter filter(log.index(), log.index().size(), kNowMs);
  std::vector<uint32_t> rows;
  ranker.for_each(filter, [&](uint32_t row, double) { rows.push_back(row); });
  EXPECT_EQ(rows, (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(Ranker, RowsBehindTheEndNeitherCountNorMatch) {
  ZipfLog whole(8, 900, 20);
  ZipfLog part(8, 400, 20);  // the same first rows
  const auto words = part.words(3, 0);
  const TextPlan whole_plan = plan_of(whole, words);
  const TextPlan part_plan = plan_of(part, words);
  Ranker cut(whole.index(), whole_plan, 400);
  Ranker alone(part.index(), part_plan, 400);
  RowFilter cut_filter(whole.index(), 400, kNowMs);
  RowFilter alone_filter(part.index(), 400, kNowMs);
  for (const size_t count : {1u, 50u, 1000u}) {
    TopK from_cut(count, false, std::nullopt);
    TopK from_alone(count, false, std::nullopt);
    cut.find_best(cut_filter, &from_cut);
    alone.find_best(alone_filter, &from_alone);
    expect_same(from_cut.take(), from_alone.take());
  }
  EXPECT_EQ(cut.statistics().total_length, alone.statistics().total_length);
  EXPECT_EQ(cut.statistics().row_counts, alone.statistics().row_counts);
}

TEST(Ranker, SharedStatisticsDecideTheWeightOfWords) {
  ZipfLog log(9, 300, 20);
  const TextPlan plan = plan_of(log, {word_of(1), word_of(40)});
  Ranker own(log.index(), plan, 300);
  TextStatistics twice = own.statistics();
  twice.add(own.statistics());
  Ranker shared(log.index(), plan, 300, &twice);
  ASSERT_EQ(own.figures().size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const auto rows = static_cast<double>(own.figures()[i].row_count);
    EXPECT_EQ(shared.figures()[i].row_count, 2 * own.figures()[i].row_count);
    EXPECT_NEAR(shared.figures()[i].idf, std::log(1 + (600 - 2 * rows + 0.5) / (2 * rows + 0.5)),
                1e-12);
  }
}

TEST(Ranker, APartCountsHalfAsAWordOfAllThatHaveItAsEither) {
  const auto idf_of_part = [](const std::vector<std::string>& texts) {
    QueryLog log;
    for (const auto& text : texts) log.add(R"({"type":"note","content":")" + text + R"("})");
    const auto plan = plan_text(parse_text("user"), log.index(), log.analyzer());
    EXPECT_TRUE(plan.ok());
    for (const auto& term : Ranker(log.index(), *plan, log.index().size()).figures()) {
      if (term.term->is_part) return term.idf;
    }
    return std::numeric_limits<double>::quiet_NaN();
  };
  const auto idf = [](double entries, double rows) {
    return std::log(1 + (entries - rows + 0.5) / (rows + 0.5));
  };
  EXPECT_NEAR(idf_of_part({"getUser", "user", "tea"}), idf(3, 2) / 2, 1e-12);
  EXPECT_NEAR(idf_of_part({"getUser", "tea"}), idf(2, 1) / 2, 1e-12);
  EXPECT_NEAR(idf_of_part({"getUser of a user"}), idf(1, 1) / 2, 1e-12) << "there is but one";
}

TEST(Ranker, ExplainsWhatEachWordGave) {
  QueryLog log(plain_words());
  log.add(R"({"type":"finding","content":"tea tea milk"})");
  log.add(R"({"type":"finding","content":"milk"})");
  auto plan = plan_text(parse_text("tea milk sugar"), log.index(), log.analyzer());
  ASSERT_TRUE(plan.ok());
  Ranker ranker(log.index(), *plan, 2);
  ASSERT_EQ(ranker.figures().size(), 2u) << "nobody has sugar";
  const auto first = ranker.explain(0);
  EXPECT_EQ(first[0].first, 2u);
  EXPECT_EQ(first[1].first, 1u);
  // N = 2, avgdl = 2: idf(tea) = ln(1 + 1.5/1.5), idf(milk) = ln(1 + 0.5/2.5).
  EXPECT_NEAR(first[0].second, std::log(2.0) * 1.9 * 2 / (2 + 0.9 * (0.25 + 0.75 * 1.5)), 1e-12);
  EXPECT_NEAR(first[1].second, std::log(1.2) * 1.9 / (1 + 0.9 * (0.25 + 0.75 * 1.5)), 1e-12);
  EXPECT_NEAR(first[0].second + first[1].second, ranker.score(0), 1e-12);
  const auto second = ranker.explain(1);
  EXPECT_EQ(second[0], std::make_pair(0u, 0.0));
}

// An entry with the word so often, of so many words.
std::string entry_with(uint32_t row, int frequency, int length) {
  std::string text;
  for (int i = 0; i < length; ++i) text += i < frequency ? "tea " : "milk ";
  return R"({"type":"note","id":"e)" + std::to_string(row) + R"(","content":")" + text + R"("})";
}

// Blocks have 128 rows: of the second and the fourth none can be among the best two.
TEST(Ranker, TheFirstRowBehindBlocksThatAreLeftOutIsSeen) {
  QueryLog log(plain_words());
  for (uint32_t row = 0; row < 1400; ++row) {
    log.add(entry_with(row, row < 2 ? 2 : row == 256 ? 5 : row == 512 ? 4 : 1, 20));
  }
  for (const std::string text : {"tea", "+tea"}) {
    EXPECT_EQ(log.ids(R"({"sort_by":"match","limit":1,"text":")" + text + "\"}"), "e256") << text;
    EXPECT_EQ(log.ids(R"({"sort_by":"match","limit":2,"text":")" + text + "\"}"), "e256 e512");
  }
}

// What is too long to matter says nothing of what is shorter by one word, and as good as the last.
TEST(Ranker, ALengthThatIsHopelessLeavesShorterOnesIn) {
  QueryLog log(plain_words());
  for (uint32_t row = 0; row < 1400; ++row) {
    log.add(entry_with(row, 1, row == 2 ? 10 : row < 4 ? 9 : 20));
  }
  EXPECT_EQ(log.ids(R"({"sort_by":"match","limit":1,"text":"tea"})"), "e3");
}

}  // namespace
}  // namespace varve::query
