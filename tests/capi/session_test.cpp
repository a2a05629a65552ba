// Sessions: options, metadata, figures, files, and their documented errors.
#include <gtest/gtest.h>
#include <varve/varve.h>

#include <algorithm>
#include <string>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

TEST(SessionCreate, MakesAnIdThatSortsByTime) {
  const Store store;
  const Session first(store);
  const Session second(store);
  EXPECT_EQ(first.id().substr(0, 5), "sess_");
  EXPECT_EQ(first.id().size(), 31U);
  EXPECT_LT(first.id(), second.id());
}

TEST(SessionCreate, TakesEveryOption) {
  const Store store;
  const Session session(store, R"({"session_id":"s-1_A","user_id":"ann","agent_id":"helper",
      "title":"Tea","stores":["kv","transcript"],"ttl_hours":24,"decay_config":{"enabled":false},
      "compaction_config":{},"preferences":{"language":"de"},"durability":"os"})");
  const json::object metadata = session.metadata().object();
  EXPECT_EQ(metadata.at("session_id").as_string(), "s-1_A");
  EXPECT_EQ(metadata.at("user_id").as_string(), "ann");
  EXPECT_EQ(metadata.at("agent_id").as_string(), "helper");
  EXPECT_EQ(metadata.at("title").as_string(), "Tea");
  EXPECT_EQ(metadata.at("preferences").at("language").as_string(), "de");
  EXPECT_EQ(session.stats().object().at("durability").as_string(), "os");
}

TEST(SessionCreate, NamesTheOptionThatIsWrong) {
  const Store store;
  for (const auto& [options, member] : std::vector<std::pair<std::string, std::string>>{
           {R"({"session":"x"})", "session"},
           {R"({"session_id":7})", "session_id"},
           {R"({"session_id":"../x"})", "session_id"},
           {R"({"session_id":""})", "session_id"},
           {R"({"ttl_hours":"a day"})", "ttl_hours"},
           {R"({"ttl_hours":-1})", "ttl_hours"},
           {R"({"stores":"kv"})", "stores"},
           {R"({"durability":"never"})", "durability"}}) {
    const Outcome outcome = store.try_create(options);
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT) << options << outcome;
    EXPECT_EQ(outcome.detail("member"), member);
    EXPECT_NE(outcome.detail("offset"), "");
  }
  EXPECT_TRUE(store.sessions().object().at("sessions").as_array().empty());
}

TEST(SessionCreate, SaysWhatToDoAboutAMemberThatIsEmpty) {
  const Store store;
  for (const std::string member : {"user_id", "agent_id"}) {
    const Outcome outcome = store.try_create("{\"" + member + "\":\"\"}");
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT);
    EXPECT_EQ(outcome.message.find("condition"), std::string::npos) << outcome;
    EXPECT_NE(outcome.message.find("give an id, or leave it out"), std::string::npos) << outcome;
  }
  const Outcome nameless = store.try_create(R"({"session_id":"","if_exists":"open"})");
  EXPECT_EQ(nameless.detail("member"), "session_id") << nameless;
  const Outcome unnamed = store.try_create(R"({"if_exists":"open"})");
  EXPECT_EQ(unnamed.detail("member"), "if_exists") << unnamed;
}

TEST(SessionCreate, RefusesAnIdThatExists) {
  const Store store;
  const Session session(store, R"({"session_id":"s"})");
  EXPECT_EQ(store.try_create(R"({"session_id":"s"})").status, VARVE_ALREADY_EXISTS);
}

TEST(SessionOpen, FindsOnlyWhatIsThere) {
  const Store store;
  const Outcome outcome = store.try_open_session("missing");
  EXPECT_EQ(outcome.status, VARVE_NOT_FOUND);
  EXPECT_NE(outcome.message.find("missing"), std::string::npos) << outcome;
}

TEST(SessionOpen, ANewerVersionIsRefusedAndUntouched) {
  const TempDirectory directory;
  const std::string path = directory.path() + "/sessions/s/metadata.json";
  { const Session session(Store(directory.path()), R"({"session_id":"s"})"); }
  std::string text = read_file(path);
  json::object metadata = json::parse(text).as_object();
  ASSERT_TRUE(metadata.contains("version")) << text;
  metadata["version"] = metadata["version"].is_string() ? json::value("99.0.0") : json::value(99);
  text = json::serialize(metadata);
  write_file(path, text);
  const Store store(directory.path());
  EXPECT_EQ(store.try_open_session("s").status, VARVE_FORMAT_VERSION);
  EXPECT_EQ(read_file(path), text);
}

TEST(SessionId, LivesAsLongAsItsHandle) {
  const Store store;
  Session session(store, R"({"session_id":"s"})");
  const char* const id = varve_session_id(session.get());
  ASSERT_TRUE(session.add(entry("a")).ok());
  EXPECT_EQ(varve_session_id(session.get()), id);
  EXPECT_STREQ(id, "s");
}

TEST(SessionMetadata, HasCurrentCounts) {
  const Store store;
  const Session session(store, R"({"user_id":"ann","agent_id":"helper","title":"Tea"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  ASSERT_TRUE(session.add(entry("b")).ok());
  const json::object metadata = session.metadata().object();
  EXPECT_EQ(missing_members(metadata,
                            {"session_id", "user_id", "agent_id", "title", "created_at",
                             "last_accessed", "total_entries", "total_size_bytes", "statistics"}),
            std::vector<std::string>());
  EXPECT_EQ(metadata.at("total_entries"), 2);
  EXPECT_GT(metadata.at("total_size_bytes").as_int64(), 0);
}

TEST(SessionUpdate, MergesAPatch) {
  const Store store;
  const Session session(store, R"({"title":"before","preferences":{"a":1,"b":2}})");
  ASSERT_TRUE(
      session.update(R"({"title":"after","preferences":{"a":null,"c":3},"mine":[1,{"x":2}]})")
          .ok());
  const json::object metadata = session.metadata().object();
  EXPECT_EQ(metadata.at("title").as_string(), "after");
  EXPECT_EQ(metadata.at("preferences"), json::parse(R"({"b":2,"c":3})"));
  EXPECT_EQ(metadata.at("mine"), json::parse(R"([1,{"x":2}])"));
  ASSERT_TRUE(session.update(R"({"mine":null})").ok());
  EXPECT_FALSE(session.metadata().object().contains("mine"));
}

TEST(SessionUpdate, KeepsWhatTheLibraryKeeps) {
  const Store store;
  const Session session(store, R"({"session_id":"s"})");
  for (const char* member : {"session_id", "created_at", "total_entries", "statistics",
                             "generation", "version", "compactions", "last_compaction"}) {
    const std::string patch = std::string("{\"") + member + "\":\"x\"}";
    const Outcome outcome = session.update(patch);
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT) << patch;
    EXPECT_EQ(outcome.detail("member"), member);
  }
  for (const char* patch : {"", "[]", "null", "1", "{", R"({"title":)"}) {
    EXPECT_EQ(session.update(patch).status, VARVE_INVALID_ARGUMENT) << patch;
  }
}

// Each patch could be read, and what they make together could not.
TEST(SessionUpdate, ThatMakesMoreThanCanBeReadBackIsRefused) {
  const TempDirectory directory;
  const auto members = [](const std::string& prefix) {
    std::string patch = R"({"mine":{)";
    for (int i = 0; i < 40'000; ++i) patch += '"' + prefix + std::to_string(i) + "\":1,";
    patch.back() = '}';
    return patch + "}";
  };
  {
    const Store store(directory.path());
    const Session session(store, R"({"session_id":"s","title":"Tea"})");
    ASSERT_TRUE(session.update(members("a")).ok());
    const Outcome too_many = session.update(members("b"));
    EXPECT_EQ(too_many.status, VARVE_SIZE_LIMIT);
    EXPECT_EQ(too_many.detail("size"), "") << "its bytes are not what is too much: " << too_many;
    const Outcome too_large = session.update(R"({"b":")" + std::string(16 << 20, 'x') + "\"}");
    EXPECT_EQ(too_large.status, VARVE_SIZE_LIMIT);
    EXPECT_EQ(too_large.detail("limit"), "16777216");
    EXPECT_TRUE(session.update(members("a")).ok());
  }
  const Store store(directory.path());
  const json::object metadata = Session::open(store, "s").metadata().object();
  ASSERT_TRUE(metadata.contains("title")) << "metadata.json could not be read";
  EXPECT_EQ(metadata.at("mine").as_object().size(), 40'000U);
}

TEST(SessionUpdate, IsBusyWhileAnotherProcessHoldsTheLock) {
  const TempDirectory directory;
  const Store store(directory.path(), R"({"concurrency":{"lock_timeout_ms":50}})");
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  const HeldLock lock(directory.path() + "/sessions/s");
  EXPECT_EQ(session.update(R"({"title":"x"})").status, VARVE_BUSY);
  EXPECT_EQ(session.add(entry("b")).outcome.status, VARVE_BUSY);
  EXPECT_EQ(session.add_batch(entry("b")).outcome.status, VARVE_BUSY);
  EXPECT_EQ(session.remove("a").status, VARVE_BUSY);
  EXPECT_EQ(session.sync().status, VARVE_BUSY);
  EXPECT_EQ(session.import_lines(entry("b")).outcome.status, VARVE_BUSY);
  EXPECT_EQ(store.delete_session("s").status, VARVE_BUSY);
  // Reading needs no lock.
  EXPECT_TRUE(session.get("a").ok());
  EXPECT_TRUE(session.stats().ok());
  EXPECT_TRUE(session.export_text("jsonl").ok());
  EXPECT_GE(store.stats().object().at("lock_timeouts").as_int64(), 6);
}

TEST(SessionSync, MakesEverythingDurable) {
  const TempDirectory directory;
  const Store store(directory.path(), R"({"durability":"os"})");
  const Session session(store);
  ASSERT_TRUE(session.add(entry("a")).ok());
  EXPECT_TRUE(session.sync().ok());
  EXPECT_EQ(session.stats().object().at("durable_seq"), 1);
}

TEST(SessionStats, HasEveryFigure) {
  const Store store;
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  ASSERT_TRUE(session.add(R"({"id":"b","type":"decision","content":1})").ok());
  ASSERT_TRUE(session.add(entry("c")).ok());
  ASSERT_TRUE(session.remove("c").ok());
  const json::object stats = session.stats().object();
  EXPECT_EQ(
      missing_members(stats, {"session_id", "entries", "deleted", "expired", "size_bytes", "types",
                              "memory_bytes", "last_seq", "durable_seq", "durability", "durable",
                              "undurable_bytes", "generation", "read_only", "corruption", "index"}),
      std::vector<std::string>());
  EXPECT_EQ(
      missing_members(stats.at("size_bytes").as_object(), {"log", "index", "tombstones", "total"}),
      std::vector<std::string>());
  EXPECT_EQ(missing_members(stats.at("corruption").as_object(),
                            {"skipped", "missing", "torn_tails", "rollback"}),
            std::vector<std::string>());
  EXPECT_EQ(missing_members(stats.at("index").as_object(),
                            {"rebuilds", "loaded", "reason", "facets_memory_bytes",
                             "words_memory_bytes", "words_of_entries"}),
            std::vector<std::string>());
  EXPECT_EQ(stats.at("session_id").as_string(), "s");
  EXPECT_EQ(stats.at("entries"), 2);
  EXPECT_EQ(stats.at("deleted"), 1);
  EXPECT_EQ(stats.at("expired"), 0);
  EXPECT_EQ(stats.at("types"), json::parse(R"({"decision":1,"finding":1})"));
  EXPECT_EQ(stats.at("last_seq"), 3);
  EXPECT_EQ(stats.at("read_only"), false);
}

TEST(SessionStats, SayWhetherAPowerLossCouldTakeWhatWasAnswered) {
  for (const std::string durability : {"commit", "interval", "os"}) {
    SCOPED_TRACE(durability);
    const TempDirectory directory;
    const Store store(directory.path(), R"({"durability":")" + durability + R"(",
        "performance":{"batch_write_interval_ms":3600000}})");
    const Session session(store);
    const auto is_durable = [&] { return session.stats().object().at("durable").as_bool(); };
    EXPECT_TRUE(is_durable());
    ASSERT_TRUE(session.add(entry("a")).ok());
    EXPECT_EQ(is_durable(), durability == "commit");
    ASSERT_TRUE(session.sync().ok());
    EXPECT_TRUE(is_durable());
    ASSERT_TRUE(session.remove("a").ok());
    EXPECT_EQ(is_durable(), durability == "commit");
    EXPECT_EQ(session.stats().object().at("undurable_bytes"), 0) << "the disk has taken it";
    ASSERT_TRUE(store.sync().ok());
    EXPECT_TRUE(is_durable());
  }
}

TEST(SessionFiles, AreListedByName) {
  const TempDirectory directory;
  const Store store(directory.path());
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  std::vector<std::string> names;
  const json::object listing = session.files().object();
  for (const auto& file : listing.at("files").as_array()) {
    EXPECT_EQ(missing_members(file.as_object(), {"name", "size_bytes", "modified"}),
              std::vector<std::string>());
    names.emplace_back(file.at("name").as_string());
    EXPECT_EQ(read_file(directory.path() + "/sessions/s/" + names.back()).size(),
              static_cast<size_t>(file.at("size_bytes").as_int64()));
  }
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_NE(std::find(names.begin(), names.end(), "memory.jsonl"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "metadata.json"), names.end());
}

}  // namespace
}  // namespace varve_test
