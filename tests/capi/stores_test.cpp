// kv and transcript through the ABI; the usage of the document that they come from, with our names.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

Outcome kv_set(const Session& session, std::string_view key, std::string_view value) {
  ErrorOut error;
  return error.outcome(
      varve_kv_set(session.get(), key.data(), key.size(), value.data(), value.size(), error.out()));
}

Answer kv_get(const Session& session, std::string_view key) {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_kv_get(session.get(), key.data(), key.size(), text, len, error);
  });
}

Outcome kv_delete(const Session& session, std::string_view key) {
  ErrorOut error;
  return error.outcome(varve_kv_delete(session.get(), key.data(), key.size(), error.out()));
}

Answer kv_list(const Session& session) {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_kv_list(session.get(), text, len, error);
  });
}

Outcome append(const Session& session, std::string_view role, std::string_view content) {
  ErrorOut error;
  return error.outcome(varve_transcript_append(session.get(), role.data(), role.size(),
                                               content.data(), content.size(), error.out()));
}

Answer last(const Session& session, size_t n) {
  return answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_transcript_last(session.get(), n, text, len, error);
  });
}

// "role: content" of each turn.
std::vector<std::string> turns_of(const Session& session, size_t n) {
  std::vector<std::string> turns;
  const json::value said = last(session, n).value();
  for (const auto& turn : said.as_array()) {
    turns.push_back(std::string(turn.at("role").as_string()) + ": " +
                    std::string(turn.at("content").as_string()));
  }
  return turns;
}

// create_session, use of the handle, load_session, the index of sessions.
TEST(SessionStoreSeed, ASessionIsCreatedUsedAndResumedByItsAgent) {
  const TempDirectory directory;
  std::string id;
  {
    const Store store(directory.path());
    const Session session(store, R"({"agent_id":"chat","stores":["kv","transcript"]})");
    id = session.id();
    EXPECT_TRUE(append(session, "user", "Hello, tell me about your memory system.").ok());
    EXPECT_EQ(turns_of(session, 20).size(), 1U);
    EXPECT_TRUE(append(session, "assistant", "I can store key-value pairs…").ok());
    EXPECT_TRUE(kv_set(session, "user_name", "sachi").ok());
  }
  const Store store(directory.path());
  const json::array listed =
      store.sessions(R"({"agent_id":"chat"})").object().at("sessions").as_array();
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].at("session_id").as_string(), id);
  EXPECT_EQ(listed[0].at("agent_id").as_string(), "chat");
  EXPECT_TRUE(store.sessions(R"({"agent_id":"other"})").object().at("sessions").as_array().empty());
  const Session session = Session::open(store, id);
  EXPECT_EQ(kv_get(session, "user_name").text, "sachi");
  EXPECT_EQ(turns_of(session, 20),
            (std::vector<std::string>{"user: Hello, tell me about your memory system.",
                                      "assistant: I can store key-value pairs…"}));
  const json::array stores = session.metadata().object().at("stores").as_array();
  EXPECT_EQ(stores.size(), 2U);
}

TEST(SessionStoreSeed, WorkingMemoryIsEmptyWhenNotSet) {
  const Store store;
  const Session session(store);
  const Answer unset = kv_get(session, "working_memory");
  EXPECT_TRUE(unset.ok()) << unset.outcome;
  EXPECT_EQ(unset.text, "");
  EXPECT_TRUE(kv_set(session, "working_memory", "the plan").ok());
  EXPECT_EQ(kv_get(session, "working_memory").text, "the plan");
}

TEST(SessionStoreSeed, FilesAreListedWithSizeAndTime) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store);
  EXPECT_TRUE(kv_set(session, "a", "1").ok());
  EXPECT_TRUE(append(session, "user", "hello").ok());
  size_t found = 0;
  const json::object files = session.files().object();
  for (const auto& file : files.at("files").as_array()) {
    const std::string name(file.at("name").as_string());
    if (name != "kv.json" && name != "transcript.md") continue;
    found += 1;
    EXPECT_GT(file.at("size_bytes").as_int64(), 0);
    EXPECT_EQ(file.at("modified").as_string().size(),
              std::string("2025-04-15T10:30:01.000Z").size());
  }
  EXPECT_EQ(found, 2U);
}

TEST(SessionStoreSeed, WhatASessionDoesNotHaveIsUnsupported) {
  const Store store;
  const Session session(store, R"({"stores":["kv"]})");
  const Outcome outcome = append(session, "user", "x");
  EXPECT_EQ(outcome.status, VARVE_UNSUPPORTED);
  EXPECT_NE(outcome.message.find("transcript"), std::string::npos) << outcome;
  EXPECT_EQ(last(session, 1).outcome.status, VARVE_UNSUPPORTED);
  const Session other(store, R"({"stores":["transcript"]})");
  EXPECT_EQ(kv_set(other, "a", "1").status, VARVE_UNSUPPORTED);
  EXPECT_EQ(kv_get(other, "working_memory").outcome.status, VARVE_UNSUPPORTED);
  EXPECT_EQ(kv_get(other, "").outcome.status, VARVE_UNSUPPORTED);
  EXPECT_EQ(kv_set(other, "", "1").status, VARVE_UNSUPPORTED);
}

TEST(SessionStoreSeed, CapsAreConfigured) {
  const Store store("memory:", R"({"storage":{"kv_cap":2,"transcript_cap":3}})");
  const Session session(store);
  for (const char* text : {"a", "b", "c", "d"}) {
    EXPECT_TRUE(kv_set(session, text, text).ok());
    EXPECT_TRUE(append(session, "user", text).ok());
  }
  EXPECT_EQ(kv_list(session).value().as_array().size(), 2U);
  EXPECT_EQ(turns_of(session, SIZE_MAX),
            (std::vector<std::string>{"user: b", "user: c", "user: d"}));
  EXPECT_EQ(Store::try_open("memory:", R"({"storage":{"kv_cap":-1}})").status,
            VARVE_INVALID_ARGUMENT);
}

TEST(Kv, DeleteTellsWhetherItWasThere) {
  const Store store;
  const Session session(store);
  EXPECT_TRUE(kv_set(session, "a", "1").ok());
  EXPECT_TRUE(kv_delete(session, "a").ok());
  EXPECT_EQ(kv_delete(session, "a").status, VARVE_NOT_FOUND);
  EXPECT_EQ(kv_get(session, "a").outcome.status, VARVE_NOT_FOUND);
}

TEST(Kv, WhatIsNoKeyIsRefusedByEveryCall) {
  const Store store;
  const Session session(store);
  for (const std::string& key : {std::string(), std::string(1025, 'k')}) {
    EXPECT_EQ(kv_set(session, key, "1").status, VARVE_INVALID_ARGUMENT) << key.size();
    EXPECT_EQ(kv_get(session, key).outcome.status, VARVE_INVALID_ARGUMENT) << key.size();
    EXPECT_EQ(kv_delete(session, key).status, VARVE_INVALID_ARGUMENT) << key.size();
  }
}

TEST(Kv, ListIsTheFilesEntries) {
  const Store store;
  const Session session(store);
  EXPECT_EQ(kv_list(session).text, "[]");
  EXPECT_TRUE(kv_set(session, "a", "1").ok());
  EXPECT_TRUE(kv_set(session, "b", "2").ok());
  const json::array list = kv_list(session).value().as_array();
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0].at("key").as_string(), "a");
  EXPECT_EQ(list[1].at("value").as_string(), "2");
  EXPECT_EQ(list[1].at("ts").as_string().size(), 20U);
}

TEST(Kv, KeysWithEveryCharacter) {
  const Store store;
  const Session session(store);
  for (int byte = 0; byte < 128; ++byte) {
    const std::string key(1, static_cast<char>(byte));
    ASSERT_TRUE(kv_set(session, key, "v" + key).ok()) << byte;
    ASSERT_EQ(kv_get(session, key).text, "v" + key) << byte;
  }
  EXPECT_EQ(kv_set(session, "\xff", "x").status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(kv_set(session, "x", "\xff").status, VARVE_INVALID_ARGUMENT);
  EXPECT_EQ(kv_list(session).value().as_array().size(), 128U);
}

TEST(Transcript, OneMegabyteAndANulComeBackUnchanged) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store);
  std::string content(1'000'000, '\0');
  for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 % 128);
  ASSERT_TRUE(append(session, "user", content).ok());
  ASSERT_TRUE(append(session, "user", "after").ok());
  const json::array turns = last(session, 2).value().as_array();
  ASSERT_EQ(turns.size(), 2U);
  EXPECT_TRUE(turns[0].at("content").as_string() == content);
}

TEST(Transcript, ADeletedSessionIsNotFound) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(append(session, "user", "x").ok());
  ASSERT_TRUE(kv_set(session, "a", "1").ok());
  ASSERT_TRUE(store.delete_session("s").ok());
  EXPECT_EQ(append(session, "user", "x").status, VARVE_NOT_FOUND);
  EXPECT_EQ(last(session, 1).outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(kv_set(session, "a", "1").status, VARVE_NOT_FOUND);
  EXPECT_EQ(kv_list(session).outcome.status, VARVE_NOT_FOUND);
}

TEST(Stores, EightThreadsUseOneSession) {
  const Store store;
  const Session session(store, R"({"kv_cap":1000,"transcript_cap":10000})");
  constexpr int kEach = 50;
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        const std::string name = std::to_string(thread) + "-" + std::to_string(i);
        if (!kv_set(session, name, name).ok()) failures += 1;
        if (!append(session, "user", name).ok()) failures += 1;
        if (kv_get(session, name).text != name) failures += 1;
        if (!last(session, 5).ok()) failures += 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(failures.load(), 0);
  EXPECT_EQ(kv_list(session).value().as_array().size(), 8U * kEach);
  EXPECT_EQ(turns_of(session, SIZE_MAX).size(), 8U * kEach);
}

TEST(Stores, ABackupHasThemAndARestoreBringsThemBack) {
  const TempDirectory directory;
  std::string copy = directory.path() + "/copy";
  const auto back_up = [&](const Store& store) {
    return answer_of([&](char** text, size_t* len, varve_error_t** error) {
      return varve_store_backup(store.get(), copy.data(), copy.size(), nullptr, 0, text, len,
                                error);
    });
  };
  for (const std::string& uri : {directory.path() + "/store", std::string("memory:")}) {
    const Store store(uri);
    const Session session(store, R"({"session_id":"s"})");
    ASSERT_TRUE(append(session, "user", "one").ok());
    ASSERT_TRUE(kv_set(session, "a", "1").ok());
    ASSERT_TRUE(back_up(store).ok());
    ASSERT_TRUE(append(session, "user", "two").ok());
    ASSERT_TRUE(back_up(store).ok());
    const Store other("memory:");
    const Answer restored = answer_of([&](char** text, size_t* len, varve_error_t** error) {
      return varve_store_restore(other.get(), copy.data(), copy.size(), nullptr, 0, text, len,
                                 error);
    });
    ASSERT_TRUE(restored.ok()) << restored.outcome;
    const Session back = Session::open(other, "s");
    EXPECT_EQ(kv_get(back, "a").text, "1");
    EXPECT_EQ(turns_of(back, 9), (std::vector<std::string>{"user: one", "user: two"}));
    ASSERT_TRUE(append(back, "user", "three").ok());
    EXPECT_EQ(turns_of(back, 9).size(), 3U);
    copy += "_of_memory";
  }
}

TEST(Stores, WhatIsNoFileIsNotFollowedAndKeepsNothingElseFromBeingLookedAt) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  const std::string folder = directory.path() + "/sessions/s/";
  const std::string outside = directory.path() + "/outside.json";
  write_file(outside, "{}");
  std::filesystem::create_symlink(outside, folder + "kv.json");
  std::filesystem::create_directory(folder + "transcript.md");
  EXPECT_EQ(kv_set(session, "a", "1").status, VARVE_IO);
  EXPECT_EQ(kv_get(session, "a").outcome.status, VARVE_IO);
  EXPECT_EQ(read_file(outside), "{}");
  const json::object report = session.verify().object();
  EXPECT_EQ(report.at("entries"), 1);
  const json::array& problems = report.at("problems").as_array();
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0].at("file").as_string(), "kv.json");
  EXPECT_EQ(problems[1].at("file").as_string(), "transcript.md");
  EXPECT_TRUE(session.repair().ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder + "kv.json")) << "it is somebody's";
  const Answer purged = answer_of([&](char** text, size_t* len, varve_error_t** error) {
    return varve_session_purge(session.get(), nullptr, 0, text, len, error);
  });
  EXPECT_EQ(purged.outcome.status, VARVE_IO) << "nobody can tell what it holds";
  EXPECT_TRUE(purged.outcome.detail("path").starts_with(folder)) << purged.outcome;
}

TEST(Stores, AWriteRenewsASessionThatExpires) {
  static int64_t now_ms = 1'767'225'600'000;
  const Store store;
  ASSERT_TRUE(store.set_clock([](void*) { return now_ms; }, nullptr).ok());
  const Session session(store, R"({"session_id":"s","ttl_hours":1})");
  for (int i = 0; i < 6; ++i) {
    now_ms += 20 * 60'000;
    ASSERT_TRUE((i % 2 == 0 ? kv_set(session, "a", "1") : append(session, "user", "x")).ok());
  }
  EXPECT_TRUE(store.try_open_session("s").ok());
  now_ms += 61 * 60'000;
  EXPECT_EQ(store.try_open_session("s").status, VARVE_NOT_FOUND);
}

}  // namespace
}  // namespace varve_test
