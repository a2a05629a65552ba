// "best" against the formula of query/best.h, computed the long way for every row.
#include "query/best.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "query_fixture.h"

namespace varve::query {
namespace {

struct Said {
  std::string role;  // empty: none
  std::string text;  // words with blanks between
  int64_t time_ms = 0;
  double importance = 0.5;
  bool is_deleted = false;
  [[nodiscard]] bool asks() const { return text.ends_with("?"); }
};

std::vector<std::string> words_of(std::string text) {
  std::replace(text.begin(), text.end(), '?', ' ');
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of(' ', at);
    if (begin == std::string::npos) break;
    at = std::min(text.find(' ', begin), text.size());
    words.push_back(text.substr(begin, at - begin));
  }
  return words;
}

// The formula. Rows stand for themselves; deleted ones are not there.
class NaiveBest {
 public:
  NaiveBest(const std::vector<Said>& log, std::string_view question) : log_(log) {
    const auto asked = words_of(std::string(question));
    question_.insert(asked.begin(), asked.end());
    for (size_t row = 0; row < log.size(); ++row) {
      auto words = words_of(log[row].text);
      if (!log[row].role.empty()) words.push_back(log[row].role);
      words_.push_back(words);
      length_sum_ += static_cast<double>(words.size());
      const bool gap = row > 0 && std::abs(log[row].time_ms - log[row - 1].time_ms) > kHourMs;
      stretches_.push_back(row == 0 ? 0 : stretches_.back() + (gap ? 1 : 0));
    }
    for (size_t row = 0; row < log.size(); ++row)
      scores_.push_back(log[row].is_deleted ? 0 : bm25(row));
  }

  // Candidates are all rows with a score, when there are less than 200 of them.
  std::map<size_t, BestParts> run(double date_weight_day_ms) const {
    std::map<size_t, BestParts> found;
    std::vector<size_t> live;
    for (size_t row = 0; row < log_.size(); ++row) {
      if (!log_[row].is_deleted) live.push_back(row);
    }
    const double peak = *std::max_element(scores_.begin(), scores_.end());
    if (peak == 0) return found;
    std::map<int, double> stretch_best;
    for (const size_t row : live) {
      stretch_best[stretches_[row]] = std::max(stretch_best[stretches_[row]], scores_[row] / peak);
    }
    for (size_t i = 0; i < live.size(); ++i) {
      const double before = i > 0 ? scores_[live[i - 1]] / peak : 0;
      const double after = i + 1 < live.size() ? scores_[live[i + 1]] / peak : 0;
      const double own = scores_[live[i]] / peak;
      if (own == 0) continue;  // lends nothing and is not found
      const Said& said = log_[live[i]];
      BestParts parts;
      parts.match = own;
      parts.neighbours = 0.4 * (before + after);
      if (i > 0 && log_[live[i - 1]].asks()) parts.answer = 0.1 * before;
      parts.stretch = 0.4 * stretch_best[stretches_[live[i]]];
      if (is_named(said.role)) parts.role = 0.4;
      parts.date = date_weight_day_ms < 0 ? 0 : 0.8 * date(said.time_ms, date_weight_day_ms);
      const double hours = std::max<double>(0, static_cast<double>(kNowMs - said.time_ms)) / 3.6e6;
      parts.relevance = 0.05 * said.importance * std::max(0.1, std::pow(0.5, hours / 168)) *
                        (hours < 24 ? 1.5 : 1);
      found[live[i]] = parts;
    }
    return found;
  }

 private:
  double bm25(size_t row) const {
    const auto total = static_cast<double>(log_.size());
    double sum = 0;
    for (const auto& word : question_) {
      const auto f = static_cast<double>(std::count(words_[row].begin(), words_[row].end(), word));
      if (f == 0) continue;
      double rows = 0;
      for (const auto& words : words_) {
        rows += std::find(words.begin(), words.end(), word) != words.end() ? 1 : 0;
      }
      const double length = static_cast<double>(words_[row].size());
      sum += std::log(1 + (total - rows + 0.5) / (rows + 0.5)) * f * 1.9 /
             (f + 0.9 * (0.25 + 0.75 * length / (length_sum_ / total)));
    }
    return sum;
  }
  bool is_named(const std::string& role) const {
    if (role.empty()) return false;
    if (question_.contains(role)) return true;
    return role == "user" && (question_.contains("i") || question_.contains("my"));
  }
  static double date(int64_t time_ms, double day_ms) {
    const double distance = std::floor((static_cast<double>(time_ms) - day_ms) / 86'400'000.0);
    return distance == 0 ? 1 : distance == 1 ? 0.5 : 0;
  }

  const std::vector<Said>& log_;
  std::set<std::string> question_;
  std::vector<std::vector<std::string>> words_;
  std::vector<int> stretches_;
  std::vector<double> scores_;
  double length_sum_ = 0;
};

QueryLog log_of(const std::vector<Said>& all) {
  QueryLog log(plain_words());
  for (size_t row = 0; row < all.size(); ++row) {
    const Said& said = all[row];
    const std::string role = said.role.empty() ? "" : R"("role":")" + said.role + R"(",)";
    log.add(R"({"type":"message","id":"e)" + std::to_string(row) + R"(","timestamp":")" +
            format_rfc3339(said.time_ms) + R"(","importance":)" + std::to_string(said.importance) +
            R"(,"content":{)" + role + R"("text":")" + said.text + R"("}})");
  }
  for (size_t row = 0; row < all.size(); ++row) {
    if (all[row].is_deleted) log.index().add_tombstone("e" + std::to_string(row));
  }
  return log;
}

std::vector<Said> random_talk(uint32_t seed) {
  std::mt19937 random(seed);
  const char* const words[] = {"tea",  "milk", "sugar", "oven", "cat",   "dog",   "tree",  "sea",
                               "wind", "salt", "lamp",  "road", "bread", "river", "stone", "i"};
  const char* const roles[] = {"user", "assistant", "tool", ""};
  std::vector<Said> talk;
  int64_t time_ms = kNowMs - 40 * kDayMs;
  const size_t size = 5 + random() % 150;
  for (size_t i = 0; i < size; ++i) {
    Said said;
    said.role = roles[random() % 4];
    for (auto count = random() % 9; count > 0; --count) {
      const auto pick = std::min(random() % 16, random() % 16);
      said.text += std::string(words[15 - pick]) + " ";
    }
    if (random() % 3 == 0) said.text += "really?";
    time_ms += random() % 6 == 0 ? 2 * kHourMs + static_cast<int64_t>(random() % 100) * kHourMs
                                 : static_cast<int64_t>(random() % 60) * 60'000;
    said.time_ms = time_ms;
    said.importance = static_cast<double>(random() % 11) / 10;
    said.is_deleted = random() % 8 == 0;
    talk.push_back(said);
  }
  return talk;
}

void expect_formula(const std::vector<Said>& talk, const std::string& question, double day_ms) {
  SCOPED_TRACE(question);
  QueryLog log = log_of(talk);
  const auto expected = NaiveBest(talk, question).run(day_ms);
  const Answer answer = log.answer(R"({"text":")" + question + R"(","limit":1000})");
  ASSERT_EQ(answer.hits.size(), expected.size());
  double last = 100;
  for (const Hit& hit : answer.hits) {
    ASSERT_TRUE(hit.best.has_value());
    ASSERT_TRUE(expected.contains(hit.place.row)) << hit.place.row;
    const BestParts& parts = expected.at(hit.place.row);
    EXPECT_NEAR(hit.best->match, parts.match, 1e-9) << hit.place.row;
    EXPECT_NEAR(hit.best->neighbours, parts.neighbours, 1e-9) << hit.place.row;
    EXPECT_NEAR(hit.best->answer, parts.answer, 1e-9) << hit.place.row;
    EXPECT_NEAR(hit.best->stretch, parts.stretch, 1e-9) << hit.place.row;
    EXPECT_EQ(hit.best->role, parts.role) << hit.place.row;
    EXPECT_EQ(hit.best->date, parts.date) << hit.place.row;
    EXPECT_NEAR(hit.best->relevance, parts.relevance, 1e-6) << hit.place.row;
    EXPECT_EQ(hit.place.key, hit.best->sum());
    EXPECT_NEAR(hit.match_quality, parts.match, 1e-9);
    EXPECT_LE(hit.place.key, last);
    last = hit.place.key;
  }
}

TEST(Best, IsTheFormulaOnRandomTalks) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto talk = random_talk(seed);
    for (const auto question : {"tea", "cat river", "i salt", "assistant bread stone",
                                "my lamp sea milk sugar oven", "tool"}) {
      expect_formula(talk, question, -1);
    }
  }
}

TEST(Best, AnEntryOfTheDayThatIsAskedForIsFoundFirst) {
  for (uint32_t seed = 50; seed <= 60; ++seed) {
    const auto talk = random_talk(seed);
    const int64_t day_ms = talk[talk.size() / 2].time_ms / kDayMs * kDayMs;
    const std::string day = format_rfc3339(day_ms).substr(0, 10);
    expect_formula(talk, "tea road " + day, static_cast<double>(day_ms));
  }
}

// Four talks of the same words, each of another day.
TEST(Best, ADayToldFromNowIsFoundFirst) {
  std::vector<Said> talk;
  for (const int64_t days_ago : {40, 9, 1, 0}) {
    talk.push_back({"user", "green tea", kNowMs - days_ago * kDayMs, 0.5, false});
  }
  QueryLog log = log_of(talk);
  const auto first = [&](const std::string& question, const std::string& more = "") {
    return log.ids(R"({"limit":1,"text":")" + question + "\"" + more + "}");
  };
  EXPECT_EQ(first("which tea yesterday"), "e2");
  EXPECT_EQ(first("which tea today"), "e3");
  EXPECT_EQ(first("which tea 9 days ago"), "e1");
  EXPECT_EQ(first("which tea 40 days ago"), "e0");
  const std::string then = format_rfc3339(kNowMs - 8 * kDayMs);
  EXPECT_EQ(first("which tea yesterday", R"(,"now":")" + then + "\""), "e1");
  // A date that is named is what "yesterday" may be about.
  EXPECT_EQ(first("which tea yesterday " + format_rfc3339(talk[0].time_ms).substr(0, 10)), "e0");
}

TEST(Best, WhatMustNotBeThereNamesNoDay) {
  std::vector<Said> talk = random_talk(50);
  const int64_t day_ms = talk[talk.size() / 2].time_ms;
  const std::string day = format_rfc3339(day_ms).substr(0, 10);
  expect_formula(talk, "tea road -" + day, -1);
  QueryLog log(plain_words());
  for (const int64_t days_ago : {40, 1}) {
    log.add(R"({"type":"message","id":"e)" + std::to_string(days_ago) + R"(","timestamp":")" +
            format_rfc3339(kNowMs - days_ago * kDayMs) + R"(","content":"green tea"})");
  }
  const std::string then = format_rfc3339(kNowMs - 40 * kDayMs).substr(0, 10);
  EXPECT_EQ(log.ids(R"({"limit":1,"text":"tea yesterday -)" + then + "\"}"), "e1");
}

TEST(Best, NobodySaysItNothingIsFound) {
  EXPECT_TRUE(log_of(random_talk(1)).answer(R"({"text":"nobodysaysthis"})").hits.empty());
}

TEST(Best, AnAnswerGainsFromTheQuestionBeforeIt) {
  std::vector<Said> talk;
  for (int i = 0; i < 6; ++i) {
    talk.push_back({"assistant", "wind road", kNowMs - (20 - i) * kDayMs, 0.5, false});
  }
  talk.push_back({"assistant", "which tea ?", kNowMs - 10 * kDayMs, 0.5, false});
  talk.push_back({"user", "the green tea one", kNowMs - 10 * kDayMs + 1000, 0.5, false});
  talk.push_back({"user", "tea alone", kNowMs - 5 * kDayMs, 0.5, false});
  QueryLog log = log_of(talk);
  EXPECT_EQ(log.ids(R"({"text":"my tea","sort_by":"match"})"), "e8 e6 e7");
  EXPECT_EQ(log.ids(R"({"text":"my tea"})"), "e7 e8 e6");
}

TEST(Best, WhatHasNoneOfTheWordsIsNotFoundHoweverWellItStands) {
  std::vector<Said> talk = {{"user", "tea", kNowMs - 1000, 0.9, false},
                            {"user", "milk", kNowMs - 500, 0.1, false},
                            {"user", "tea sugar", kNowMs - 100, 0.9, false}};
  QueryLog log = log_of(talk);
  EXPECT_EQ(log.ids(R"({"text":"tea"})"), "e0 e2");
  EXPECT_EQ(log.ids(R"({"text":"+sugar"})"), "e2");
  EXPECT_EQ(log.ids(R"({"text":"+tea -sugar"})"), "e0");
  EXPECT_EQ(log.ids(R"({"text":"milk","min_importance":0.5})"), "");
}

// More matches than are ranked with their surroundings: the others come after, by their match.
TEST(Best, BeyondTheCandidatesEveryMatchIsStillFoundOnce) {
  QueryLog log(plain_words());
  for (int i = 0; i < 900; ++i) {
    log.add(R"({"type":"message","id":"e)" + std::to_string(i) + R"(","content":"tea )" +
            std::string(i % 3 == 0 ? "tea " : "milk ") + R"("})");
    log.add(R"({"type":"message","id":"x)" + std::to_string(i) + R"(","content":"road"})");
  }
  const Answer answer = log.answer(R"({"text":"tea","limit":100000})");
  std::set<uint32_t> rows;
  double last = 100;
  for (const Hit& hit : answer.hits) {
    EXPECT_TRUE(rows.insert(hit.place.row).second);
    EXPECT_LE(hit.place.key, last);
    last = hit.place.key;
  }
  for (uint32_t row = 0; row < 1800; row += 2) EXPECT_TRUE(rows.contains(row)) << row;
  EXPECT_FALSE(answer.has_more);
}

// Whatever is asked for at once, also beyond the candidates.
TEST(Best, AscendingIsTheReverse) {
  QueryLog log(plain_words());
  for (int i = 0; i < 900; ++i) {
    log.add(R"({"type":"message","id":"e)" + std::to_string(i) + R"(","content":"tea )" +
            std::string(i % 7 == 0 ? "and milk" : "") + R"("})");
  }
  const auto rows = [&](const std::string& order, size_t limit) {
    std::vector<uint32_t> found;
    const Answer answer = log.answer(R"({"text":"tea milk","order":")" + order + R"(","limit":)" +
                                     std::to_string(limit) + "}");
    for (const Hit& hit : answer.hits) found.push_back(hit.place.row);
    return found;
  };
  std::vector<uint32_t> whole = rows("desc", 1000);
  ASSERT_EQ(whole.size(), 900u);
  std::reverse(whole.begin(), whole.end());
  for (const int limit : {5, 400, 895, 900}) {
    const std::vector<uint32_t> expected(whole.begin(), whole.begin() + limit);
    EXPECT_EQ(rows("asc", static_cast<size_t>(limit)), expected) << limit;
  }
}

// One of many matches is of the day that is asked for, and too poor a match to be ranked otherwise.
TEST(Best, MatchesOfTheDayAreRankedBesideTheBestMatches) {
  QueryLog log(plain_words());
  const int64_t day_ms = kNowMs - 30 * kDayMs;
  const auto add = [&](const std::string& id, int64_t time_ms, const std::string& text) {
    log.add(R"({"type":"message","id":")" + id + R"(","timestamp":")" + format_rfc3339(time_ms) +
            R"(","content":")" + text + R"("})");
  };
  add("that-day", day_ms, "tea with milk");
  add("other-words", day_ms + 10 * kDayMs, "milk");
  for (int i = 0; i < 20; ++i) {
    add("e" + std::to_string(i), kNowMs - (20 - i) * kHourMs * 3, "tea");
    add("between" + std::to_string(i), kNowMs - (20 - i) * kHourMs * 3 + 1000, "road");
  }
  const std::string question = "tea " + format_rfc3339(day_ms).substr(0, 10);
  const auto first_by = [&](uint32_t candidates, uint32_t dated_candidates) {
    log.weights.candidate_count = candidates;
    log.weights.dated_candidate_count = dated_candidates;
    return log.ids(R"({"limit":1,"text":")" + question + R"("})");
  };
  EXPECT_EQ(first_by(200, 0), "that-day") << "all of them are ranked";
  EXPECT_EQ(first_by(5, 1), "that-day");
  EXPECT_EQ(first_by(5, 0), "e19");
  log.weights = BestWeights();
  log.weights.candidate_count = 5;
  EXPECT_EQ(log.answer(R"({"limit":100,"text":")" + question + R"("})").hits.size(), 21u);
}

// What stands beside the best match lends its match, and is ranked, without being among the best.
TEST(Best, EntriesBesideACandidateNeedNotBeCandidates) {
  QueryLog log(plain_words());
  log.weights.candidate_count = 1;
  for (const std::string text :
       {"tea and bread", "tea with milk", "tea", "tea or milk", "tea cup"}) {
    log.add(R"({"type":"message","content":")" + text + R"("})");
  }
  const Answer answer = log.answer(R"({"text":"tea"})");
  ASSERT_EQ(answer.hits.size(), 5u);
  std::map<uint32_t, const Hit*> by_row;
  for (const Hit& hit : answer.hits) by_row[hit.place.row] = &hit;
  EXPECT_EQ(answer.hits[0].place.row, 2u);
  const double beside = by_row[1]->match_quality + by_row[3]->match_quality;
  EXPECT_DOUBLE_EQ(by_row[2]->best->neighbours, 0.4 * beside);
  EXPECT_DOUBLE_EQ(by_row[1]->best->neighbours, 0.4 * (1 + by_row[0]->match_quality));
  EXPECT_TRUE(by_row[3]->best.has_value());
  EXPECT_FALSE(by_row[0]->best.has_value());
  EXPECT_FALSE(by_row[4]->best.has_value());
}

TEST(Best, ARoleIsNamedByAllOfItsWords) {
  QueryLog log(plain_words());
  const auto say = [&](const std::string& role) {
    log.add(R"({"type":"message","content":{"role":")" + role + R"(","text":"tea"}})");
  };
  for (const std::string role : {"kitchen robot", "robot", "...", "user"}) say(role);
  const Answer answer = log.answer(R"({"text":"what robot made tea"})");
  ASSERT_EQ(answer.hits.size(), 4u);
  for (const Hit& hit : answer.hits) {
    EXPECT_EQ(hit.best->role > 0, hit.place.row == 1) << hit.place.row;
  }
}

TEST(Best, SevenTermsMakeTheKey) {
  BestParts parts;
  parts.match = 1;
  parts.neighbours = 2;
  parts.answer = 4;
  parts.stretch = 8;
  parts.role = 16;
  parts.date = 32;
  parts.relevance = 64;
  EXPECT_EQ(parts.sum(), 127);
}

// Which of them came first, those of index.bin or those added since, decides nothing.
TEST(Best, ARoleIsNamedHoweverManyThereAre) {
  QueryLog log(plain_words());
  constexpr int kRoles = 1500;
  for (int number = 0; number < kRoles; ++number) {
    log.add(R"({"type":"message","content":{"role":"speaker)" + std::to_string(number) +
            R"(","text":"tea"}})");
  }
  for (const int number : {0, kRoles / 2, kRoles - 1}) {
    const Answer answer =
        log.answer(R"({"question":"speaker)" + std::to_string(number) + R"(","limit":1})");
    ASSERT_EQ(answer.hits.size(), 1U);
    EXPECT_EQ(answer.hits[0].place.row, static_cast<uint32_t>(number));
    EXPECT_GT(answer.hits[0].best->role, 0) << number;
  }
}

}  // namespace
}  // namespace varve::query
