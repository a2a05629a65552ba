// Pages: together exactly the whole answer, whatever is added meanwhile.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "base/time.h"
#include "query/cursor.h"
#include "query_fixture.h"

namespace varve::query {
namespace {

void add_some(QueryLog& log, std::mt19937& random, int count) {
  for (int i = 0; i < count; ++i) {
    const int64_t time_ms = kNowMs - static_cast<int64_t>(random() % 40) * kHourMs;
    std::string text;
    for (auto words = random() % 5 + 1; words > 0; --words) {
      text += random() % 2 == 0 ? "tea " : "milk ";
    }
    log.add(R"({"type":")" + std::string(random() % 2 == 0 ? "message" : "preference") +
            R"(","id":"e)" + std::to_string(log.index().size()) + R"(","timestamp":")" +
            format_rfc3339(time_ms) + R"(","importance":)" +
            std::to_string(static_cast<double>(random() % 3) / 2) + R"(,"content":")" + text +
            R"("})");
  }
}

// As a session makes it.
std::string next_of(index::Index& index, const Query& query, const Answer& answer, int64_t now_ms) {
  Cursor cursor;
  cursor.query_hash = query.hash;
  cursor.now_ms = now_ms;
  cursor.last_id = query.after ? query.after->last_id : index.id(answer.row_end - 1);
  cursor.best_match = answer.best_match;
  cursor.key = answer.hits.back().place.key;
  cursor.timestamp_ms = answer.hits.back().place.timestamp_ms;
  cursor.id = index.id(answer.hits.back().place.row);
  return format_cursor(cursor);
}

struct PagingCase {
  const char* members;
};

class Paging : public ::testing::TestWithParam<PagingCase> {};

TEST_P(Paging, GivesTheWholeAnswerOnceWhileEntriesAreAdded) {
  std::mt19937 random(11);
  QueryLog log(plain_words());
  add_some(log, random, 700);
  const std::string members = GetParam().members;
  std::vector<std::string> whole;
  for (const Hit& hit : log.answer("{" + members + R"(,"limit":100000})").hits) {
    whole.emplace_back(log.index().id(hit.place.row));
  }
  ASSERT_GT(whole.size(), 50u);
  std::vector<std::string> paged;
  std::string after = "null";
  int64_t now_ms = kNowMs;
  for (size_t page = 0; page < 2000; ++page) {
    const std::string limit = std::to_string(1 + random() % 60);
    const auto query = parse_query(
        "{" + members + R"(,"limit":)" + limit + R"(,"after":)" + after + "}", Scope::kSession);
    ASSERT_TRUE(query.ok()) << query.status().message();
    const auto answer = log.ask(*query, query->now_ms.value_or(now_ms));
    ASSERT_TRUE(answer.ok());
    for (const Hit& hit : answer->hits) paged.emplace_back(log.index().id(hit.place.row));
    if (!answer->has_more) break;
    after = "\"" + next_of(log.index(), *query, *answer, query->now_ms.value_or(now_ms)) + "\"";
    add_some(log, random, 3);
    now_ms += kHourMs;  // only the first page's counts
  }
  EXPECT_EQ(paged, whole);
}

INSTANTIATE_TEST_SUITE_P(
    Orders, Paging,
    ::testing::Values(PagingCase{R"("sort_by":"relevance")"},
                      PagingCase{R"("sort_by":"relevance","order":"asc")"},
                      PagingCase{R"("sort_by":"time")"},
                      PagingCase{R"("sort_by":"time","order":"asc")"},
                      PagingCase{R"("sort_by":"importance")"},
                      PagingCase{R"("sort_by":"importance","order":"asc")"},
                      PagingCase{R"("types":["message"],"min_relevance":0.2)"},
                      PagingCase{R"("text":"tea")"}, PagingCase{R"("text":"tea","order":"asc")"},
                      PagingCase{R"("text":"tea","sort_by":"match")"},
                      PagingCase{R"("text":"tea","sort_by":"match","order":"asc")"},
                      PagingCase{R"("text":"tea","sort_by":"relevance")"},
                      PagingCase{R"("text":"tea milk","sort_by":"time")"},
                      PagingCase{R"("text":"+tea -milk","sort_by":"best")"},
                      PagingCase{R"("text":"-milk")"}, PagingCase{R"("text":"\"milk tea\"")"}));

TEST(PagingByWords, MeasuresByTheBestMatchOfTheFirstPageAlsoWhenItIsDeleted) {
  for (const std::string sort : {"match", "relevance", "best"}) {
    QueryLog log(plain_words());
    for (const std::string text : {"tea tea tea", "tea milk", "tea milk milk", "milk"}) {
      log.add(R"({"type":"note","id":")" + std::string(1, text.back()) +
              std::to_string(text.size()) + R"(","content":")" + text + R"("})");
    }
    const std::string members = R"({"text":"tea","limit":1,"sort_by":")" + sort + "\"";
    const auto first = parse_query(members + "}", Scope::kSession);
    const auto whole = log.answer(R"({"text":"tea","sort_by":")" + sort + "\"}");
    ASSERT_EQ(whole.hits.size(), 3u);
    const auto answer = log.ask(*first);
    ASSERT_TRUE(answer.ok());
    const std::string after = next_of(log.index(), *first, *answer, kNowMs);
    log.index().add_tombstone(log.index().id(answer->hits.front().place.row));
    const Answer second = log.answer(members + R"(,"after":")" + after + R"("})");
    ASSERT_EQ(second.hits.size(), 1u) << sort;
    EXPECT_EQ(second.hits[0].place.row, whole.hits[1].place.row) << sort;
    EXPECT_DOUBLE_EQ(second.hits[0].match_quality, whole.hits[1].match_quality) << sort;
  }
}

TEST(PagingByThePartsOfAName, GoesOnWhenTheNameIsAdded) {
  QueryLog log;
  for (int i = 0; i < 4; ++i) {
    log.add(entry_of("e" + std::to_string(i), 0.5, i, R"("content":"the user's profile")"));
  }
  const std::string members = R"({"text":"getUserProfile","sort_by":"match","limit":2)";
  const auto first = parse_query(members + "}", Scope::kSession);
  const auto answer = log.ask(*first);
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(log.ids_of(*answer), "e0 e1");
  const std::string after = next_of(log.index(), *first, *answer, kNowMs);
  log.add(entry_of("name", 0.5, 0, R"("content":"getUserProfile is slow")"));
  EXPECT_EQ(log.ids(members + R"(,"after":")" + after + R"("})"), "e2 e3");
  EXPECT_EQ(log.ids(R"({"text":"getUserProfile"})"), "name") << "nor does a new query by parts";
}

TEST(PagingInTimeOrder, WalksTheLogFromEitherEnd) {
  QueryLog log;
  for (int i = 0; i < 90; ++i) {
    log.add(R"({"type":"message","content":"-","id":"e)" + std::to_string(i) +
            R"(","timestamp":")" + format_rfc3339(kNowMs - kDayMs + i / 4 * 1000) + R"("})");
  }
  for (const std::string order : {"asc", "desc"}) {
    std::string after = "null";
    std::string paged;
    for (;;) {
      const auto query = parse_query(
          R"({"sort_by":"time","limit":7,"order":")" + order + R"(","after":)" + after + "}",
          Scope::kSession);
      ASSERT_TRUE(query.ok());
      const auto answer = log.ask(*query);
      ASSERT_TRUE(answer.ok());
      EXPECT_EQ(answer->strategy, "a walk through the log's end");
      paged += (paged.empty() ? "" : " ") + log.ids_of(*answer);
      if (!answer->has_more) break;
      after = "\"" + next_of(log.index(), *query, *answer, kNowMs) + "\"";
    }
    EXPECT_EQ(paged, log.ids(R"({"sort_by":"time","order":")" + order + R"("})"));
    EXPECT_EQ(paged.substr(0, paged.find(' ')), order == "asc" ? "e0" : "e89");
  }
}

TEST(PagingAfterAnEntryThatIsGone, GoesOnBehindItsPlace) {
  QueryLog log;
  for (int i = 0; i < 4; ++i) {
    log.add(R"({"type":"message","content":"-","id":"e)" + std::to_string(i) +
            R"(","timestamp":")" + format_rfc3339(kNowMs - kDayMs + i * 1000) + R"("})");
  }
  const auto first = parse_query(R"({"sort_by":"time","limit":2})", Scope::kSession);
  const auto answer = log.ask(*first);
  ASSERT_TRUE(answer.ok());
  const std::string after = next_of(log.index(), *first, *answer, kNowMs);
  log.index().add_tombstone("e2");  // the last of the first page
  EXPECT_EQ(log.ids(R"({"sort_by":"time","limit":2,"after":")" + after + R"("})"), "e1 e0");
}

TEST(PagingAfterAnEntryThatWasCompactedAway, TakesAllOfItsKeyAndTimeForSeen) {
  QueryLog log;
  for (int i = 0; i < 6; ++i) {
    log.add(R"({"type":"preference","content":"-","importance":0.5,"id":"e)" + std::to_string(i) +
            R"(","timestamp":")" + format_rfc3339(kNowMs - 9 * kDayMs + i / 2 * 1000) + R"("})");
  }
  for (const std::string order : {"asc", "desc"}) {
    const std::string members = R"("sort_by":"importance","order":")" + order + R"(")";
    const auto query = parse_query("{" + members + "}", Scope::kSession);
    Cursor cursor;
    cursor.query_hash = query->hash;
    cursor.now_ms = kNowMs;
    cursor.last_id = "e5";
    cursor.key = 0.5;
    cursor.timestamp_ms = kNowMs - 9 * kDayMs + 1000;  // that of e2 and e3
    cursor.id = "gone";
    EXPECT_EQ(log.ids("{" + members + R"(,"after":")" + format_cursor(cursor) + R"("})"),
              order == "asc" ? "e4 e5" : "e1 e0");
  }
}

}  // namespace
}  // namespace varve::query
