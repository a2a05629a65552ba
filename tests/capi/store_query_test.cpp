// Queries across sessions.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

constexpr const char* kStoreNow = R"("now":"2026-01-10T12:00:00Z")";

// `count` sessions s0, s1, ... of three users and two agents, five entries each.
void fill(const Store& store, int count) {
  for (int s = 0; s < count; ++s) {
    const std::string id = "s" + std::to_string(s);
    const Session session(store, R"({"session_id":")" + id + R"(","user_id":"u)" +
                                     std::to_string(s % 3) + R"(","agent_id":"a)" +
                                     std::to_string(s % 2) + R"("})");
    std::string batch;
    for (int e = 0; e < 5; ++e) {
      const int hour = (s * 7 + e * 3) % 24;
      batch +=
          (e > 0 ? "," : "[") +
          (R"({"id":")" + id + "e" + std::to_string(e) + R"(","type":"finding","content":"tea )" +
           std::string(e % 2 == 0 ? "milk" : "sugar sugar") + R"( word)" + std::to_string(s) +
           R"(","tags":["t)" + std::to_string(e) + R"(.x"],"importance":0.)" +
           std::to_string(1 + (s + e) % 9) + R"(,"timestamp":"2026-01-0)" + std::to_string(1 + e) +
           "T" + (hour < 10 ? "0" : "") + std::to_string(hour) + R"(:00:00Z"})");
    }
    ASSERT_TRUE(session.add_batch(batch + "]").ok());
  }
}

std::set<std::string> sessions_of(const Results& results) {
  std::set<std::string> ids;
  for (const json::value& one : results.list()) {
    ids.emplace(one.at("session_id").as_string());
    EXPECT_TRUE(std::string(one.at("entry").at("id").as_string())
                    .starts_with(std::string(one.at("session_id").as_string()) + "e"));
  }
  return ids;
}

TEST(StoreQuery, ChoosesSessionsByUserAgentAndId) {
  const Store store;
  fill(store, 9);
  EXPECT_EQ(store.query(R"({"limit":1000})").count(), 45u);
  EXPECT_EQ(sessions_of(store.query(R"({"user_id":"u1"})")),
            (std::set<std::string>{"s1", "s4", "s7"}));
  EXPECT_EQ(sessions_of(store.query(R"({"user_id":"u1","agent_id":"a0"})")),
            (std::set<std::string>{"s4"}));
  EXPECT_EQ(sessions_of(store.query(R"({"session_ids":["s2","s5","s2","none"]})")),
            (std::set<std::string>{"s2", "s5"}));
  EXPECT_EQ(sessions_of(store.query(R"({"session_ids":["s1","s2"],"user_id":"u1"})")),
            (std::set<std::string>{"s1"}));
  EXPECT_EQ(store.query(R"({"user_id":"nobody"})").text(), R"({"results":[],"next":null})");
  EXPECT_EQ(store.query(R"({"session_ids":["none"]})").count(), 0u);
}

TEST(StoreQuery, OfAnEmptyStoreIsEmpty) {
  const Store store;
  for (const auto query : {"", "{}", R"({"text":"tea"})"}) {
    EXPECT_EQ(store.query(query).text(), R"({"results":[],"next":null})");
  }
}

TEST(StoreQuery, ConditionsAndOrderHoldAcrossSessions) {
  const Store store;
  fill(store, 9);
  const Results tagged = store.query(R"({"tags":{"include":["t2"]},"sort_by":"time"})");
  EXPECT_EQ(tagged.count(), 9u);
  std::string last = "9";
  for (const json::value& one : tagged.list()) {
    const std::string time(one.at("entry").at("timestamp").as_string());
    EXPECT_LE(time, last);
    last = time;
  }
  EXPECT_EQ(store.query(R"({"text":"word4","sort_by":"match"})").count(), 5u);
  EXPECT_EQ(store.query(R"({"text":"+sugar +word4","sort_by":"match"})").count(), 2u);
  EXPECT_EQ(store.query(R"({"text":"\"sugar word4\"","sort_by":"match"})").count(), 2u);
  EXPECT_EQ(store.query(R"({"text":"word*","sort_by":"match","limit":1000})").count(), 45u);
}

TEST(StoreQuery, TheReferenceIsOneSessionWithAllEntries) {
  const Store store;
  fill(store, 6);
  const Store joined;
  const Session all(joined, R"({"session_id":"all"})");
  for (int s = 0; s < 6; ++s) {
    const Session session = Session::open(store, "s" + std::to_string(s));
    for (const json::value& one : session.query(R"({"sort_by":"time","order":"asc"})").list()) {
      json::object copy = one.at("entry").as_object();
      copy.erase("session_id");
      ASSERT_TRUE(all.add(json::serialize(copy)).ok());
    }
  }
  for (const std::string members :
       {R"("text":"sugar","sort_by":"match")", R"("text":"tea milk","sort_by":"match")",
        R"("text":"word1 word2 sugar","sort_by":"relevance")", R"("sort_by":"relevance")",
        R"("text":"+tea word3","sort_by":"relevance","order":"asc")"}) {
    const std::string query = "{" + members + R"(,"limit":1000,)" + kStoreNow + "}";
    const auto of_store = store.query(query).object();
    const auto of_one = all.query(query).object();
    const auto& many = of_store.at("results").as_array();
    const auto& one = of_one.at("results").as_array();
    ASSERT_EQ(many.size(), one.size()) << members;
    for (size_t i = 0; i < one.size(); ++i) {
      EXPECT_NEAR(many[i].at("relevance").to_number<double>(),
                  one[i].at("relevance").to_number<double>(), 1e-12)
          << members << " " << i;
      EXPECT_NEAR(many[i].at("match_quality").to_number<double>(),
                  one[i].at("match_quality").to_number<double>(), 1e-12)
          << members << " " << i;
    }
  }
}

std::string paged(const Store& store, const std::string& members, int limit) {
  std::string ids;
  std::string after = "null";
  for (int page = 0; page < 200; ++page) {
    const Results results = store.query("{" + members + R"(,"limit":)" + std::to_string(limit) +
                                        R"(,"after":)" + after + "}");
    EXPECT_TRUE(results.ok()) << results.outcome();
    if (!results.ok()) break;
    ids += (ids.empty() ? "" : " ") + results.ids();
    if (results.next().empty()) return ids;
    after = "\"" + results.next() + "\"";
  }
  ADD_FAILURE() << "no last page";
  return ids;
}

TEST(StoreQuery, PagesAreTogetherTheWholeAnswer) {
  const Store store;
  fill(store, 12);
  for (const std::string members :
       {R"("sort_by":"time")", R"("sort_by":"time","order":"asc")", R"("sort_by":"importance")",
        R"("sort_by":"importance","order":"asc")", R"("sort_by":"relevance")", R"("text":"sugar")",
        R"("text":"sugar","sort_by":"match")", R"("text":"tea","sort_by":"match","order":"asc")",
        R"("text":"tea word3","sort_by":"relevance")"}) {
    const std::string whole = store.query("{" + members + R"(,"limit":1000})").ids();
    for (const int limit : {1, 7, 50}) EXPECT_EQ(paged(store, members, limit), whole) << members;
  }
}

TEST(StoreQuery, EqualPlacesAcrossSessionsAreOrderedAndPaged) {
  const Store store;
  for (const std::string id : {"c", "a", "b"}) {
    const Session session(store, R"({"session_id":")" + id + R"("})");
    for (int e = 0; e < 3; ++e) {
      ASSERT_TRUE(
          session
              .add(R"({"id":")" + id + std::to_string(e) +
                   R"(","type":"finding","content":"tea","timestamp":"2026-01-01T00:00:00Z"})")
              .ok());
    }
  }
  for (const std::string members : {R"("sort_by":"time")", R"("text":"tea","sort_by":"match")"}) {
    EXPECT_EQ(store.query("{" + members + "}").ids(), "a2 a1 a0 b2 b1 b0 c2 c1 c0");
    EXPECT_EQ(paged(store, members, 2), "a2 a1 a0 b2 b1 b0 c2 c1 c0");
    EXPECT_EQ(paged(store, members + R"(,"order":"asc")", 2), "c0 c1 c2 b0 b1 b2 a0 a1 a2");
  }
}

TEST(StoreQuery, AnyNumberOfThreadsGivesTheSameAnswer) {
  const TempDirectory directory;
  { fill(Store(directory.path()), 20); }
  const std::string queries[] = {
      R"({"text":"sugar word7","limit":30,"now":"2026-01-10T12:00:00Z"})",
      R"({"sort_by":"importance","limit":30,"now":"2026-01-10T12:00:00Z"})",
      R"({"text":"\"milk word3\"","now":"2026-01-10T12:00:00Z"})"};
  const Store one(directory.path(), R"({"threads":1})");
  for (const int threads : {4, 64}) {
    const Store more(directory.path(), R"({"threads":)" + std::to_string(threads) + "}");
    for (const auto& query : queries) EXPECT_EQ(more.query(query).text(), one.query(query).text());
  }
}

struct LogLines {
  std::mutex mutex;
  std::vector<std::string> lines;
  static void write(void* self, int32_t, const char* json, size_t len) {
    auto& log = *static_cast<LogLines*>(self);
    const std::lock_guard guard(log.mutex);
    log.lines.emplace_back(json, len);
  }
  // The member is asked, not the line: the message has a temporary path, and that may have any
  // name.
  bool tell(std::string_view session_id) {
    const std::lock_guard guard(mutex);
    for (const auto& text : lines) {
      const json::value line = json::parse(text);
      const std::string_view message = line.at("message").as_string();
      const std::string_view session = line.at("session_id").as_string();
      if (message.find("left out") != std::string_view::npos && session == session_id) return true;
    }
    return false;
  }
};

TEST(StoreQuery, ASessionThatCannotBeReadIsLeftOutAndLogged) {
  const TempDirectory directory;
  { fill(Store(directory.path()), 4); }
  const std::string place = directory.path() + "/sessions/s2";
  std::filesystem::remove(place + "/index.bin");
  std::filesystem::remove(place + "/memory.jsonl");
  std::filesystem::create_directory(place + "/memory.jsonl");
  for (const int threads : {1, 4}) {
    LogLines log;
    const Store store(directory.path(), R"({"threads":)" + std::to_string(threads) + "}");
    ASSERT_TRUE(store.set_log(VARVE_LOG_WARN, &LogLines::write, &log).ok());
    for (const auto query : {R"({"limit":100})", R"({"text":"tea","limit":100})"}) {
      const Results results = store.query(query);
      ASSERT_TRUE(results.ok()) << results.outcome();
      EXPECT_EQ(sessions_of(results), (std::set<std::string>{"s0", "s1", "s3"}));
    }
    EXPECT_TRUE(log.tell("s2"));
    EXPECT_FALSE(log.tell("s1"));
    ASSERT_TRUE(store.set_log(VARVE_LOG_OFF, nullptr, nullptr).ok());
  }
}

// Somebody's hand, or a flipped bit, in a list that may be deleted.
TEST(StoreQuery, ARowOfTheListWithAnIdThatNoSessionHasIsPassedOver) {
  const TempDirectory directory;
  const Store store(directory.path());
  fill(store, 2);
  for (const std::string id : {"s 1", "../s1", "-s", ""}) {
    SCOPED_TRACE(id);
    std::ofstream(directory.path() + "/indices/sessions.jsonl", std::ios::app)
        << R"({"session_id":")" + id + "\",\"user_id\":\"u0\"}\n";
    const Store other(directory.path());
    EXPECT_EQ(other.query().count(), 10U) << other.query().outcome();
    EXPECT_EQ(other.query(R"({"user_id":"u0"})").count(), 5U);
    EXPECT_EQ(other.sessions().object().at("sessions").as_array().size(), 2U);
    const Answer usage =
        answer_of([&](auto... out) { return varve_store_usage(other.get(), nullptr, 0, out...); });
    EXPECT_TRUE(usage.ok()) << usage.outcome;
  }
}

TEST(StoreQuery, ACatalogThatNamesWhatIsNoSessionIsMadeAnew) {
  const TempDirectory directory;
  const std::string tag = R"({"tags":{"include":["t1"]},"limit":1000})";
  const std::string catalog = directory.path() + "/indices/catalog/memory.jsonl";
  { fill(Store(directory.path()), 40); }
  for (const std::string id : {"../s1", "s 1", ""}) {
    SCOPED_TRACE(id);
    EXPECT_EQ(Store(directory.path()).query(tag).count(), 40U);
    ASSERT_TRUE(std::filesystem::exists(catalog));
    std::ofstream(catalog, std::ios::app)
        << R"({"content":{"session":")" + id + R"("},"id":"by-hand","type":"changed",)"
        << R"("timestamp":"2026-01-10T12:00:00Z"})"
        << "\n";
    const Store store(directory.path());
    EXPECT_EQ(store.query(tag).count(), 40U) << store.query(tag).outcome();
  }
}

TEST(StoreQuery, DeletedSessionsAreNotFound) {
  const Store store;
  fill(store, 3);
  ASSERT_TRUE(store.delete_session("s1").ok());
  EXPECT_EQ(sessions_of(store.query()), (std::set<std::string>{"s0", "s2"}));
  EXPECT_EQ(store.query(R"({"session_ids":["s1"]})").count(), 0u);
}

TEST(StoreQuery, SessionsDeletedMeanwhileAreLeftOut) {
  const Store store("memory:", R"({"threads":4})");
  fill(store, 30);
  std::thread remover([&] {
    for (int s = 1; s < 30; ++s) EXPECT_TRUE(store.delete_session("s" + std::to_string(s)).ok());
  });
  for (int i = 0; i < 30; ++i) {
    const Results results = store.query(R"({"text":"tea","limit":1000})");
    EXPECT_TRUE(results.ok()) << results.outcome();
    EXPECT_TRUE(sessions_of(results).contains("s0"));
  }
  remover.join();
  EXPECT_EQ(sessions_of(store.query(R"({"text":"tea"})")), std::set<std::string>{"s0"});
}

// More than stay open between the steps of one query.
TEST(StoreQuery, FindsInHundredsOfSessionsWhatAFewHold) {
  const Store store;
  fill(store, 270);
  EXPECT_EQ(sessions_of(store.query(R"({"tags":{"include":["t3.x"]},"limit":1000})")).size(), 270u);
  EXPECT_EQ(store.query(R"({"text":"word269"})").count(), 5u);
  EXPECT_EQ(store.query(R"({"text":"word0 word269"})").count(), 10u);
  EXPECT_EQ(sessions_of(store.query(R"({"tags":{"include":["t4.x"]},"limit":269})")).size(), 269u);
}

TEST(StoreQuery, AWrongQueryIsRefused) {
  const Store store;
  fill(store, 3);
  EXPECT_EQ(store.query(R"({"user_id":1})").outcome().detail("member"), "user_id");
  EXPECT_EQ(store.query(R"({"session_ids":[]})").outcome().detail("member"), "session_ids");
  const std::string next = store.query(R"({"limit":1})").next();
  EXPECT_EQ(store.query(R"({"user_id":"u1","after":")" + next + R"("})").outcome().detail("member"),
            "after");
}

// It would be answered with a page that is empty, as if there were no more.
TEST(StoreQuery, ACursorIsOfAStoreOrOfASession) {
  const Store store;
  fill(store, 3);
  const Session session = Session::open(store, "s0");
  const auto after = [](const std::string& cursor) {
    return R"({"sort_by":"time","limit":1,"after":")" + cursor + R"("})";
  };
  const std::string of_store = store.query(R"({"sort_by":"time","limit":1})").next();
  const std::string of_session = session.query(R"({"sort_by":"time","limit":1})").next();
  EXPECT_TRUE(store.query(after(of_store)).ok());
  EXPECT_TRUE(session.query(after(of_session)).ok());
  for (const Outcome& refused :
       {store.query(after(of_session)).outcome(), session.query(after(of_store)).outcome()}) {
    EXPECT_EQ(refused.status, VARVE_INVALID_ARGUMENT);
    EXPECT_EQ(refused.detail("member"), "after");
  }
}

TEST(StoreQuery, ExplainTellsOfTheWholeAndOfEachResult) {
  const Store store;
  fill(store, 3);
  const json::object all = store.query(R"({"text":"sugar","explain":true})").object();
  EXPECT_EQ(all.at("explain").at("sessions"), 3);
  EXPECT_EQ(all.at("results").as_array().size(), 6U);
  for (const json::value& one : all.at("results").as_array()) {
    double sum = 0;
    for (const auto& part : one.at("explain").at("best").as_object()) {
      sum += part.value().to_number<double>();
    }
    EXPECT_NEAR(sum, one.at("explain").at("key").to_number<double>(), 1e-12);
  }
}

// Of what was there at the first page, each comes once and in order; what is added may come too.
void expect_stable_pages(const std::string& members) {
  const Store store;
  fill(store, 6);
  const std::string whole = store.query("{" + members + R"(,"limit":1000,"user_id":"u0"})").ids();
  std::string ids;
  std::string after = "null";
  for (int page = 0; page < 100 && !after.empty(); ++page) {
    const Results results =
        store.query("{" + members + R"(,"limit":2,"user_id":"u0","after":)" + after + "}");
    ASSERT_TRUE(results.ok()) << results.outcome();
    for (const json::value& one : results.list()) {
      const std::string id(one.at("entry").at("id").as_string());
      if (id.starts_with("s")) ids += (ids.empty() ? "" : " ") + id;
    }
    after = results.next().empty() ? "" : "\"" + results.next() + "\"";
    ASSERT_TRUE(Session::open(store, "s3").add(entry("", "sugar tea")).ok());
  }
  EXPECT_EQ(ids, whole) << members;
}

TEST(StoreQuery, PagesNeitherSkipNorRepeatWhileEntriesAreAdded) {
  expect_stable_pages(R"("sort_by":"time")");
  expect_stable_pages(R"("sort_by":"time","order":"asc")");
  expect_stable_pages(R"("sort_by":"importance")");
  expect_stable_pages(R"("sort_by":"relevance")");
  expect_stable_pages(R"("text":"sugar","sort_by":"match")");
  expect_stable_pages(R"("text":"sugar")");
}

}  // namespace
}  // namespace varve_test
