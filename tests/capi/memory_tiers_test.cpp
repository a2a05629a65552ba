// The three tiers one by one: working, short-term and long-term memory.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "client.h"
#include "memory_client.h"

namespace varve_test {
namespace {

constexpr int64_t kStartMs = 1'768'000'000'000;  // 2026-01-09T23:06:40Z
constexpr int64_t kHourMs = 3'600'000;

int64_t tell_time(void* now_ms) { return *static_cast<int64_t*>(now_ms); }

// Working memory.

TEST(WorkingMemory, AddAndRetrieve) {
  const Store store;
  const Memory memory(store);
  fill(memory, "chat", 2);
  EXPECT_EQ(memory.contents("chat"), "m1 m2");
}

TEST(WorkingMemory, WindowLimitEnforcement) {
  const Store store;
  const Memory memory(store);
  fill(memory, "chat", 21);
  const json::array entries = memory.context("chat").object().at("entries").as_array();
  ASSERT_EQ(entries.size(), 20U);
  EXPECT_EQ(entries[0].at("content").as_string(), "m2");
}

TEST(WorkingMemory, ClearFunctionality) {
  const Store store;
  const Memory memory(store);
  fill(memory, "one", 2);
  fill(memory, "two", 2);
  memory.clear();
  EXPECT_EQ(memory.source("one"), "short_term");
  EXPECT_EQ(memory.source("two"), "short_term");
  EXPECT_EQ(memory.contents("one"), "m1 m2");  // the logs stay
}

TEST(WorkingMemory, RecentEntriesRetrieval) {
  const Store store;
  const Memory memory(store, R"({"window":1})");
  fill(memory, "chat", 3);
  EXPECT_EQ(memory.contents("chat"), "m3");
}

TEST(WorkingMemory, IsOfOneHandleOnly) {
  const Store store;
  const Memory one(store);
  const Memory two(store);
  fill(one, "chat", 2);
  EXPECT_EQ(one.source("chat"), "working");
  EXPECT_EQ(two.source("chat"), "short_term");
}

// As after a restart: a program that records a question and asks for the context has the
// conversation before it.
TEST(WorkingMemory, BeginsWithTheNewestOfTheLog) {
  const Store store;
  const Memory one(store);
  fill(one, "chat", 3);
  const Memory two(store, R"({"window":3})");
  ASSERT_TRUE(two.say("chat", "user", "m4").ok());
  EXPECT_EQ(two.source("chat"), "working");
  EXPECT_EQ(two.contents("chat"), "m2 m3 m4");
  ASSERT_TRUE(one.say("chat", "user", "of another").ok());
  ASSERT_TRUE(two.say("chat", "user", "m5").ok());
  EXPECT_EQ(two.contents("chat"), "m3 m4 m5");
  two.clear();
  ASSERT_TRUE(two.say("chat", "user", "m6").ok());
  EXPECT_EQ(two.contents("chat"), "m6");
}

// What is recorded is in it, also where the log has as many that are newer.
TEST(WorkingMemory, HasWhatIsRecordedWhateverItsTime) {
  const Store store;
  const Memory one(store);
  fill(one, "chat", 3);
  const Memory two(store, R"({"window":2})");
  ASSERT_TRUE(two.record("chat", R"({"role":"user","content":"old",)"
                                 R"("timestamp":"2026-01-01T00:00:00Z"})")
                  .ok());
  EXPECT_EQ(two.contents("chat"), "old m3");
}

TEST(WorkingMemory, ADeletedEntryIsGoneFromItAtOnce) {
  const Store store;
  const Memory memory(store);
  fill(memory, "chat", 2);
  const std::string id = memory.say("chat", "user", "my phone is 555-0142").text;
  ASSERT_TRUE(Session::open(store, "chat").remove(id).ok());  // by somebody else
  EXPECT_EQ(memory.contents("chat"), "m1 m2");
  EXPECT_EQ(memory.source("chat"), "working");
}

TEST(WorkingMemory, OfASessionThatWasDeletedIsEmpty) {
  const Store store;
  const Memory memory(store);
  fill(memory, "chat", 2);
  ASSERT_TRUE(store.delete_session("chat").ok());
  EXPECT_EQ(memory.contents("chat"), "");
  EXPECT_EQ(memory.load("chat").status, VARVE_NOT_FOUND);
  EXPECT_EQ(memory.save("chat").status, VARVE_NOT_FOUND);  // what was deleted stays so
  ASSERT_TRUE(memory.say("chat", "user", "new").ok());
  EXPECT_EQ(memory.contents("chat"), "new");
}

// Another process ended the conversation and began one of the same id.
TEST(WorkingMemory, OfASessionThatAnotherMadeAnewBeginsWithItsLog) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Memory memory(store);
  const Store others(directory.path());
  const Memory another(others);
  for (const bool is_looked_at_between : {false, true}) {
    fill(memory, "chat", 2);
    ASSERT_TRUE(others.delete_session("chat").ok());
    if (is_looked_at_between) {
      EXPECT_EQ(memory.contents("chat"), "");
    }
    ASSERT_TRUE(another.say("chat", "user", "new").ok());
    ASSERT_TRUE(memory.say("chat", "user", "mine").ok());
    EXPECT_EQ(memory.contents("chat"), "new mine");
  }
}

TEST(WorkingMemory, OfWhichNothingIsLeftBeginsWithTheLog) {
  const Store store;
  const Memory memory(store);
  const Memory another(store);
  fill(memory, "chat", 2);
  ASSERT_EQ(Session::open(store, "chat").remove_where(R"({"types":["message"]})").count, 2U);
  ASSERT_TRUE(another.say("chat", "user", "new").ok());
  EXPECT_EQ(memory.contents("chat"), "new");
  EXPECT_EQ(memory.source("chat"), "short_term");
  ASSERT_TRUE(memory.say("chat", "user", "mine").ok());
  EXPECT_EQ(memory.contents("chat"), "new mine");
  memory.clear();
  const std::string id = memory.say("chat", "user", "gone").text;
  ASSERT_TRUE(Session::open(store, "chat").remove(id).ok());
  EXPECT_EQ(memory.source("chat"), "short_term");
  ASSERT_TRUE(memory.say("chat", "user", "after").ok());
  EXPECT_EQ(memory.contents("chat"), "after") << "what was cleared does not come back";
}

// Short-term memory.

TEST(ShortTermMemory, PersistenceVerification) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Memory memory(store);
  const std::string id = memory.say("chat", "user", "Hello").text;
  const Store other(directory.path());  // as another process would
  EXPECT_TRUE(Session::open(other, "chat").get(id).ok());
}

TEST(ShortTermMemory, TtlExpiration) {
  const Store store;
  int64_t now_ms = kStartMs;
  ASSERT_TRUE(store.set_clock(tell_time, &now_ms).ok());
  const Memory memory(store);
  ASSERT_TRUE(memory.say("chat", "user", "first").ok());
  now_ms += 100 * kHourMs;
  ASSERT_TRUE(memory.say("chat", "user", "second").ok());
  now_ms += 68 * kHourMs - 1;
  EXPECT_EQ(memory.contents("chat"), "first second");
  now_ms += 1;  // 7 days after the first one
  EXPECT_EQ(memory.contents("chat"), "second");
  now_ms += 100 * kHourMs;  // 7 days after the second: the whole session
  EXPECT_EQ(memory.contents("chat"), "");
  EXPECT_EQ(memory.load("chat").status, VARVE_NOT_FOUND);
  EXPECT_EQ(store.sessions().object().at("sessions").as_array().size(), 0U);
  ASSERT_TRUE(memory.say("chat", "user", "third").ok());  // its id is free
  EXPECT_EQ(memory.contents("chat"), "third");
}

TEST(ShortTermMemory, ClosingAnExpiredSessionDoesNotBringItBack) {
  const Store store;
  int64_t now_ms = kStartMs;
  ASSERT_TRUE(store.set_clock(tell_time, &now_ms).ok());
  Session session(store, R"({"session_id":"s","ttl_hours":1})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  now_ms += 2 * kHourMs;
  session.close();  // it has something to save
  EXPECT_EQ(store.try_open_session("s").status, VARVE_NOT_FOUND);
}

TEST(ShortTermMemory, TtlOfOnesOwnIsKept) {
  const Store store;
  int64_t now_ms = kStartMs;
  ASSERT_TRUE(store.set_clock(tell_time, &now_ms).ok());
  const Memory memory(store, R"({"ttl_hours":0.5})");
  ASSERT_TRUE(memory.say("chat", "user", "half an hour").ok());
  ASSERT_TRUE(
      memory.record("chat", R"({"content":"a minute","expires_at":"2026-01-09T23:07:40Z"})").ok());
  EXPECT_EQ(memory.contents("chat"), "half an hour a minute");
  now_ms += 60'000;
  EXPECT_EQ(memory.contents("chat"), "half an hour");
  now_ms += kHourMs / 2;
  EXPECT_EQ(memory.contents("chat"), "");
}

TEST(ShortTermMemory, TtlOfOnesOwnMayBeInSeconds) {
  const Store store;
  int64_t now_ms = kStartMs;
  ASSERT_TRUE(store.set_clock(tell_time, &now_ms).ok());
  const Memory memory(store, R"({"ttl_hours":0.5})");
  ASSERT_TRUE(memory.say("chat", "user", "half an hour").ok());
  const Answer id = memory.record("chat", R"({"content":"a minute","ttl_seconds":60})");
  ASSERT_TRUE(id.ok()) << id.outcome;
  now_ms += 59'999;
  EXPECT_EQ(memory.contents("chat"), "half an hour a minute");
  now_ms += 1;
  EXPECT_EQ(memory.contents("chat"), "half an hour");
  EXPECT_EQ(memory.record("chat", R"({"content":"x","ttl_seconds":0})").outcome.status,
            VARVE_INVALID_ARGUMENT);
}

TEST(ShortTermMemory, AClockMayTellAnyTimeAtAll) {
  const Store store;
  int64_t now_ms = 0;
  ASSERT_TRUE(store.set_clock(tell_time, &now_ms).ok());
  const Memory memory(store, R"({"ttl_hours":1e9})");
  for (const int64_t now : {int64_t{0}, INT64_MIN, int64_t{-1}, INT64_MAX}) {
    now_ms = now;
    const Answer id = memory.record("chat" + std::to_string(now), R"({"content":"late"})");
    EXPECT_TRUE(id.ok()) << now << id.outcome;
  }
}

TEST(ShortTermMemory, TtlOfZeroIsForEver) {
  const Store store;
  int64_t now_ms = kStartMs;
  ASSERT_TRUE(store.set_clock(tell_time, &now_ms).ok());
  const Memory memory(store, R"({"ttl_hours":0})");
  fill(memory, "chat", 1);
  now_ms += 1'000'000 * kHourMs;
  EXPECT_EQ(memory.contents("chat"), "m1");
}

TEST(ShortTermMemory, SessionIsolation) {
  const Store store;
  const Memory memory(store);
  ASSERT_TRUE(memory.say("one", "user", "first").ok());
  ASSERT_TRUE(memory.say("two", "user", "second").ok());
  for (const bool is_working : {true, false}) {
    if (!is_working) memory.clear();
    EXPECT_EQ(memory.contents("one"), "first");
    EXPECT_EQ(memory.contents("two"), "second");
  }
}

TEST(ShortTermMemory, AppendFunctionality) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Memory memory(store);
  fill(memory, "chat", 1);
  const std::string log = directory.path() + "/sessions/chat/memory.jsonl";
  const std::string before = read_file(log);
  ASSERT_TRUE(memory.say("chat", "user", "m2").ok());
  EXPECT_EQ(read_file(log).substr(0, before.size()), before);  // nothing is written anew
  EXPECT_EQ(memory.contents("chat"), "m1 m2");
}

TEST(ShortTermMemory, ConcurrentAccessSafety) {
  constexpr int kThreads = 8;
  constexpr int kEach = 25;
  const Store store;
  const Memory memory(store, R"({"window":1000})");
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const std::string session = t % 2 == 0 ? "even" : "odd";
      for (int i = 0; i < kEach; ++i) {
        EXPECT_TRUE(memory.say(session, "user", std::to_string(t * kEach + i)).ok());
        EXPECT_TRUE(memory.context(session, 100).ok());
        if (i == kEach / 2) {
          EXPECT_TRUE(memory.load(session).ok());
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  std::set<std::string> seen;
  EXPECT_EQ(memory.source("even"), "working");
  EXPECT_EQ(memory.source("odd"), "working");
  memory.clear();
  for (const char* session : {"even", "odd"}) {
    std::string last;
    const json::object context = memory.context(session).object();
    for (const auto& entry : context.at("entries").as_array()) {
      EXPECT_TRUE(seen.insert(entry.at("content").as_string().c_str()).second);
      EXPECT_LE(last, entry.at("timestamp").as_string());
      last = entry.at("timestamp").as_string().c_str();
    }
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kThreads * kEach));
}

// Long-term memory.

TEST(LongTermMemory, StoreSearchDelete) {
  const Store store;
  const Memory memory(store, R"({"user_id":"ada"})");
  const std::string tea = memory.remember(R"({"content":"likes tea, not coffee"})").text;
  ASSERT_TRUE(memory.remember(R"({"content":"lives in Kiel","type":"finding"})").ok());
  Results found = memory.search(R"({"text":"tea"})");
  EXPECT_EQ(found.ids(), tea);
  EXPECT_EQ(found.list()[0].at("entry").at("type").as_string(), "observation");
  ASSERT_TRUE(memory.remove(tea, "asked to").ok());
  EXPECT_EQ(memory.search(R"({"text":"tea"})").count(), 0U);
  EXPECT_EQ(memory.remove(tea).status, VARVE_NOT_FOUND);
}

TEST(LongTermMemory, DoesNotExpire) {
  const Store store;
  int64_t now_ms = kStartMs;
  ASSERT_TRUE(store.set_clock(tell_time, &now_ms).ok());
  const Memory memory(store, R"({"user_id":"ada","ttl_hours":1})");
  ASSERT_TRUE(memory.remember(R"({"content":"likes tea"})").ok());
  now_ms += 100'000 * kHourMs;
  EXPECT_EQ(memory.search(R"({"text":"tea"})").count(), 1U);
}

TEST(LongTermMemory, SearchAndDeleteAreOverAllSessionsOfTheUser) {
  const Store store;
  const Memory memory(store, R"({"user_id":"ada"})");
  const std::string said = memory.say("chat", "user", "tea please").text;
  ASSERT_TRUE(memory.remember(R"({"content":"likes tea"})").ok());
  EXPECT_EQ(memory.search(R"({"text":"tea"})").count(), 2U);
  ASSERT_TRUE(memory.remove(said).ok());
  EXPECT_EQ(memory.search(R"({"text":"tea"})").count(), 1U);
  EXPECT_EQ(memory.contents("chat"), "");
}

TEST(LongTermMemory, DeletesAnIdInEverySessionThatHasIt) {
  const Store store;
  const Memory memory(store);
  for (const char* session : {"one", "two"}) {
    ASSERT_TRUE(memory.record(session, R"({"id":"same","content":"x"})").ok());
  }
  ASSERT_TRUE(memory.remove("same").ok());
  EXPECT_EQ(memory.search().count(), 0U);
}

TEST(LongTermMemory, UsersDoNotSeeEachOther) {
  const Store store;
  const Memory ada(store, R"({"user_id":"ada"})");
  const Memory bob(store, R"({"user_id":"bob"})");
  const std::string id = ada.say("chat", "user", "ada's tea").text;
  ASSERT_TRUE(ada.remember(R"({"id":"fact","content":"ada likes tea"})").ok());
  EXPECT_EQ(bob.search(R"({"text":"tea"})").count(), 0U);
  EXPECT_EQ(bob.search(R"({"session_ids":["chat"]})").count(), 0U);
  EXPECT_EQ(bob.contents("chat"), "");
  EXPECT_EQ(bob.load("chat").status, VARVE_NOT_FOUND);
  EXPECT_EQ(bob.save("chat").status, VARVE_NOT_FOUND);
  EXPECT_EQ(bob.say("chat", "user", "x").outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(bob.remove(id).status, VARVE_NOT_FOUND);
  EXPECT_EQ(bob.remove("fact").status, VARVE_NOT_FOUND);
  ASSERT_TRUE(bob.remember(R"({"id":"fact","content":"bob likes coffee"})").ok());
  EXPECT_EQ(ada.search(R"({"ids":["fact"]})").count(), 1U);
  const Outcome foreign = bob.search(R"({"user_id":"ada"})").outcome();
  EXPECT_EQ(foreign.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(foreign.detail("member"), "user_id");
  EXPECT_EQ(bob.search(R"({"user_id":"bob"})").count(), 1U);
  // Without a user, the store is one user's.
  EXPECT_EQ(Memory(store).search().count(), 3U);
}

TEST(LongTermMemory, ASearchForAnotherUserIsRefused) {
  const Store store;
  const Memory memory(store, R"({"user_id":"ada"})");
  ASSERT_TRUE(memory.remember(R"({"content":"likes tea"})").ok());
  EXPECT_EQ(memory.search(R"({"user_id":"ada"})").count(), 1U);
  const Outcome refused = memory.search(R"({"user_id":"bob"})").outcome();
  EXPECT_EQ(refused.status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(refused.detail("member"), "user_id");
}

TEST(LongTermMemory, AgentsOfOneUserShareIt) {
  const Store store;
  const Memory one(store, R"({"user_id":"ada / ü","agent_id":"one"})");
  const Memory two(store, R"({"user_id":"ada / ü","agent_id":"two"})");
  ASSERT_TRUE(one.remember(R"({"content":"likes tea"})").ok());
  ASSERT_TRUE(two.remember(R"({"content":"lives in Kiel"})").ok());
  EXPECT_EQ(two.search().count(), 2U);
  const json::object listed = store.sessions().object();
  ASSERT_EQ(listed.at("sessions").as_array().size(), 1U);
  EXPECT_EQ(listed.at("sessions").as_array()[0].at("agent_id").as_string(), "");
}

}  // namespace
}  // namespace varve_test
