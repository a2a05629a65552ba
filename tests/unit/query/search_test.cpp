// Whole queries on one index: conditions, orders, pages, floors, and days when nothing is right.
#include "query/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>

#include "base/time.h"
#include "query_fixture.h"

namespace varve::query {
namespace {

// --- orders --------------------------------------------------------------------------------------

class Orders : public ::testing::Test {
 protected:
  Orders() {
    log_.add(entry_of("old", 1.0, 3000, R"("content":"tea")"));     // relevance 0.1
    log_.add(entry_of("mid", 0.6, 336, R"("content":"tea tea")"));  // 0.3
    log_.add(entry_of("new", 0.4, 1, R"("content":"tea milk")"));   // 0.6
    log_.add(entry_of("zero", 0.0, 2, R"("content":"tea sugar salt")"));
    log_.add(entry_of("late", 0.4, 100, R"("content":"milk")"));  // 0.33
  }
  QueryLog log_{plain_words()};
};

TEST_F(Orders, EachDescendsAndAscends) {
  EXPECT_EQ(log_.ids(R"({"sort_by":"relevance"})"), "new late mid old zero");
  EXPECT_EQ(log_.ids(R"({"sort_by":"relevance","order":"asc"})"), "zero old mid late new");
  EXPECT_EQ(log_.ids(R"({"sort_by":"time"})"), "new zero late mid old");
  EXPECT_EQ(log_.ids(R"({"sort_by":"time","order":"asc"})"), "old mid late zero new");
  EXPECT_EQ(log_.ids(R"({"sort_by":"importance"})"), "old mid new late zero");
  EXPECT_EQ(log_.ids(R"({"sort_by":"importance","order":"asc"})"), "zero late new mid old");
  EXPECT_EQ(log_.ids("{}"), "new late mid old zero");
}

TEST_F(Orders, WithTextToo) {
  EXPECT_EQ(log_.ids(R"({"text":"tea","sort_by":"match"})"), "mid old new zero");
  EXPECT_EQ(log_.ids(R"({"text":"tea","sort_by":"match","order":"asc"})"), "zero new old mid");
  EXPECT_EQ(log_.ids(R"({"text":"tea","sort_by":"time"})"), "new zero mid old");
  EXPECT_EQ(log_.ids(R"({"text":"tea","sort_by":"importance","order":"asc"})"), "zero new mid old");
  EXPECT_EQ(log_.ids(R"({"text":"milk","sort_by":"relevance"})"), "new late");
}

TEST_F(Orders, BestAndMatchWithoutTextAreRelevance) {
  EXPECT_EQ(log_.ids(R"({"sort_by":"best"})"), "new late mid old zero");
  EXPECT_EQ(log_.ids(R"({"sort_by":"match"})"), "new late mid old zero");
}

TEST_F(Orders, AResultTellsItsFactors) {
  const Answer answer = log_.answer("{}");
  const Hit& first = answer.hits.front();
  EXPECT_NEAR(first.relevance, 0.4 * std::pow(0.5, 1.0 / 336) * 1.5, 1e-12);
  EXPECT_NEAR(first.factors.decay, std::pow(0.5, 1.0 / 336), 1e-12);
  EXPECT_EQ(first.factors.boost, 1.5);
  EXPECT_EQ(first.match_quality, 1);
  EXPECT_NEAR(first.factors.age_hours, 1, 1e-12);
}

TEST_F(Orders, MatchQualityIsTheShareOfTheBestMatch) {
  const Answer answer = log_.answer(R"({"text":"tea","sort_by":"match"})");
  ASSERT_EQ(answer.hits.size(), 4u);
  EXPECT_EQ(answer.hits[0].match_quality, 1);
  for (const Hit& hit : answer.hits) {
    EXPECT_DOUBLE_EQ(hit.match_quality, hit.match / answer.hits[0].match);
    EXPECT_DOUBLE_EQ(hit.relevance, hit.factors.importance * hit.factors.decay * hit.factors.boost *
                                        hit.match_quality);
  }
}

TEST(OrderTies, AreByTimeThenByPlaceInTheLogAndAscendingIsTheReverse) {
  QueryLog log(plain_words());
  for (const auto id : {"a", "b", "c", "d"}) {
    log.add(entry_of(id, 0.5, id[0] == 'b' ? 40 : 50, R"("content":"tea")", "preference"));
  }
  for (const std::string sort : {"relevance", "importance", "time", "match"}) {
    const std::string query = R"({"text":"tea","sort_by":")" + sort + R"(")";
    EXPECT_EQ(log.ids(query + "}"), "b d c a") << sort;
    EXPECT_EQ(log.ids(query + R"(,"order":"asc"})"), "a c d b") << sort;
  }
  EXPECT_EQ(log.ids("{}"), "b d c a");
  EXPECT_EQ(log.ids(R"({"sort_by":"time","order":"asc"})"), "a c d b");
}

TEST(Explained, HowTheBestMatchesWereFound) {
  QueryLog log(plain_words());
  for (int i = 0; i < 3000; ++i) {
    log.add(R"({"type":"finding","tags":["t)" + std::to_string(i % 300) +
            R"("],"content":"tea cup)" + std::to_string(i) + "\"}");
  }
  const auto strategy_of = [&](const std::string& members) {
    return log.answer(R"({"sort_by":"match","explain":true,)" + members + "}").strategy;
  };
  EXPECT_EQ(strategy_of(R"("text":"tea")"), "best matches, block by block");
  EXPECT_EQ(strategy_of(R"("text":"cup7")"), "the words' lists, added up");
  EXPECT_EQ(strategy_of(R"("text":"tea","tags":{"include":["t5"]})"),
            "rows that fit, by their match");
}

// --- limits and floors ---------------------------------------------------------------------------

TEST(Limit, IsObeyedAndTellsWhetherThereIsMore) {
  QueryLog log(plain_words());
  for (int i = 0; i < 7; ++i)
    log.add(entry_of("e" + std::to_string(i), 0.5, i, R"("content":"tea")"));
  for (const std::string sort : {"best", "match", "relevance", "time", "importance"}) {
    for (const std::string text : {"", R"("text":"tea",)"}) {
      const auto with = [&](const std::string& limit) {
        return log.answer("{" + text + R"("sort_by":")" + sort + R"(","limit":)" + limit + "}");
      };
      EXPECT_TRUE(with("0").hits.empty()) << sort;
      EXPECT_EQ(with("1").hits.size(), 1u) << sort;
      EXPECT_TRUE(with("1").has_more) << sort;
      EXPECT_EQ(with("7").hits.size(), 7u) << sort;
      EXPECT_FALSE(with("7").has_more) << sort;
      EXPECT_EQ(with("18446744073709551615").hits.size(), 7u) << sort;
      EXPECT_EQ(with("18446744073709551614").hits.size(), 7u) << sort;
    }
  }
}

TEST(MinRelevance, IsAFloorInEveryOrderAndForCounting) {
  std::mt19937 random(8);
  QueryLog log(plain_words());
  for (int i = 0; i < 300; ++i) {
    const std::string text = "tea" + std::string(random() % 4, ' ') + "milk";
    log.add(entry_of("e" + std::to_string(i), static_cast<double>(random() % 11) / 10,
                     static_cast<int64_t>(random() % 1000), R"("content":"tea )" + text + "\""));
  }
  for (const std::string sort : {"best", "match", "relevance", "time", "importance"}) {
    for (const std::string order : {"asc", "desc"}) {
      for (const std::string text : {"", R"("text":"tea",)"}) {
        const std::string query =
            "{" + text + R"("sort_by":")" + sort + R"(","order":")" + order + R"(","limit":1000)";
        std::set<uint32_t> expected;
        for (const Hit& hit : log.answer(query + "}").hits) {
          if (hit.relevance >= 0.2) expected.insert(hit.place.row);
        }
        ASSERT_GT(expected.size(), 10u);
        std::set<uint32_t> found;
        for (const Hit& hit : log.answer(query + R"(,"min_relevance":0.2})").hits) {
          found.insert(hit.place.row);
        }
        EXPECT_EQ(found, expected) << query;
        EXPECT_EQ(
            log.all_rows(*parse_query("{" + text + R"("min_relevance":0.2})", Scope::kSet))->size(),
            expected.size())
            << query;
      }
    }
  }
}

// So many that their time orders are searched for the few that are wanted.
TEST(MinRelevance, IsAFloorForTheFirstOfManyByImportance) {
  QueryLog log;
  for (int i = 0; i < 200; ++i) {
    log.add(entry_of("e" + std::to_string(i), 1 - i / 1000.0, i < 100 ? 5000 : 1));
  }
  EXPECT_EQ(log.ids(R"({"sort_by":"importance","limit":2})"), "e0 e1");
  EXPECT_EQ(log.ids(R"({"sort_by":"importance","limit":2,"min_relevance":0.5})"), "e100 e101");
}

// Entries that do not decay, and of one match.
TEST(MinRelevance, TakesTheValueItself) {
  QueryLog log(plain_words());
  log.weights.candidate_count = 1;  // the others come behind those that are ranked
  for (int i = 0; i < 200; ++i) {
    log.add(entry_of("e" + std::to_string(i), 0.5, 100, R"("content":"tea")", "preference"));
  }
  for (const std::string text : {"", R"("text":"tea",)"}) {
    for (const std::string sort : {"best", "match", "relevance", "time", "importance"}) {
      for (const std::string order : {"asc", "desc"}) {
        for (const size_t limit : {1u, 1000u}) {
          const std::string query = "{" + text + R"("min_relevance":0.5,"sort_by":")" + sort +
                                    R"(","order":")" + order + R"(","limit":)" +
                                    std::to_string(limit) + "}";
          EXPECT_EQ(log.answer(query).hits.size(), std::min<size_t>(limit, 200)) << query;
        }
      }
    }
    const auto query = parse_query("{" + text + R"("min_relevance":0.5})", Scope::kSet);
    EXPECT_EQ(log.all_rows(*query)->size(), 200u);
  }
}

TEST(MinImportance, TakesTheValueItself) {
  QueryLog log;
  for (const double importance : {0.0, 0.5, 0.7, 1.0}) {
    log.add(entry_of("i" + std::to_string(static_cast<int>(importance * 10)), importance, 1));
  }
  EXPECT_EQ(log.all_ids(R"({"min_importance":0.7})"), "i7 i10");
  EXPECT_EQ(log.all_ids(R"({"min_importance":1})"), "i10");
  EXPECT_EQ(log.all_ids(R"({"min_importance":0})"), "i0 i5 i7 i10");
}

// --- conditions ----------------------------------------------------------------------------------

class Conditions : public ::testing::Test {
 protected:
  Conditions() {
    add("a", "decision", R"("tags":["security.authentication","web"],"trace_id":"t1")", "user");
    add("b", "finding", R"("tags":["security"],"trace_id":"t2")", "assistant");
    add("c", "finding", R"("tags":["securitytheatre"])", "user");
    add("d", "message", R"("tags":["security.authentication.oauth","deprecated"])", "3");
    add("e", "message", R"("tags":[])", "tool");
  }
  void add(const std::string& id, const std::string& type, const std::string& members,
           const std::string& role) {
    log_.add(entry_of(id, 0.5, 5,
                      members + R"(,"content":{"role":")" + role + R"(","n":)" +
                          std::to_string(id[0] - 'a') + R"(,"ok":true,"no":null,"big":)" +
                          "9007199254740993" + "}",
                      type));
  }
  QueryLog log_;
};

TEST_F(Conditions, Types) {
  EXPECT_EQ(log_.all_ids(R"({"types":["finding"]})"), "b c");
  EXPECT_EQ(log_.all_ids(R"({"types":["message","decision","unknown"]})"), "a d e");
  EXPECT_EQ(log_.all_ids(R"({"types":["unknown"]})"), "");
  EXPECT_EQ(log_.all_ids(R"({"types":[]})"), "a b c d e");
}

TEST_F(Conditions, TagsAreAHierarchyOfWholeSegments) {
  EXPECT_EQ(log_.all_ids(R"({"tags":{"include":["security"]}})"), "a b d");
  EXPECT_EQ(log_.all_ids(R"({"tags":{"include":["security.authentication"]}})"), "a d");
  EXPECT_EQ(log_.all_ids(R"({"tags":{"include":["security.auth"]}})"), "");
  EXPECT_EQ(log_.all_ids(R"({"tags":{"include":["authentication"]}})"), "");
  EXPECT_EQ(log_.all_ids(R"({"tags":{"include":["SECURITY"]}})"), "");
}

TEST_F(Conditions, TagsAnyAllAndExclude) {
  EXPECT_EQ(log_.all_ids(R"({"tags":{"include":["web","securitytheatre"]}})"), "a c");
  EXPECT_EQ(log_.all_ids(R"({"tags":{"include":["web","security"],"match":"all"}})"), "a");
  EXPECT_EQ(log_.all_ids(R"({"tags":{"include":["web","none"],"match":"all"}})"), "");
  EXPECT_EQ(log_.all_ids(R"({"tags":{"exclude":["security"]}})"), "c e");
  EXPECT_EQ(log_.all_ids(R"({"tags":{"include":["security"],"exclude":["deprecated"]}})"), "a b");
  EXPECT_EQ(log_.all_ids(R"({"tags":{"exclude":["none"]}})"), "a b c d e");
  EXPECT_EQ(log_.all_ids(R"({"tags":{}})"), "a b c d e");
}

TEST_F(Conditions, IdsAndTraces) {
  EXPECT_EQ(log_.all_ids(R"({"ids":["d","a","nobody","a"]})"), "a d");
  EXPECT_EQ(log_.all_ids(R"({"ids":["nobody"]})"), "");
  EXPECT_EQ(log_.all_ids(R"({"ids":[]})"), "a b c d e");
  EXPECT_EQ(log_.all_ids(R"({"trace_id":"t2"})"), "b");
  EXPECT_EQ(log_.all_ids(R"({"trace_id":"t"})"), "");
  EXPECT_EQ(log_.all_ids(R"({"trace_id":""})"), "a b c d e");
}

TEST_F(Conditions, ContentIsEqualInKindAndValue) {
  EXPECT_EQ(log_.all_ids(R"({"content":{"role":"user"}})"), "a c");
  EXPECT_EQ(log_.all_ids(R"({"content":{"role":"use"}})"), "");
  EXPECT_EQ(log_.all_ids(R"({"content":{"role":"3"}})"), "d");
  EXPECT_EQ(log_.all_ids(R"({"content":{"role":3}})"), "");
  EXPECT_EQ(log_.all_ids(R"({"content":{"n":3}})"), "d");
  EXPECT_EQ(log_.all_ids(R"({"content":{"n":3.0}})"), "d") << "the same number";
  EXPECT_EQ(log_.all_ids(R"({"content":{"ok":true,"role":"tool"}})"), "e");
  EXPECT_EQ(log_.all_ids(R"({"content":{"ok":false}})"), "");
  EXPECT_EQ(log_.all_ids(R"({"content":{"no":null,"n":0}})"), "a");
  EXPECT_EQ(log_.all_ids(R"({"content":{"big":9007199254740992}})"), "")
      << "large integers keep their last digit";
  EXPECT_EQ(log_.all_ids(R"({"content":{"none":null}})"), "") << "absent is not null";
}

TEST_F(Conditions, CombineByAnd) {
  EXPECT_EQ(log_.all_ids(R"({"types":["message","decision"],"tags":{"include":["security"]},
                             "content":{"role":"user"},"ids":["a","d"]})"),
            "a");
  EXPECT_EQ(log_.all_ids(R"({"types":["finding"],"trace_id":"t1"})"), "");
}

TEST_F(Conditions, DeletedEntriesAreNotFoundByAny) {
  log_.index().add_tombstone("a");
  for (const auto query : {"{}", R"({"ids":["a"]})", R"({"trace_id":"t1"})", R"({"text":"user"})",
                           R"({"types":["decision"]})"}) {
    EXPECT_EQ(log_.ids(query).find('a'), std::string::npos) << query;
  }
}

TEST(TimeRange, IsHalfOpenAndLastCountsBackFromNow) {
  QueryLog log;
  for (const int64_t age : {0, 1, 2, 3, 48}) log.add(entry_of("h" + std::to_string(age), 0.5, age));
  const auto at = [](int64_t age_hours) { return format_rfc3339(kNowMs - age_hours * kHourMs); };
  EXPECT_EQ(log.all_ids(R"({"time":{"start":")" + at(3) + R"(","end":")" + at(1) + R"("}})"),
            "h2 h3");
  EXPECT_EQ(log.all_ids(R"({"time":{"start":")" + at(2) + R"("}})"), "h0 h1 h2");
  EXPECT_EQ(log.all_ids(R"({"time":{"end":")" + at(2) + R"("}})"), "h3 h48");
  EXPECT_EQ(log.all_ids(R"({"time":{"start":")" + at(2) + R"(","end":")" + at(2) + R"("}})"), "");
  EXPECT_EQ(log.all_ids(R"({"time":{"last":"2h"}})"), "h0 h1 h2");
  EXPECT_EQ(log.all_ids(R"({"time":{"last":"2h","start":")" + at(1) + R"("}})"), "h0 h1");
  EXPECT_EQ(log.all_ids(R"({"time":{"last":"2h"},"now":")" + at(47) + R"("})"), "h0 h1 h2 h3 h48")
      << "what lies after now is not older";
}

// A thousand of each, of which the time orders hold many under one time.
TEST(TimeRange, OfManyAtOneTimeHoldsItsFirstMillisecondAndNotItsEnd) {
  QueryLog log;
  for (int i = 0; i < 3000; ++i) {
    log.add(entry_of("e" + std::to_string(i), i % 1000 / 1000.0, i % 3));  // in no order of time
  }
  for (const int64_t age_hours : {0, 1, 2}) {
    const auto at = [&](int64_t after_ms) {
      return format_rfc3339(kNowMs - age_hours * kHourMs + after_ms);
    };
    for (const std::string order : {"desc", "asc"}) {
      const auto found = [&](int64_t start_ms, int64_t end_ms) {
        return log
            .answer(R"({"sort_by":"time","limit":1,"order":")" + order + R"(","time":{"start":")" +
                    at(start_ms) + R"(","end":")" + at(end_ms) + R"("}})")
            .hits.size();
      };
      EXPECT_EQ(found(0, 1), 1u) << age_hours << order;
      EXPECT_EQ(found(-1, 0), 0u) << age_hours << order;
      EXPECT_EQ(found(1, 2), 0u) << age_hours << order;
    }
  }
}

TEST(Unarranged, AnswersInEveryOrderAreWhole) {
  QueryLog log;
  for (int i = 0; i < 200; ++i) log.add(entry_of("e" + std::to_string(i), i / 1000.0, i % 7));
  for (const std::string sort : {"importance", "relevance", "time"}) {
    const auto query = parse_query(R"({"limit":2,"sort_by":")" + sort + "\"}", Scope::kSession);
    ASSERT_TRUE(query.ok());
    SearchInput input;
    input.index = &log.index();
    input.query = &*query;
    input.rules = &log.rules();
    input.now_ms = input.live_ms = kNowMs;
    auto search = Search::plan(input);
    ASSERT_TRUE(search.ok());
    const auto answer = search->run();
    ASSERT_TRUE(answer.ok());
    EXPECT_EQ(answer->hits.size(), 2u) << sort;
  }
}

// --- bad days ------------------------------------------------------------------------------------

TEST(BadDay, AnEmptyLogHasNoResults) {
  QueryLog log;
  log.index().text_to_extend();
  for (const auto query : {"{}", R"({"text":"tea"})", R"({"text":"\"a b\" +c* -d"})",
                           R"({"types":["finding"],"sort_by":"time","order":"asc"})",
                           R"({"references":["a"],"max_depth":64})", R"({"limit":0})"}) {
    const Answer answer = log.answer(query);
    EXPECT_TRUE(answer.hits.empty()) << query;
    EXPECT_FALSE(answer.has_more) << query;
    EXPECT_EQ(answer.row_end, 0u);
  }
}

TEST(BadDay, AWildcardOfManyStarsOnALongTextIsRead) {
  QueryLog log;
  std::string text;
  while (text.size() < 350'000) text += std::string(100 + text.size() % 20, 'a') + ' ';
  log.add(entry_of("a", 0.5, 1, R"("content":")" + text + "\""));
  EXPECT_EQ(log.all_ids(R"({"text":"*a*a*a*a*b"})"), "");
  EXPECT_EQ(log.all_ids(R"({"text":"+*a*a*a*a*a"})"), "a");
}

TEST(BadDay, APhraseOverAnEmojiAndLoneMarks) {
  QueryLog log;
  log.add(entry_of("a", 0.5, 1, "\"content\":\"black \xf0\x9f\x8d\xb5 tea\""));
  log.add(entry_of("b", 0.5, 1, "\"content\":\"\xcc\x81 \xcc\x81\xcc\x81\""));
  EXPECT_EQ(log.all_ids("{\"text\":\"\\\"black \xf0\x9f\x8d\xb5 tea\\\"\"}"), "a");
  EXPECT_EQ(log.all_ids(R"({"text":"\"black tea\""})"), "a") << "an emoji stands between no words";
  EXPECT_EQ(log.all_ids("{\"text\":\"\xcc\x81\"}"), "");
  EXPECT_EQ(log.all_ids("{\"text\":\"+\xcc\x81*\"}"), "");
}

TEST(BadDay, ATermLongerThanAPageIsFoundByItself) {
  QueryLog log;
  const std::string term(5000, 'q');
  log.add(entry_of("a", 0.5, 1, R"("content":")" + term + "\""));
  log.add(entry_of("b", 0.5, 1, R"("content":"q")"));
  EXPECT_EQ(log.all_ids(R"({"text":")" + term + R"("})"), "a");
  EXPECT_EQ(log.all_ids(R"({"text":"\")" + term + R"(\""})"), "a");
}

TEST(BadDay, NoNumberOfAnAnswerIsNotANumber) {
  QueryLog log(plain_words());
  log.rules().fallback.half_life_hours = 1e-6;
  log.rules().fallback.factor_min = 0;
  log.add(entry_of("zero", 0, 1, R"("content":"tea")", "own"));
  log.add(entry_of("ancient", 1, 400'000, R"("content":"tea")", "own"));
  log.add(entry_of("future", 1, -400'000, R"("content":"tea")", "own"));
  log.add(entry_of("silent", 1, 1, R"("content":"")", "own"));
  log.add(entry_of("numbers", 1, 1, R"("content":{"n":1e308})", "own"));
  for (const std::string sort : {"best", "match", "relevance", "time", "importance"}) {
    for (const std::string text : {"", "tea", "-milk", "+tea", "\\\"tea\\\"", "t*"}) {
      for (const std::string order : {"asc", "desc"}) {
        const Answer answer = log.answer(R"({"text":")" + text + R"(","sort_by":")" + sort +
                                         R"(","order":")" + order + R"(","explain":true})");
        EXPECT_FALSE(answer.hits.empty()) << text;
        for (const Hit& hit : answer.hits) {
          EXPECT_TRUE(std::isfinite(hit.place.key) && std::isfinite(hit.match));
          EXPECT_TRUE(hit.relevance >= 0 && hit.relevance <= 1.5) << hit.relevance;
          EXPECT_TRUE(hit.match_quality >= 0 && hit.match_quality <= 1) << hit.match_quality;
          EXPECT_TRUE(hit.factors.decay >= 0 && hit.factors.decay <= 1);
        }
      }
    }
  }
}

}  // namespace
}  // namespace varve::query
