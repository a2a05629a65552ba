// A memory in three tiers: the examples of its document, its manager, and bad days.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "client.h"
#include "memory_client.h"

namespace varve_test {
namespace {

// The examples of the document.

TEST(MemoryExamples, BasicUsage) {
  const Store store;
  const Memory memory(store);
  const std::string session_id = "user-session-123";
  ASSERT_TRUE(memory.say(session_id, "user", "Hello, how are you?").ok());
  ASSERT_TRUE(memory.say(session_id, "assistant", "I'm doing well, thank you!").ok());
  std::string said;
  const json::object context = memory.context(session_id, 0).object();
  for (const auto& entry : context.at("entries").as_array()) {
    said += std::string(entry.at("role").as_string()) + ": " +
            std::string(entry.at("content").as_string()) + "\n";
  }
  EXPECT_EQ(said, "user: Hello, how are you?\nassistant: I'm doing well, thank you!\n");
}

TEST(MemoryExamples, WithTokenLimit) {
  const Store store;
  const Memory memory(store);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(memory.say("chat", "user", std::string(396, 'x')).ok());
  }
  const json::object context = memory.context("chat", 500).object();
  EXPECT_LE(context.at("token_count").to_number<int64_t>(), 500);
  EXPECT_GT(context.at("entries").as_array().size(), 2U);
  EXPECT_LT(context.at("entries").as_array().size(), 20U);
}

TEST(MemoryExamples, SessionManagement) {
  const TempDirectory directory;
  {
    const Store store(directory.path());
    const Memory memory(store);
    fill(memory, "chat", 3);
    ASSERT_TRUE(memory.save("chat").ok());  // before shutdown
  }
  const Store store(directory.path());
  const Memory memory(store);
  ASSERT_TRUE(memory.load("chat").ok());  // on startup
  EXPECT_EQ(memory.source("chat"), "working");
  EXPECT_EQ(memory.contents("chat"), "m1 m2 m3");
  memory.clear();  // a fresh conversation
  EXPECT_EQ(memory.source("chat"), "short_term");
}

// User input, load session (if exists), record, process, record response, history.
TEST(MemoryExamples, IntegrationWithAgent) {
  const Store store;
  const Memory memory(store, R"({"user_id":"ada"})");
  for (int turn = 1; turn <= 2; ++turn) {
    const Outcome loaded = memory.load("chat");
    EXPECT_EQ(loaded.status, turn == 1 ? VARVE_NOT_FOUND : VARVE_OK);
    ASSERT_TRUE(memory.say("chat", "user", "What's the status of pod nginx?").ok());
    ASSERT_TRUE(memory.say("chat", "assistant", "Running.").ok());
  }
  const json::object history = memory.context("chat", 1000).object();
  EXPECT_EQ(history.at("entries").as_array().size(), 4U);
}

TEST(MemoryExamples, CustomConfiguration) {
  const Store store;
  const Memory memory(store, R"({"window":50,"ttl_hours":720})");
  fill(memory, "chat", 60);
  EXPECT_EQ(memory.context("chat").object().at("entries").as_array().size(), 50U);
}

// Manager.

TEST(MemoryManager, RecordAndRecall) {
  const Store store;
  const Memory memory(store, R"({"user_id":"ada","agent_id":"chat"})");
  const std::string id = memory.say("chat", "user", "Hello").text;
  const json::object context = memory.context("chat").object();
  EXPECT_EQ(context.at("source").as_string(), "working");
  const json::array& entries = context.at("entries").as_array();
  ASSERT_EQ(entries.size(), 1U);
  const json::object& entry = entries[0].as_object();
  EXPECT_EQ(entry.at("id").as_string(), id);  // filled in, like the timestamp
  EXPECT_EQ(entry.at("session_id").as_string(), "chat");
  EXPECT_EQ(entry.at("type").as_string(), "message");
  EXPECT_EQ(entry.at("role").as_string(), "user");
  EXPECT_EQ(entry.at("content").as_string(), "Hello");
  EXPECT_EQ(entry.at("timestamp").as_string().size(), 24U);
  EXPECT_EQ(entry.if_contains("checksum"), nullptr);
  EXPECT_EQ(entry.if_contains("seq"), nullptr);
}

TEST(MemoryManager, RecordWritesWorkingAndShortTermAtOnce) {
  const Store store;
  const Memory memory(store, R"({"user_id":"ada","agent_id":"helper"})");
  const std::string id = memory.say("chat", "user", "Hello").text;
  const Session session = Session::open(store, "chat");
  const json::object entry = session.get(id).object();
  EXPECT_EQ(entry.at("content").at("role").as_string(), "user");
  EXPECT_EQ(entry.at("content").at("message").as_string(), "Hello");
  const json::object metadata = session.metadata().object();
  EXPECT_EQ(metadata.at("user_id").as_string(), "ada");
  EXPECT_EQ(metadata.at("agent_id").as_string(), "helper");
  EXPECT_EQ(metadata.at("ttl_hours").to_number<double>(), 168);
  EXPECT_EQ(session.query(R"({"content":{"role":"user"}})").ids(), id);
}

TEST(MemoryManager, MembersAreKept) {
  const Store store;
  const Memory memory(store);
  ASSERT_TRUE(memory
                  .record("chat", R"({"id":"m1","role":"tool","type":"tool_result","content":[1],)"
                                  R"("timestamp":"2026-01-01T01:00:00+01:00","tags":["a"],)"
                                  R"("metadata":{"n":9007199254740993}})")
                  .ok());
  const std::string context = memory.context("chat").text;
  EXPECT_EQ(context.substr(0, 39), R"({"entries":[{"content":[1],"expires_at")") << context;
  EXPECT_NE(context.find(R"(,"id":"m1","importance":0.5,"metadata":{"n":9007199254740993},)"
                         R"("role":"tool","session_id":"chat","tags":["a"],)"
                         R"("timestamp":"2026-01-01T00:00:00.000Z","type":"tool_result"}],)"),
            std::string::npos)
      << context;
}

TEST(MemoryManager, EntriesOfTheLogComeAsMessages) {
  const Store store;
  const Memory memory(store);
  const Session session(store, R"({"session_id":"chat"})");
  ASSERT_TRUE(session
                  .add(R"({"type":"message","content":{"role":"tool","message":"09:15",)"
                       R"("tool_call_id":"t1","type":"x"}})")
                  .ok());
  ASSERT_TRUE(session.add(R"({"type":"finding","content":{"a":1}})").ok());
  const json::array entries = memory.context("chat").object().at("entries").as_array();
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].at("role").as_string(), "tool");
  EXPECT_EQ(entries[0].at("content").as_string(), "09:15");
  EXPECT_EQ(entries[0].at("tool_call_id").as_string(), "t1");
  EXPECT_EQ(entries[0].at("type").as_string(), "message");  // the entry's own
  EXPECT_EQ(json::serialize(entries[1].at("content")), R"({"a":1})");
  EXPECT_EQ(entries[1].as_object().if_contains("role"), nullptr);
}

TEST(MemoryManager, ContextWithTokenLimits) {
  const Store store;
  const Memory memory(store);
  fill(memory, "chat", 5);
  const int64_t all = memory.context("chat").object().at("token_count").to_number<int64_t>();
  const uint64_t each = static_cast<uint64_t>(all) / 5;
  EXPECT_EQ(all, static_cast<int64_t>(each * 5));
  EXPECT_GT(each, 0U);
  EXPECT_EQ(memory.contents("chat", each * 2), "m4 m5");  // the newest that fit
  EXPECT_EQ(memory.contents("chat", each * 2 + each - 1), "m4 m5");
  EXPECT_EQ(memory.contents("chat", each * 5), "m1 m2 m3 m4 m5");
  EXPECT_EQ(memory.contents("chat", UINT64_MAX), "m1 m2 m3 m4 m5");
  memory.clear();  // the same from the log
  EXPECT_EQ(memory.contents("chat", each * 2), "m4 m5");
}

TEST(MemoryManager, TokenLimitSmallerThanTheNewestGivesNothing) {
  const Store store;
  const Memory memory(store);
  ASSERT_TRUE(memory.say("chat", "user", "short").ok());
  ASSERT_TRUE(memory.say("chat", "user", std::string(1000, 'x')).ok());
  const json::object context = memory.context("chat", 20).object();
  EXPECT_TRUE(context.at("entries").as_array().empty());  // no gap: not the short one before it
  EXPECT_EQ(context.at("token_count").to_number<int64_t>(), 0);
  EXPECT_EQ(context.at("source").as_string(), "working");
}

TEST(MemoryManager, TheArgumentsOfCallsHaveTokensToo) {
  const Store store;
  const Memory memory(store);
  const std::string call = R"({"role":"assistant","content":null,"tool_calls":[{"id":"c1",)"
                           R"("function":{"name":"write","arguments":")" +
                           std::string(1000, 'x') + R"("}}]})";
  ASSERT_TRUE(memory.record("chat", call).ok());
  ASSERT_TRUE(memory.say("chat", "user", "short").ok());
  EXPECT_EQ(memory.contents("chat", 100), "short");
  EXPECT_GT(memory.context("chat").object().at("token_count").to_number<int64_t>(), 100);
}

TEST(MemoryManager, WhatAMessageCallsIsFoundAndInContexts) {
  const Store store;
  const Memory memory(store);
  ASSERT_TRUE(memory
                  .record("chat", R"({"role":"assistant","content":null,"tool_calls":[)"
                                  R"({"id":"c1","function":{"name":"weather",)"
                                  R"("arguments":"{\"city\":\"Lund\"}"}}]})")
                  .ok());
  ASSERT_TRUE(
      memory.record("chat", R"({"role":"tool","tool_call_id":"c1","content":"rain"})").ok());
  ASSERT_TRUE(memory.record("chat", R"({"role":"assistant","content":null,"refusal":"No."})").ok());
  EXPECT_EQ(memory.search(R"({"text":"lund"})").count(), 1U);
  const Session session = Session::open(store, "chat");
  const std::string text(session.context().object().at("text").as_string());
  EXPECT_NE(
      text.find("tool_call: weather {\"city\":\"Lund\"}\ntool_result: rain\nassistant: No.\n"),
      std::string::npos)
      << text;
}

// No interface takes a result whose call is not among the messages before it.
TEST(MemoryManager, AListThatWasCutDoesNotBeginWithResultsOfTools) {
  const Store store;
  const Memory memory(store, R"({"window":4})");
  ASSERT_TRUE(memory.say("chat", "tool", "odd").ok());
  EXPECT_EQ(memory.contents("chat"), "odd");  // the list is whole
  const std::string call = R"({"role":"assistant","content":"call","tool_calls":[{"id":"c1"}]})";
  ASSERT_TRUE(memory.record("chat", call).ok());
  ASSERT_TRUE(memory.say("chat", "tool", "one").ok());
  ASSERT_TRUE(memory.say("chat", "tool", "two").ok());
  ASSERT_TRUE(memory.say("chat", "user", "thanks").ok());
  EXPECT_EQ(memory.contents("chat"), "call one two thanks");
  ASSERT_TRUE(memory.say("chat", "user", "bye").ok());
  EXPECT_EQ(memory.contents("chat"), "thanks bye");  // the window begins at "one"
  memory.clear();
  EXPECT_EQ(memory.contents("chat"), "odd call one two thanks bye");
  EXPECT_EQ(memory.contents("chat", 16), "thanks bye");  // "call" would be one too many
  EXPECT_EQ(memory.context("chat", 16).object().at("token_count").to_number<int64_t>(), 8);
  // Results among parts, as Anthropic has them; what the user says beside one stays.
  const std::string part = R"({"role":"user","content":[{"type":"tool_result","content":"x"})";
  ASSERT_TRUE(memory.record("result", part + "]}").ok());
  ASSERT_TRUE(memory.record("both", part + R"(,{"type":"text","text":"and?"}]})").ok());
  const Session imported(store, R"({"session_id":"import"})");
  ASSERT_TRUE(imported.import_lines("[" + part + "]}]").ok());
  const Session also(store, R"({"session_id":"import_both"})");
  ASSERT_TRUE(also.import_lines("[" + part + R"(,{"type":"text","text":"and?"}]}])").ok());
  for (const char* session : {"result", "both", "import", "import_both"}) fill(memory, session, 3);
  for (const char* session : {"import", "import_both"}) ASSERT_TRUE(memory.load(session).ok());
  EXPECT_EQ(memory.contents("import"), "m1 m2 m3");
  EXPECT_EQ(memory.contents("import_both"), "x\n\nand? m1 m2 m3");
  EXPECT_EQ(memory.context("result").object().at("entries").as_array().size(), 3U);
  EXPECT_EQ(memory.context("both").object().at("entries").as_array().size(), 4U);
  // And those that are no messages, as OpenAI's responses have them.
  const Memory small(store, R"({"window":2})");
  ASSERT_TRUE(small.record("item", R"({"type":"function_call","call_id":"c1","name":"f"})").ok());
  ASSERT_TRUE(
      small.record("item", R"({"type":"function_call_output","call_id":"c1","output":"x"})").ok());
  EXPECT_EQ(small.context("item").object().at("entries").as_array().size(), 2U);
  ASSERT_TRUE(small.say("item", "user", "bye").ok());
  EXPECT_EQ(small.context("item").object().at("entries").as_array().size(), 1U);
}

// Each expires so long after it was recorded, the call before its results.
TEST(MemoryManager, AListWhoseCallIsGoneDoesNotBeginWithItsResults) {
  const Store store;
  const Memory memory(store);
  ASSERT_TRUE(memory
                  .record("chat", R"({"id":"call","role":"assistant","content":"call",)"
                                  R"("tool_calls":[{"id":"c1"}]})")
                  .ok());
  for (const char* result : {"one", "two"}) ASSERT_TRUE(memory.say("chat", "tool", result).ok());
  ASSERT_TRUE(memory.say("chat", "user", "thanks").ok());
  EXPECT_EQ(memory.contents("chat"), "call one two thanks");
  ASSERT_EQ(memory.remove("call").status, VARVE_OK);
  EXPECT_EQ(memory.contents("chat"), "thanks");
  memory.clear();
  EXPECT_EQ(memory.contents("chat"), "thanks");  // of the log, too
  EXPECT_EQ(memory.source("chat"), "short_term");
  // Nor where the call was recorded by a process that ended before the tool did.
  const Memory next(store);
  next.clear();
  ASSERT_TRUE(next.say("chat", "tool", "late").ok());
  EXPECT_EQ(next.contents("chat"), "");
  ASSERT_TRUE(next.say("chat", "user", "and?").ok());
  EXPECT_EQ(next.contents("chat"), "and?");
}

// Whole is a list that begins with the first entry of its session: nothing called before that.
TEST(MemoryManager, AListThatIsWholeMayBeginWithAResultOfATool) {
  const Store store;
  const Memory memory(store, R"({"window":2})");
  ASSERT_TRUE(memory.say("loaded", "tool", "odd").ok());
  ASSERT_TRUE(memory.load("loaded").ok());
  EXPECT_EQ(memory.contents("loaded"), "odd");
  // Of what filled the window nothing is left, so the log is read from its beginning.
  ASSERT_TRUE(memory.say("chat", "tool", "odd").ok());
  ASSERT_TRUE(memory.record("chat", R"({"id":"one","role":"user","content":"1"})").ok());
  ASSERT_TRUE(memory.record("chat", R"({"id":"two","role":"user","content":"2"})").ok());
  EXPECT_EQ(memory.contents("chat"), "1 2");
  for (const char* id : {"one", "two"}) ASSERT_EQ(memory.remove(id).status, VARVE_OK);
  EXPECT_EQ(memory.source("chat"), "short_term");
  EXPECT_EQ(memory.contents("chat"), "odd");
  // What nobody said is the result of no call.
  ASSERT_TRUE(memory.record("fact", R"({"type":"tool_result","content":"found"})").ok());
  ASSERT_TRUE(memory.say("fact", "user", "thanks").ok());
  EXPECT_EQ(memory.contents("fact"), "found thanks");
}

// Of more sessions than have a working memory, the one used longest ago has what its log has.
TEST(MemoryManager, ASessionThatLostItsWorkingMemoryGoesOnFromItsLog) {
  constexpr int kSessionsMax = 1024;
  const Store store;
  const Memory memory(store, R"({"window":3})");
  fill(memory, "first", 3);
  for (int i = 0; i < kSessionsMax; ++i) {
    ASSERT_TRUE(memory.say("other" + std::to_string(i), "user", "hi").ok());
  }
  EXPECT_EQ(memory.source("first"), "short_term");
  ASSERT_TRUE(memory.say("first", "user", "m4").ok());
  EXPECT_EQ(memory.contents("first"), "m2 m3 m4");
  EXPECT_EQ(memory.source("first"), "working");
  ASSERT_TRUE(memory.say("new", "user", "hi").ok());
  EXPECT_EQ(memory.contents("new"), "hi");
  memory.clear();  // what was in front of the agent is not any more, whoever lost it
  ASSERT_TRUE(memory.say("first", "user", "m5").ok());
  EXPECT_EQ(memory.contents("first"), "m5");
}

TEST(MemoryManager, ContextFallsBackToShortTerm) {
  const Store store;
  const Memory memory(store, R"({"window":3})");
  fill(memory, "chat", 200);
  EXPECT_EQ(memory.contents("chat"), "m198 m199 m200");
  memory.clear();
  EXPECT_EQ(memory.source("chat"), "short_term");
  const json::object context = memory.context("chat").object();
  ASSERT_EQ(context.at("entries").as_array().size(), 200U);  // no limit: all of it
  EXPECT_EQ(context.at("entries").as_array()[0].at("content").as_string(), "m1");
  ASSERT_TRUE(memory.say("chat", "user", "next").ok());
  EXPECT_EQ(memory.contents("chat"), "next");  // working memory builds up anew
}

TEST(MemoryManager, ContextOfNoSessionIsEmpty) {
  const Store store;
  const Memory memory(store);
  EXPECT_EQ(memory.context("none").text, R"({"entries":[],"source":"short_term","token_count":0})");
}

TEST(MemoryManager, SessionLoadAndSave) {
  const Store store;
  const Memory memory(store, R"({"window":3})");
  fill(memory, "chat", 5);
  ASSERT_TRUE(memory.save("chat").ok());
  memory.clear();
  ASSERT_TRUE(memory.load("chat").ok());
  EXPECT_EQ(memory.source("chat"), "working");
  EXPECT_EQ(memory.contents("chat"), "m3 m4 m5");
  ASSERT_TRUE(memory.load("chat").ok());  // takes the place of what is there
  EXPECT_EQ(memory.contents("chat"), "m3 m4 m5");
  ASSERT_TRUE(memory.say("chat", "user", "m6").ok());
  EXPECT_EQ(memory.contents("chat"), "m4 m5 m6");
  EXPECT_EQ(memory.load("none").status, VARVE_NOT_FOUND);
  EXPECT_EQ(memory.save("none").status, VARVE_NOT_FOUND);
}

TEST(MemoryManager, LoadFillsALargeWindow) {
  const Store store;
  const Memory memory(store, R"({"window":150})");
  fill(memory, "chat", 151);
  ASSERT_TRUE(memory.load("chat").ok());
  const json::array entries = memory.context("chat").object().at("entries").as_array();
  ASSERT_EQ(entries.size(), 150U);
  EXPECT_EQ(entries[0].at("content").as_string(), "m2");
  EXPECT_EQ(entries[149].at("content").as_string(), "m151");
}

TEST(MemoryManager, CrossRestartPersistence) {
  const TempDirectory directory;
  {
    const Store store(directory.path());
    const Memory memory(store, R"({"user_id":"ada"})");
    fill(memory, "chat", 3);
    ASSERT_TRUE(memory.remember(R"({"content":"likes tea"})").ok());
  }  // neither saved nor told
  const Store store(directory.path());
  const Memory memory(store, R"({"user_id":"ada"})");
  EXPECT_EQ(memory.source("chat"), "short_term");
  EXPECT_EQ(memory.contents("chat"), "m1 m2 m3");
  EXPECT_EQ(memory.search(R"({"text":"tea"})").count(), 1U);
}

TEST(MemoryManager, WindowOfManySessionsIsBounded) {
  const Store store;
  const Memory memory(store);
  for (int i = 0; i < 1030; ++i) {
    ASSERT_TRUE(memory.say("s" + std::to_string(i), "user", "hello").ok());
    ASSERT_EQ(memory.source("s0"), "working") << i;  // in use all the time
  }
  EXPECT_EQ(memory.source("s1029"), "working");
  EXPECT_EQ(memory.source("s1"), "short_term");  // left for others
  EXPECT_EQ(memory.contents("s1"), "hello");
}

size_t open_files() {
  size_t count = 0;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd")) {
    count += file.is_symlink() ? 1U : 0U;
  }
  return count;
}

TEST(MemoryManager, KeepsFewSessionsOpen) {
  const TempDirectory directory;
  const Store store(directory.path(), R"({"durability":"os"})");
  const Memory memory(store);
  const size_t before = open_files();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(memory.say("s" + std::to_string(i), "user", "hello").ok());
  }
  EXPECT_LE(open_files(), before + 160);  // 32 sessions, some files each
  EXPECT_EQ(memory.source("s0"), "working");
  EXPECT_EQ(memory.contents("s0"), "hello");
  memory.clear();
  EXPECT_LE(open_files(), before + 8);
}

// An exclusive store holds the lock of each session that it has open.
TEST(MemoryManager, KeepsThoseSessionsOpenThatWereUsedLast) {
  const TempDirectory directory;
  const Store store(directory.path(), R"({"concurrency":{"exclusive":true}})");
  const Memory memory(store);
  for (int i = 0; i < 32; ++i) {
    ASSERT_TRUE(memory.say("s" + std::to_string(i), "user", "hello").ok());
  }
  ASSERT_EQ(memory.contents("s0"), "hello");
  ASSERT_TRUE(memory.say("new", "user", "hello").ok());
  const Store other(directory.path(), R"({"concurrency":{"lock_timeout_ms":1}})");
  for (const std::string session : {"s0", "s1", "s2", "s31", "new"}) {
    const Memory writer(other);
    EXPECT_EQ(writer.say(session, "user", "x").outcome.status,
              session == "s1" ? VARVE_OK : VARVE_BUSY)
        << session;
  }
}

TEST(MemoryManager, ASessionThatSomebodyElseDeletedIsNotKeptOpen) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Memory memory(store);
  const size_t before = open_files();
  fill(memory, "chat", 1);
  ASSERT_TRUE(Store(directory.path()).delete_session("chat").ok());
  EXPECT_EQ(memory.contents("chat"), "");
  EXPECT_EQ(open_files(), before) << "its files would stay on the disk";
}

// What is refused.

TEST(MemoryErrors, OptionsAreChecked) {
  const Store store;
  struct Case {
    const char* options;
    const char* member;
  };
  for (const Case& given : std::vector<Case>{{R"({"window":0})", "window"},
                                             {R"({"window":"20"})", "window"},
                                             {R"({"ttl_hours":-1})", "ttl_hours"},
                                             {R"({"user_id":7})", "user_id"},
                                             {R"({"user_id":""})", "user_id"},
                                             {R"({"agent_id":""})", "agent_id"},
                                             {R"({"users":"ada"})", "users"},
                                             {"[]", ""}}) {
    SCOPED_TRACE(given.options);
    ErrorOut error;
    varve_memory_t* memory = nullptr;
    const Outcome outcome = error.outcome(
        varve_memory_open(store.get(), given.options, VARVE_NUL_TERMINATED, &memory, error.out()));
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT);
    EXPECT_EQ(outcome.detail("member"), given.member);
    EXPECT_EQ(outcome.message.find("condition"), std::string::npos) << "this is no query";
    EXPECT_EQ(memory, nullptr);
  }
}

TEST(MemoryErrors, WhatIsNoMessageIsRefusedAndChangesNothing) {
  const Store store;
  const Memory memory(store);
  for (const char* message : {"", "[]", R"({"role":"user"})", R"({"role":1,"content":"x"})",
                              R"({"content":"x","timestamp":"now"})"}) {
    EXPECT_EQ(memory.record("chat", message).outcome.status, VARVE_INVALID_ARGUMENT) << message;
  }
  EXPECT_TRUE(store.sessions().object().at("sessions").as_array().empty());
  const auto expect_refused_tag = [&] {
    const Answer tagged = memory.record("chat", R"({"role":"user","content":"x","tags":["a b"]})");
    EXPECT_EQ(tagged.outcome.status, VARVE_INVALID_ARGUMENT);
    EXPECT_EQ(tagged.outcome.detail("member"), "tags[0]");
    EXPECT_EQ(tagged.outcome.detail("offset"), "");  // of a text that nobody gave
    EXPECT_EQ(tagged.outcome.message.find("at byte"), std::string::npos) << tagged.outcome;
  };
  expect_refused_tag();
  EXPECT_EQ(memory.remember(R"({"content":"x","importance":7})").outcome.status,
            VARVE_INVALID_ARGUMENT);
  EXPECT_TRUE(store.sessions().object().at("sessions").as_array().empty());
  EXPECT_EQ(memory.contents("chat"), "");
  EXPECT_EQ(memory.source("chat"), "short_term");
  ASSERT_TRUE(memory.say("chat", "user", "x").ok());
  expect_refused_tag();  // by the session, which is there now
}

TEST(MemoryErrors, AnEntryThatIsTooLargeMakesNoSession) {
  const Store store("memory:", R"({"storage":{"max_entry_size_bytes":1000}})");
  const Memory memory(store);
  const Answer large = memory.say("chat", "user", std::string(1000, 'x'));
  EXPECT_EQ(large.outcome.status, VARVE_SIZE_LIMIT);
  EXPECT_TRUE(store.sessions().object().at("sessions").as_array().empty());
  EXPECT_TRUE(memory.say("chat", "user", "x").ok());
}

TEST(MemoryErrors, IdsAreChecked) {
  const Store store;
  const Memory memory(store);
  for (const char* id : {"", "-x", "a b", "../etc"}) {
    const Outcome said = memory.say(id, "user", "x").outcome;
    EXPECT_EQ(said.status, VARVE_INVALID_ARGUMENT) << id;
    EXPECT_EQ(said.detail("member"), "session_id") << id;
    EXPECT_EQ(memory.context(id).outcome.status, VARVE_INVALID_ARGUMENT) << id;
    EXPECT_EQ(memory.load(id).status, VARVE_INVALID_ARGUMENT) << id;
    const auto removed = memory.remove(id);
    EXPECT_EQ(removed.status, VARVE_INVALID_ARGUMENT) << id;
    EXPECT_NE(removed.message.find("1 to 128 of A-Z"), std::string::npos) << removed.message;
  }
  ASSERT_TRUE(memory.record("chat", R"({"id":"a","content":"x"})").ok());
  EXPECT_EQ(memory.record("chat", R"({"id":"a","content":"y"})").outcome.status,
            VARVE_ALREADY_EXISTS);
  EXPECT_EQ(memory.contents("chat"), "x");
  EXPECT_EQ(memory.record("chat", R"({"session_id":"other","content":"y"})").outcome.status,
            VARVE_INVALID_ARGUMENT);
}

TEST(MemoryErrors, ClosingTheStoreClosesIt) {
  const TempDirectory directory;
  Store store(directory.path());
  Memory memory(store);
  fill(memory, "chat", 2);
  store.close();
  EXPECT_EQ(memory.say("chat", "user", "x").outcome.status, VARVE_BAD_HANDLE);
  EXPECT_EQ(memory.context("chat").outcome.status, VARVE_BAD_HANDLE);
  memory.close();
  const Store again(directory.path());
  EXPECT_EQ(Memory(again).contents("chat"), "m1 m2");
}

TEST(MemoryErrors, ALockThatIsHeldIsBusyAndLeavesWorkingMemoryAlone) {
  const TempDirectory directory;
  const Store store(directory.path(), R"({"concurrency":{"lock_timeout_ms":1}})");
  const Memory memory(store);
  fill(memory, "chat", 1);
  {
    const HeldLock held(directory.path() + "/sessions/chat");
    EXPECT_EQ(memory.say("chat", "user", "x").outcome.status, VARVE_BUSY);
    EXPECT_EQ(memory.contents("chat"), "m1");  // reading goes on
  }
  ASSERT_TRUE(memory.say("chat", "user", "m2").ok());
  EXPECT_EQ(memory.contents("chat"), "m1 m2");
}

TEST(MemoryErrors, AnIdThatMayBeInASessionThatCannotBeReadIsNotSaidToBeNowhere) {
  const TempDirectory directory;
  {
    const Store store(directory.path());
    const Memory memory(store);
    for (const char* session : {"one", "two"}) {
      ASSERT_TRUE(memory.record(session, R"({"id":"same","content":"x"})").ok());
    }
  }
  const std::string log = directory.path() + "/sessions/two/memory.jsonl";
  std::filesystem::rename(log, log + ".away");
  std::filesystem::create_directory(log);
  const Store store(directory.path());
  const Memory memory(store);
  EXPECT_EQ(memory.remove("same").status, VARVE_IO);
  EXPECT_EQ(memory.search().count(), 0U) << "where it can be deleted it is";
  EXPECT_EQ(memory.remove("none").status, VARVE_IO);
  std::filesystem::remove(log);
  std::filesystem::rename(log + ".away", log);
  EXPECT_TRUE(memory.remove("same").ok());
  EXPECT_EQ(memory.search().count(), 0U);
  EXPECT_EQ(memory.remove("same").status, VARVE_NOT_FOUND);
}

TEST(Memory, TooLongAReasonIsRefusedWhetherTheEntryIsThereOrNot) {
  const Store store;
  const Memory memory(store);
  ASSERT_TRUE(memory.record("chat", R"({"id":"there","content":"x"})").ok());
  const std::string reason(1025, 'r');
  EXPECT_EQ(memory.remove("none", reason).status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(memory.remove("there", reason).status, VARVE_INVALID_ARGUMENT);
  EXPECT_TRUE(memory.remove("there", reason.substr(1)).ok());
}

}  // namespace
}  // namespace varve_test
