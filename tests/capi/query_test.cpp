// Queries on one session, as a program makes them.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

constexpr const char* kNow = R"("now":"2026-01-10T12:00:00Z")";

json::object result(const Results& results, size_t number) {
  return results.list().at(number).as_object();
}
double number(const json::object& object, std::string_view name) {
  return object.at(name).to_number<double>();
}

// --- the examples of the persistence layer -------------------------------------------------------

TEST(QueryExamples, AddConversationAndDecisionThenSearchByTopic) {
  const Store store;
  const Session session(store, R"({"user_id":"user123"})");
  const std::string id = session
                             .add(R"({"type":"conversation","content":{"role":"user",
                   "message":"How do I implement OAuth2?"},"importance":0.8,
                   "tags":["oauth2","authentication"]})")
                             .text;
  const std::string decision = session
                                   .add(R"({"type":"decision","content":{
                   "decision":"Use Authorization Code flow for web apps",
                   "rationale":"Most secure for server-side applications",
                   "alternatives":["Implicit flow","PKCE"]},"importance":0.9,
                   "tags":["oauth2","security","architecture"],"references":[")" +
                                        id + R"("]})")
                                   .text;
  EXPECT_EQ(session.query(R"({"tags":{"include":["oauth2"]}})").ids(), decision + " " + id);
  EXPECT_EQ(session.query(R"({"text":"oauth2"})").ids(), id + " " + decision);
  EXPECT_EQ(session.query(R"({"references":[")" + id + R"("]})").ids(), decision);
}

TEST(QueryExamples, ComplexQueryAndRelatedMemories) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session
                  .add_batch(R"([
    {"id":"mem_abc123xyz","type":"decision","content":"a","tags":["security.authentication"],
     "importance":0.9,"timestamp":"2026-01-05T00:00:00Z"},
    {"id":"found","type":"finding","content":"b","tags":["security"],"importance":0.7,
     "timestamp":"2026-01-01T00:00:00Z","references":["mem_abc123xyz"]},
    {"id":"further","type":"finding","content":"b","importance":0.9,
     "timestamp":"2026-01-02T00:00:00Z","references":["found"]},
    {"id":"too_late","type":"finding","content":"b","tags":["security"],"importance":0.9,
     "timestamp":"2026-01-10T00:00:00Z"},
    {"id":"deprecated","type":"finding","content":"b","tags":["security","deprecated"],
     "importance":0.9,"timestamp":"2026-01-05T00:00:00Z"},
    {"id":"unimportant","type":"finding","content":"b","tags":["security"],"importance":0.6,
     "timestamp":"2026-01-05T00:00:00Z"},
    {"id":"other_type","type":"message","content":"b","tags":["security"],"importance":0.9,
     "timestamp":"2026-01-05T00:00:00Z"}])")
                  .ok());
  const Results results = session.query(R"({"types":["decision","finding"],
    "tags":{"include":["security"],"exclude":["deprecated"]},
    "time":{"start":"2026-01-01T00:00:00Z","end":"2026-01-10T00:00:00Z"},
    "min_importance":0.7,"sort_by":"relevance","limit":10})");
  EXPECT_EQ(results.ids(), "mem_abc123xyz found");
  EXPECT_EQ(
      session.query(R"({"references":["mem_abc123xyz"],"max_depth":2,"sort_by":"time"})").ids(),
      "further found");
}

// MemoryQuery::new().session(..).types([ToolCall, ToolResult]).since(..).limit(50)
TEST(QueryExamples, BuilderOfTheContextSystem) {
  const Store store;
  const Session session(store, R"({"session_id":"agent-123"})");
  ASSERT_TRUE(session
                  .add_batch(R"([
    {"id":"old","type":"tool_call","content":1,"timestamp":"2026-01-10T11:29:59Z"},
    {"id":"call","type":"tool_call","content":1,"timestamp":"2026-01-10T11:30:00Z"},
    {"id":"result","type":"tool_result","content":1,"timestamp":"2026-01-10T11:31:00Z"},
    {"id":"said","type":"message","content":1,"timestamp":"2026-01-10T11:31:00Z"}])")
                  .ok());
  const std::string query = R"({"types":["tool_call","tool_result"],"time":{"last":"30m"},
    "sort_by":"time","limit":50,)" +
                            std::string(kNow) + "}";
  EXPECT_EQ(session.query(query).ids(), "result call");
  EXPECT_EQ(store.query(R"({"session_ids":["agent-123"],)" + query.substr(1)).ids(), "result call");
}

// --- results -------------------------------------------------------------------------------------

class ThreeEntries : public ::testing::Test {
 protected:
  ThreeEntries() : session_(store_, R"({"session_id":"s"})") {
    EXPECT_TRUE(session_
                    .add_batch(R"([
      {"id":"a","type":"message","content":{"role":"user","text":"green tea"},"importance":1,
       "timestamp":"2026-01-10T11:00:00Z","tags":["drinks.tea"]},
      {"id":"b","type":"message","content":{"role":"assistant","text":"tea is ready"},
       "importance":0.5,"timestamp":"2026-01-03T12:00:00Z","tags":["drinks"]},
      {"id":"c","type":"preference","content":"no sugar","importance":0,
       "timestamp":"2020-01-03T12:00:00Z"}])")
                    .ok());
  }
  Store store_;
  Session session_;
};

TEST_F(ThreeEntries, ComeAsStoredWithTheirFigures) {
  const Results results = session_.query(std::string("{") + kNow + "}");
  ASSERT_EQ(results.count(), 3u);
  const json::object first = result(results, 0);
  EXPECT_EQ(json::serialize(first.at("entry")), json::serialize(session_.get("a").value()));
  EXPECT_EQ(first.at("session_id").as_string(), "s");
  EXPECT_NEAR(number(first, "decay_factor"), std::pow(0.5, 1.0 / 168), 1e-12);
  EXPECT_NEAR(number(first, "relevance"), 1.5 * std::pow(0.5, 1.0 / 168), 1e-12);
  EXPECT_EQ(number(first, "match_quality"), 1);
  EXPECT_NEAR(number(result(results, 1), "relevance"), 0.25, 1e-12);
  EXPECT_EQ(number(result(results, 2), "relevance"), 0);
  EXPECT_EQ(number(result(results, 2), "decay_factor"), 1) << "a preference does not decay";
  EXPECT_TRUE(results.object().at("next").is_null());
  EXPECT_FALSE(results.object().contains("explain"));
}

TEST_F(ThreeEntries, OneByOneAreTheSameAsAllAtOnce) {
  const Results results = session_.query(R"({"text":"tea"})");
  ASSERT_EQ(results.count(), 2u);
  for (size_t i = 0; i < results.count(); ++i) {
    const char* text = nullptr;
    size_t len = 0;
    double relevance = -1;
    ASSERT_EQ(varve_results_entry(results.get(), i, &text, &len, nullptr), VARVE_OK);
    EXPECT_EQ(len, std::strlen(text));
    EXPECT_EQ(std::string(text, len), session_.get(i == 0 ? "a" : "b").text);
    ASSERT_EQ(varve_results_score(results.get(), i, &relevance, nullptr), VARVE_OK);
    EXPECT_DOUBLE_EQ(relevance, number(result(results, i), "relevance"));
  }
}

TEST_F(ThreeEntries, TheNextPageIsAskedForByTheCursor) {
  const std::string query = R"({"sort_by":"time","limit":2)";
  const Results first = session_.query(query + "}");
  const char* cursor = nullptr;
  size_t len = 0;
  ASSERT_EQ(varve_results_next(first.get(), &cursor, &len, nullptr), VARVE_OK);
  EXPECT_EQ(std::string(cursor, len), first.next());
  EXPECT_EQ(json::serialize(json::string(first.next())), '"' + first.next() + '"') << "no escapes";
  EXPECT_EQ(len, std::strlen(cursor));
  const Results last = session_.query(query + R"(,"after":")" + cursor + "\"}");
  EXPECT_EQ(first.ids() + "; " + last.ids(), "a b; c");
  ASSERT_EQ(varve_results_next(last.get(), &cursor, &len, nullptr), VARVE_OK);
  EXPECT_STREQ(cursor, "");
  EXPECT_EQ(len, 0u);
}

TEST_F(ThreeEntries, AnIndexTooLargeIsRefusedAndClearsItsOuts) {
  const Results results = session_.query();
  for (const size_t index : {size_t{3}, SIZE_MAX}) {
    const char* text = reinterpret_cast<const char*>(0x10);
    size_t len = 9;
    double relevance = 9;
    ErrorOut error;
    const Outcome outcome =
        error.outcome(varve_results_entry(results.get(), index, &text, &len, error.out()));
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT);
    EXPECT_EQ(outcome.detail("member"), "index");
    EXPECT_NE(outcome.message.find("must be below the number of results, 3"), std::string::npos)
        << outcome;
    EXPECT_EQ(outcome.detail("limit"), "3");
    EXPECT_EQ(text, nullptr);
    EXPECT_EQ(len, 0u);
    EXPECT_EQ(varve_results_score(results.get(), index, &relevance, nullptr),
              VARVE_INVALID_ARGUMENT);
    EXPECT_EQ(relevance, 0);
  }
  EXPECT_EQ(varve_results_entry(results.get(), 0, nullptr, nullptr, nullptr), VARVE_OK);
  EXPECT_EQ(varve_results_score(results.get(), 0, nullptr, nullptr), VARVE_OK);
  EXPECT_EQ(varve_results_json(results.get(), nullptr, nullptr, nullptr), VARVE_OK);
  EXPECT_EQ(varve_results_next(results.get(), nullptr, nullptr, nullptr), VARVE_OK);
}

void expect_no_results(const varve_results_t* results) {
  const char* text = reinterpret_cast<const char*>(0x10);
  size_t len = 9;
  double relevance = 9;
  EXPECT_EQ(varve_results_count(results), 0u);
  EXPECT_EQ(varve_results_json(results, &text, &len, nullptr), VARVE_BAD_HANDLE);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(len, 0u);
  text = reinterpret_cast<const char*>(0x10);
  len = 9;
  EXPECT_EQ(varve_results_next(results, &text, &len, nullptr), VARVE_BAD_HANDLE);
  EXPECT_EQ(text, nullptr);
  EXPECT_EQ(len, 0u);
  ErrorOut error;
  EXPECT_EQ(error.outcome(varve_results_entry(results, 0, &text, &len, error.out())).status,
            VARVE_BAD_HANDLE);
  EXPECT_EQ(varve_results_score(results, 0, &relevance, nullptr), VARVE_BAD_HANDLE);
  EXPECT_EQ(relevance, 0);
}

TEST_F(ThreeEntries, HandlesThatAreNoneAreRefused) {
  varve_results_t* freed = nullptr;
  ASSERT_EQ(varve_session_query(session_.get(), nullptr, 0, &freed, nullptr), VARVE_OK);
  ASSERT_EQ(varve_results_count(freed), 3u);
  varve_results_free(freed);
  expect_no_results(freed);
  varve_results_free(freed);  // a second time
  expect_no_results(nullptr);
  varve_results_free(nullptr);
  for (const uintptr_t value : {uintptr_t{1}, uintptr_t{4096}, UINTPTR_MAX}) {
    expect_no_results(reinterpret_cast<varve_results_t*>(value));
  }
  expect_no_results(reinterpret_cast<varve_results_t*>(store_.get()));
  expect_no_results(reinterpret_cast<varve_results_t*>(session_.get()));
  varve_results_free(reinterpret_cast<varve_results_t*>(session_.get()));
  EXPECT_TRUE(session_.stats().ok());
  const Results results = session_.query();
  varve_session_close(reinterpret_cast<varve_session_t*>(results.get()));
  varve_store_close(reinterpret_cast<varve_store_t*>(results.get()));
  EXPECT_EQ(results.count(), 3u);
}

TEST_F(ThreeEntries, BorrowedTextOutlivesSessionAndStore) {
  const Results results = session_.query(std::string("{") + kNow + "}");
  const char* text = nullptr;
  size_t len = 0;
  ASSERT_EQ(varve_results_entry(results.get(), 0, &text, &len, nullptr), VARVE_OK);
  const std::string line = session_.get("a").text;
  session_.close();
  store_.close();
  EXPECT_EQ(std::string(text, len), line);
  EXPECT_EQ(results.ids(), "a b c");
}

TEST_F(ThreeEntries, TheSameNowGivesTheSameAnswerToTheByte) {
  const std::string query = std::string(R"({"text":"tea","explain":true,)") + kNow + "}";
  const std::string first = session_.query(query).text();
  EXPECT_EQ(session_.query(query).text(), first);
  EXPECT_NE(session_.query(R"({"text":"tea","explain":true,"now":"2027-01-01T00:00:00Z"})").text(),
            first);
}

TEST_F(ThreeEntries, TheStoresClockCountsWhereNowIsAbsent) {
  ASSERT_TRUE(store_
                  .set_clock(
                      [](void*) -> int64_t {
                        return 1767441600000;  // 2026-01-03T12:00:00Z
                      },
                      nullptr)
                  .ok());
  const Results results = session_.query(R"({"ids":["b"]})");
  EXPECT_EQ(number(result(results, 0), "decay_factor"), 1);
  EXPECT_EQ(number(result(results, 0), "relevance"), 0.75);
}

TEST_F(ThreeEntries, ExplainAddsUp) {
  const Results results =
      session_.query(std::string(R"({"text":"my tea","explain":true,)") + kNow + "}");
  const json::object all = results.object();
  EXPECT_EQ(all.at("explain").at("sort_by").as_string(), "best");
  EXPECT_EQ(all.at("explain").at("terms").as_array().size(), 1u) << "my is a stop word";
  ASSERT_EQ(results.count(), 2u);
  double bm25_best = 0;
  for (const json::value& one : all.at("results").as_array()) {
    bm25_best = std::max(bm25_best, one.at("explain").at("bm25").to_number<double>());
  }
  for (const json::value& one : all.at("results").as_array()) {
    const json::object& explain = one.at("explain").as_object();
    double sum = 0;
    for (const auto& part : explain.at("best").as_object()) sum += part.value().to_number<double>();
    EXPECT_EQ(explain.at("best").as_object().size(), 7u);
    EXPECT_NEAR(sum, number(explain, "key"), 1e-12);
    const json::object& decay = explain.at("decay").as_object();
    const double quality = number(one.as_object(), "match_quality");
    EXPECT_NEAR(number(explain, "importance") * number(decay, "factor") *
                    number(explain, "recency_boost") * quality,
                number(one.as_object(), "relevance"), 1e-12);
    EXPECT_NEAR(number(decay, "factor"), number(one.as_object(), "decay_factor"), 0);
    EXPECT_NEAR(number(explain, "bm25") / bm25_best, quality, 1e-12);
    double terms = 0;
    for (const json::value& term : explain.at("terms").as_array()) {
      terms += term.at("score").to_number<double>();
    }
    EXPECT_NEAR(terms, number(explain, "bm25"), 1e-12);
  }
}

TEST_F(ThreeEntries, AWrongQueryTellsMemberAndOffset) {
  const Results wrong = session_.query(R"({"limit":-1})");
  EXPECT_EQ(wrong.outcome().status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(wrong.outcome().detail("member"), "limit");
  EXPECT_EQ(wrong.outcome().detail("offset"), "9");
  for (const auto query : {R"({"sort_by":"time"})", R"({"limit":1})", R"({"explain":true})"}) {
    EXPECT_EQ(session_.count(query).count, 3u) << query << ": of all pages";
    EXPECT_EQ(session_.remove_where(query).outcome.status, VARVE_INVALID_ARGUMENT) << query;
  }
  EXPECT_EQ(session_.query("\xff").outcome().status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(session_.count().count, 3u) << "nothing was deleted";
}

TEST_F(ThreeEntries, CountIsTheNumberOfResults) {
  for (const std::string query :
       {"", "{}", R"({"types":["message"]})", R"({"tags":{"include":["drinks"]}})",
        R"({"min_importance":0.5})", R"({"text":"tea"})", R"({"text":"-tea"})",
        R"({"text":"+green -ready \"green tea\""})", R"({"ids":["a","c","z"]})",
        R"({"types":["none"]})"}) {
    const auto counted = session_.count(query);
    ASSERT_TRUE(counted.outcome.ok()) << counted.outcome;
    EXPECT_EQ(counted.count, session_.query(query).count()) << query;
  }
}

TEST_F(ThreeEntries, TagsAreListedWithThoseAboveThem) {
  EXPECT_EQ(session_.tags().text,
            R"({"tags":[{"entries":2,"tag":"drinks"},{"entries":1,"tag":"drinks.tea"}]})");
  ASSERT_TRUE(session_.remove("a").ok());
  EXPECT_EQ(session_.tags().text, R"({"tags":[{"entries":1,"tag":"drinks"}]})");
  ASSERT_TRUE(session_.remove("b").ok());
  EXPECT_EQ(session_.tags().text, R"({"tags":[]})");
}

TEST_F(ThreeEntries, DeletedAndExpiredEntriesAreNotFound) {
  ASSERT_TRUE(session_.query(R"({"text":"tea"})").ok());
  ASSERT_TRUE(session_.remove("a").ok());
  ASSERT_TRUE(session_
                  .add(R"({"id":"gone","type":"message","content":"tea",
    "expires_at":"2026-01-10T12:00:00Z"})")
                  .ok());
  EXPECT_EQ(session_.query(std::string(R"({"text":"tea","sort_by":"match",)") + kNow + "}").ids(),
            "b");
  EXPECT_EQ(session_
                .query(R"({"text":"tea","sort_by":"time","order":"asc",
                           "now":"2026-01-10T11:59:59.999Z"})")
                .ids(),
            "b")
      << "over by the clock, whatever ages are counted to";
  EXPECT_EQ(session_.count(R"({"text":"tea","now":"2026-01-10T11:59:59.999Z"})").count, 1u);
}

TEST_F(ThreeEntries, OfADeletedSessionNothingIsAnswered) {
  ASSERT_TRUE(store_.delete_session("s").ok());
  EXPECT_EQ(session_.query().outcome().status, VARVE_NOT_FOUND);
  EXPECT_EQ(session_.count().outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session_.tags().outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session_.remove_where("{}").outcome.status, VARVE_NOT_FOUND);
}

// --- delete_where --------------------------------------------------------------------------------

TEST(DeleteWhere, TakesAnyConditions) {
  const Store store;
  const Session session(store);
  for (int day = 1; day <= 9; ++day) {
    const std::string tags = day % 2 == 0 ? R"(["personal_info.name"])" : "[]";
    ASSERT_TRUE(session
                    .add(R"({"id":"d)" + std::to_string(day) + R"(","type":"finding","tags":)" +
                         tags + R"(,"content":"note )" + (day == 9 ? "black tea" : "tea black") +
                         R"( milk","timestamp":"2026-01-0)" + std::to_string(day) +
                         R"(T00:00:00Z"})")
                    .ok());
  }
  const auto left = [&] { return session.query(R"({"sort_by":"time","order":"asc"})").ids(); };
  EXPECT_EQ(session.remove_where(R"({"tags":{"include":["personal_info"]}})", "topic").count, 4u);
  EXPECT_EQ(left(), "d1 d3 d5 d7 d9");
  EXPECT_EQ(session
                .remove_where(R"({"time":{"start":"2026-01-01T00:00:00Z",
                                          "end":"2026-01-05T00:00:00Z"}})")
                .count,
            2u);
  EXPECT_EQ(left(), "d5 d7 d9");
  EXPECT_EQ(session.remove_where(R"({"text":"\"black tea\""})").count, 1u);
  EXPECT_EQ(left(), "d5 d7");
  EXPECT_EQ(session.remove_where(R"({"text":"coffee"})").count, 0u);
  EXPECT_EQ(session.remove_where(R"({"text":"+tea","ids":["d5"]})").count, 1u);
  EXPECT_EQ(left(), "d7");
  EXPECT_EQ(session.remove_where("{}").count, 1u) << "without any condition it is every entry";
  EXPECT_EQ(left(), "");
  const Count again = session.remove_where("{}");
  EXPECT_TRUE(again.outcome.ok()) << again.outcome;
  EXPECT_EQ(again.count, 0u);
  EXPECT_EQ(session.get("d1").outcome.status, VARVE_NOT_FOUND);
}

TEST(DeleteWhere, ByAWordTakesOnlyEntriesThatHaveIt) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session.add(entry("a", "milk")).ok());
  ASSERT_TRUE(session.add(entry("b", "tea")).ok());
  ASSERT_TRUE(session.add(entry("c", "milk")).ok());
  EXPECT_EQ(session.remove_where(R"({"text":"tea","ids":["a","b","c"]})").count, 1u);
  EXPECT_EQ(session.count().count, 2u);
}

TEST(DeleteWhere, ReasonAndReopenedStore) {
  const TempDirectory directory;
  {
    const Store store(directory.path());
    const Session session(store, R"({"session_id":"s"})");
    ASSERT_TRUE(session.add(entry("a")).ok());
    ASSERT_TRUE(session.add(entry("b", "milk")).ok());
    EXPECT_EQ(session.remove_where(R"({"text":"tea"})", "asked to").count, 1u);
    EXPECT_EQ(session.remove_where("{}", std::string(1025, 'x')).outcome.status,
              VARVE_INVALID_ARGUMENT);
  }
  const Store store(directory.path());
  EXPECT_EQ(Session::open(store, "s").query().ids(), "b");
}

// --- pages ---------------------------------------------------------------------------------------

TEST(QueryPages, NeitherSkipNorRepeatWhileAThreadAdds) {
  const Store store;
  const Session session(store);
  for (int i = 0; i < 120; ++i) {
    ASSERT_TRUE(session.add(entry("e" + std::to_string(i), i % 2 == 0 ? "tea" : "tea milk")).ok());
  }
  for (const std::string members :
       {R"("sort_by":"time")", R"("sort_by":"relevance")", R"("text":"tea")",
        R"("text":"tea","sort_by":"match")", R"("text":"milk","order":"asc","sort_by":"time")"}) {
    const std::string whole = session.query("{" + members + R"(,"limit":100000})").ids();
    const Results first = session.query("{" + members + R"(,"limit":7})");
    std::atomic<bool> done{false};
    std::atomic<int> added{0};
    std::thread adder([&] {
      while (!done) added += session.add(entry("", "tea tea milk")).ok() ? 1 : 0;
    });
    std::string paged = first.ids();
    for (std::string next = first.next(); !next.empty();) {
      while (added == 0) std::this_thread::yield();
      const Results page =
          session.query("{" + members + R"(,"limit":7,"after":")" + next + R"("})");
      if (!page.ok()) ADD_FAILURE() << page.outcome();
      if (!page.ok()) break;
      paged += " " + page.ids();
      next = page.next();
    }
    done = true;
    adder.join();
    EXPECT_EQ(paged, whole) << members;
    ASSERT_TRUE(session.remove_where(R"({"text":"+\"tea tea\""})").outcome.ok());
  }
}

// A compaction numbers the rows anew, and may take away the newest entry of the first page.
TEST(QueryPages, ShowNothingThatWasAddedSinceAlsoAfterACompaction) {
  for (const bool is_of_store : {false, true}) {
    for (const bool goes_newest : {false, true}) {
      SCOPED_TRACE((is_of_store ? "store " : "session ") + std::to_string(goes_newest));
      const TempDirectory directory;
      const Store store(directory.path());
      const Session session(store, R"({"session_id":"s"})");
      for (const char* id : {"a", "b", "c", "d", "e", "f"}) {
        ASSERT_TRUE(session.add(entry(id)).ok());
      }
      const auto page = [&](const std::string& after) {
        const std::string query =
            R"({"sort_by":"time","order":"asc","limit":2,"after":)" + after + "}";
        return is_of_store ? store.query(query) : session.query(query);
      };
      const Results first = page("null");
      EXPECT_EQ(first.ids(), "a b");
      ASSERT_TRUE(session.remove(goes_newest ? "f" : "a").ok());
      for (const char* id : {"late", "later", "latest"}) ASSERT_TRUE(session.add(entry(id)).ok());
      ASSERT_EQ(varve_session_compact(session.get(), nullptr, 0, nullptr, nullptr, nullptr),
                VARVE_OK);
      std::string rest;
      for (std::string next = first.next(); !next.empty();) {
        const Results more = page('"' + next + '"');
        ASSERT_TRUE(more.ok()) << more.outcome();
        rest += more.ids() + " ";
        next = more.next();
      }
      EXPECT_EQ(rest, goes_newest ? "c d e " : "c d e f ");
    }
  }
}

TEST(QueryPages, ACursorOfAnotherQueryOrGarbageIsRefused) {
  const Store store;
  const Session session(store);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(session.add(entry("")).ok());
  const std::string next = session.query(R"({"limit":1})").next();
  ASSERT_FALSE(next.empty());
  EXPECT_TRUE(session.query(R"({"limit":2,"after":")" + next + R"("})").ok());
  for (const std::string& query :
       {R"({"types":["finding"],"after":")" + next + R"("})", R"({"after":")" + next + R"(x y"})",
        std::string(R"({"after":""})"), std::string(R"({"after":"1"})")}) {
    const Results page = session.query(query);
    EXPECT_EQ(page.outcome().status, VARVE_INVALID_ARGUMENT) << query;
    EXPECT_EQ(page.outcome().detail("member"), "after");
  }
}

// --- bad days ------------------------------------------------------------------------------------

TEST(QueryOnABadDay, OfAnEmptySessionIsEmpty) {
  const Store store;
  const Session session(store);
  for (const auto query : {"", "{}", R"({"text":"tea \"a b\" -c d*"})", R"({"limit":0})",
                           R"({"references":["nothing"],"max_depth":64})"}) {
    EXPECT_EQ(session.query(query).text(), R"({"results":[],"next":null})") << query;
    EXPECT_EQ(session.count(query).count, 0u);
  }
  EXPECT_EQ(session.tags().text, R"({"tags":[]})");
}

TEST(QueryOnABadDay, LimitZeroAndHuge) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session.add(entry("a")).ok());
  EXPECT_EQ(session.query(R"({"limit":0})").count(), 0u);
  EXPECT_EQ(session.query(R"({"limit":18446744073709551615})").ids(), "a");
  EXPECT_EQ(store.query(R"({"limit":18446744073709551615})").ids(), "a");
  EXPECT_EQ(store.query(R"({"limit":0})").count(), 0u);
}

TEST(QueryOnABadDay, AnEntryWithTenThousandTags) {
  const Store store;
  const Session session(store);
  std::string tags;
  for (int i = 0; i < 10'000; ++i) tags += (i > 0 ? ",\"t" : "\"t") + std::to_string(i) + ".x\"";
  const Answer added =
      session.add(R"({"id":"a","type":"finding","content":1,"tags":[)" + tags + "]}");
  if (!added.ok()) {
    EXPECT_EQ(added.outcome.detail("member").substr(0, 4), "tags") << added.outcome;
    return;  // more than an entry may have
  }
  EXPECT_EQ(session.query(R"({"tags":{"include":["t9999"]}})").ids(), "a");
  EXPECT_EQ(session.tags().object().at("tags").as_array().size(), 20'000u);
}

TEST(QueryOnABadDay, AWildcardOfManyStarsOnALargeEntry) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session.add(entry("a", std::string(350'000, 'a'))).ok());
  EXPECT_EQ(session.query(R"({"text":"*a*a*a*a*b"})").count(), 0u);
  EXPECT_EQ(session.query(R"({"text":"*a*a*a*a*"})").ids(), "a");
}

TEST(QueryOnABadDay, ReferencesToNothingAndInACircle) {
  const Store store;
  const Session session(store);
  ASSERT_TRUE(session.add(R"({"id":"a","type":"finding","content":1,"references":["b"]})").ok());
  ASSERT_TRUE(
      session.add(R"({"id":"b","type":"finding","content":1,"references":["a","no"]})").ok());
  EXPECT_EQ(session.query(R"({"references":["a"],"max_depth":64})").ids(), "b");
  EXPECT_EQ(
      session.query(R"({"references":["no"],"max_depth":64,"sort_by":"time","order":"asc"})").ids(),
      "a b");
  EXPECT_EQ(session.query(R"({"references":["nobody"]})").count(), 0u);
}

TEST(QueryOnABadDay, FutureEqualAndUnorderedTimesGiveNoOddNumbers) {
  const Store store;
  const Session session(store);
  for (const std::string time : {"9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00Z",
                                 "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"}) {
    for (const std::string importance : {"0", "1", "0.3"}) {
      ASSERT_TRUE(session
                      .add(R"({"type":"message","content":"tea","importance":)" + importance +
                           R"(,"timestamp":")" + time + R"("})")
                      .ok());
    }
  }
  for (const std::string sort : {"best", "match", "relevance", "time", "importance"}) {
    for (const std::string now : {"0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"}) {
      const Results results = session.query(R"({"text":"tea","explain":true,"sort_by":")" + sort +
                                            R"(","now":")" + now + R"("})");
      EXPECT_EQ(results.count(), 12u);
      EXPECT_EQ(results.text().find("nan"), std::string::npos);
      EXPECT_EQ(results.text().find("inf"), std::string::npos);
      for (const json::value& one : results.list()) {
        const double relevance = number(one.as_object(), "relevance");
        EXPECT_TRUE(relevance >= 0 && relevance <= 1.5) << relevance;
      }
    }
  }
}

}  // namespace
}  // namespace varve_test
