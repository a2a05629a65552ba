// Stores: URIs, configuration, the list of sessions, figures, and their documented errors.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <varve/varve.h>

#include <filesystem>
#include <string>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

namespace fs = std::filesystem;

// What holds for a directory holds for memory.
class EveryStore : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] std::string uri() const { return GetParam() ? "memory:" : directory_.path(); }
  TempDirectory directory_;
};
INSTANTIATE_TEST_SUITE_P(, EveryStore, testing::Bool(), [](const auto& instance) {
  return instance.param ? "Memory" : "Directory";
});

std::vector<std::string> ids_of(const json::object& page) {
  std::vector<std::string> ids;
  for (const auto& item : page.at("sessions").as_array()) {
    ids.emplace_back(item.at("session_id").as_string());
  }
  return ids;
}

TEST(StoreOpen, MakesItsDirectoryForItsOwnerOnly) {
  const TempDirectory parent;
  const std::string path = parent.path() + "/a/b";
  const Store store(path);
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  for (const char* below : {"", "/sessions", "/sessions/s"}) {
    EXPECT_EQ(fs::status(path + below).permissions(), fs::perms::owner_all) << below;
  }
  EXPECT_EQ(fs::status(path + "/sessions/s/memory.jsonl").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(StoreOpen, TakesAPathWithFileBeforeIt) {
  const TempDirectory directory;
  { const Session session(Store("file:" + directory.path()), R"({"session_id":"s"})"); }
  EXPECT_TRUE(fs::exists(directory.path() + "/sessions/s"));
}

TEST(StoreOpen, MemoryTouchesNoDisk) {
  const Store store("memory:");
  const Session session(store);
  ASSERT_TRUE(session.add(entry("a")).ok());
  EXPECT_TRUE(session.files().object().at("files").as_array().empty());
  const Store other("memory:");
  EXPECT_TRUE(other.sessions().object().at("sessions").as_array().empty());
}

TEST(StoreOpen, RefusesAnotherScheme) {
  EXPECT_EQ(Store::try_open("s3://bucket/memory").status, VARVE_UNSUPPORTED);
  EXPECT_EQ(Store::try_open("postgres://localhost/x").status, VARVE_UNSUPPORTED);
}

TEST(StoreOpen, RefusesUrisThatAreNoPath) {
  for (const std::string_view uri :
       {std::string_view(""), std::string_view("a\0b", 3), std::string_view("file:")}) {
    EXPECT_EQ(Store::try_open(uri).status, VARVE_INVALID_ARGUMENT) << uri;
  }
  EXPECT_EQ(Store::try_open(std::string_view("a\0b", 3)).detail("offset"), "1");
}

TEST(StoreOpen, RefusesWhatIsNoDirectory) {
  const TempDirectory directory;
  write_file(directory.path() + "/file", "x");
  EXPECT_EQ(Store::try_open(directory.path() + "/file").status, VARVE_IO);
  EXPECT_EQ(Store::try_open(directory.path() + "/file/below").status, VARVE_IO);
}

// In a child, so that root can become somebody with fewer rights.
varve_status_t open_without_privilege(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(255);
    ::_exit(Store::try_open(path).status);
  }
  int state = 0;
  EXPECT_EQ(::waitpid(child, &state, 0), child);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

TEST(StoreOpen, RefusesADirectoryThatMayNotBeMade) {
  const TempDirectory directory;
  fs::permissions(directory.path(), fs::perms(0555));
  EXPECT_EQ(open_without_privilege(directory.path() + "/new"), VARVE_READ_ONLY);
  fs::permissions(directory.path(), fs::perms::owner_all);
  EXPECT_FALSE(fs::exists(directory.path() + "/new"));
}

TEST(StoreOpen, NamesTheOptionThatIsWrong) {
  struct Case {
    const char* config;
    const char* member;
    const char* at;  // where in the text the error is
  };
  const std::vector<Case> cases = {
      {R"({"colour":"red"})", "colour", "\"red\""},
      {R"({"storage":{"max_entry_size_bytes":"1 MB"}})", "storage.max_entry_size_bytes",
       "\"1 MB\""},
      {R"({"storage":{"max_size":1}})", "storage.max_size", "1}"},
      {R"({"durability":"sometimes"})", "durability", "\"sometimes\""},
      {R"({"durability":1})", "durability", "1}"},
      {R"({"concurrency":{"lock_timeout_ms":-1}})", "concurrency.lock_timeout_ms", "-1"},
      {R"({"concurrency":[]})", "concurrency", "[]"},
  };
  for (const auto& [config, member, at] : cases) {
    SCOPED_TRACE(config);
    const Outcome outcome = Store::try_open("memory:", config);
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT);
    EXPECT_EQ(outcome.detail("member"), member);
    EXPECT_EQ(outcome.detail("offset"), std::to_string(std::string(config).find(at)));
  }
}

TEST(StoreOpen, RefusesConfigurationThatIsNoObject) {
  for (const char* config : {"[]", "1", "{", "{}x", R"({"durability":"os","durability":"os"})"}) {
    EXPECT_EQ(Store::try_open("memory:", config).status, VARVE_INVALID_ARGUMENT) << config;
  }
}

TEST(StoreOpen, TakesEveryOption) {
  const Outcome outcome = Store::try_open("memory:", R"({
    "version": "1.0",
    "storage": {"root_directory": "./memory", "max_session_size_mb": 10,
                "max_entry_size_bytes": 1048576, "compaction_threshold": 0.9,
                "auto_compact": true},
    "concurrency": {"lock_timeout_ms": 5000, "max_retries": 3, "retry_backoff_ms": 100},
    "decay": {"enabled": true, "update_interval_minutes": 60,
              "type_specific": {"conversation": {"half_life_hours": 168},
                                "preference": {"decay_enabled": false}},
              "min_decay_factor": 0.1},
    "performance": {"cache_size": 100, "batch_write_interval_ms": 1000, "index_in_memory": true},
    "integrity": {"enable_checksums": true, "checksum_algorithm": "sha256"},
    "durability": "interval"})");
  EXPECT_TRUE(outcome.ok()) << outcome;
}

TEST(StoreOpen, ConfigurationAtOpenOverridesTheFile) {
  const TempDirectory directory;
  write_file(directory.path() + "/config.json", R"({"storage":{"max_entry_size_bytes":500}})");
  const std::string large = entry("", std::string(1000, 'x'));
  {
    const Store store(directory.path());
    EXPECT_EQ(Session(store).add(large).outcome.status, VARVE_SIZE_LIMIT);
  }
  const Store store(directory.path(), R"({"storage":{"max_entry_size_bytes":5000}})");
  EXPECT_TRUE(Session(store).add(large).ok());
}

TEST(StoreOpen, RefusesAConfigFileOfANewerVersion) {
  const TempDirectory directory;
  const std::string config = R"({"version":"99.0.0"})";
  write_file(directory.path() + "/config.json", config);
  const Outcome outcome = Store::try_open(directory.path());
  EXPECT_EQ(outcome.status, VARVE_FORMAT_VERSION) << outcome;
  EXPECT_EQ(read_file(directory.path() + "/config.json"), config);  // untouched
}

TEST_P(EveryStore, ListsSessionsNewestFirst) {
  const Store store(uri());
  std::vector<std::string> made;
  for (int i = 0; i < 5; ++i) made.push_back(Session(store).id());
  const json::object page = store.sessions().object();
  EXPECT_EQ(ids_of(page), std::vector<std::string>(made.rbegin(), made.rend()));
  EXPECT_TRUE(page.at("next").is_null());
  EXPECT_EQ(missing_members(page.at("sessions").at(0).as_object(),
                            {"session_id", "user_id", "agent_id", "title", "created_at",
                             "last_accessed", "total_entries"}),
            std::vector<std::string>());
}

TEST_P(EveryStore, ListsPageByPage) {
  const Store store(uri());
  std::vector<std::string> made;
  for (int i = 0; i < 7; ++i) made.push_back(Session(store).id());
  std::vector<std::string> seen;
  std::string filter = R"({"limit":3})";
  for (int pages = 0; pages < 10; ++pages) {
    const json::object page = store.sessions(filter).object();
    const auto ids = ids_of(page);
    EXPECT_LE(ids.size(), 3U);
    seen.insert(seen.end(), ids.begin(), ids.end());
    if (page.at("next").is_null()) break;
    filter = R"({"limit":3,"after":)" + json::serialize(page.at("next")) + "}";
  }
  EXPECT_EQ(seen, std::vector<std::string>(made.rbegin(), made.rend()));
}

TEST_P(EveryStore, ListsTheSessionsOfAUserOrAnAgent) {
  const Store store(uri());
  const Session one(store, R"({"session_id":"one","user_id":"ann","agent_id":"x"})");
  const Session two(store, R"({"session_id":"two","user_id":"bob","agent_id":"x"})");
  const Session three(store, R"({"session_id":"three","user_id":"ann","agent_id":"y"})");
  using Ids = std::vector<std::string>;
  EXPECT_EQ(ids_of(store.sessions(R"({"user_id":"ann"})").object()), (Ids{"three", "one"}));
  EXPECT_EQ(ids_of(store.sessions(R"({"agent_id":"x"})").object()), (Ids{"two", "one"}));
  EXPECT_EQ(ids_of(store.sessions(R"({"user_id":"ann","agent_id":"x"})").object()), (Ids{"one"}));
  EXPECT_EQ(ids_of(store.sessions(R"({"user_id":"nobody"})").object()), Ids());
}

TEST_P(EveryStore, NamesTheFilterThatIsWrong) {
  const Store store(uri());
  for (const auto& [filter, member] :
       std::vector<std::pair<std::string, std::string>>{{R"({"limit":0})", "limit"},
                                                        {R"({"limit":10001})", "limit"},
                                                        {R"({"limit":"all"})", "limit"},
                                                        {R"({"user":"ann"})", "user"},
                                                        {R"({"rescan":1})", "rescan"}}) {
    const Outcome outcome = store.sessions(filter).outcome;
    EXPECT_EQ(outcome.status, VARVE_INVALID_ARGUMENT) << filter;
    EXPECT_EQ(outcome.detail("member"), member);
  }
  EXPECT_EQ(store.sessions(R"({"after":"not a cursor"})").outcome.status, VARVE_INVALID_ARGUMENT);
}

TEST_P(EveryStore, DeletesASessionForGood) {
  const Store store(uri());
  const Session session(store, R"({"session_id":"s"})");
  ASSERT_TRUE(session.add(entry("a")).ok());
  ASSERT_TRUE(store.delete_session("s").ok());
  EXPECT_TRUE(ids_of(store.sessions().object()).empty());
  EXPECT_EQ(store.try_open_session("s").status, VARVE_NOT_FOUND);
  EXPECT_EQ(store.delete_session("s").status, VARVE_NOT_FOUND);
  // The handle that is still open says so too.
  EXPECT_EQ(session.add(entry("b")).outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session.get("a").outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session.remove("a").status, VARVE_NOT_FOUND);
  EXPECT_EQ(session.metadata().outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session.update(R"({"title":"x"})").status, VARVE_NOT_FOUND);
  EXPECT_EQ(session.stats().outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session.files().outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session.verify().outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session.rebuild_index().outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session.index().outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session.export_text("jsonl").outcome.status, VARVE_NOT_FOUND);
  EXPECT_EQ(session.import_lines(entry("c")).outcome.status, VARVE_NOT_FOUND);
}

TEST(StoreOpen, ALinkToNowhereIsNotFollowedAndNotFound) {
  const TempDirectory directory;
  const std::string link = directory.path() + "/link";
  ASSERT_EQ(symlink((directory.path() + "/nowhere").c_str(), link.c_str()), 0);
  const Outcome outcome = Store::try_open(link);
  EXPECT_EQ(outcome.status, VARVE_NOT_FOUND) << outcome;
  EXPECT_EQ(outcome.detail("path"), link);
}

TEST_P(EveryStore, DeletesOnlyWhatIsASessionsName) {
  const Store store(uri());
  for (const std::string_view id : {"", ".", "..", "../x", "a/b", "-rf", "a b"}) {
    const Outcome deletion = store.delete_session(id);
    EXPECT_EQ(deletion.status, VARVE_INVALID_ARGUMENT) << id;
    EXPECT_EQ(deletion.detail("member"), "id") << deletion;
    EXPECT_EQ(store.try_open_session(id).status, VARVE_INVALID_ARGUMENT) << id;
  }
  EXPECT_EQ(store.delete_session("never_there").status, VARVE_NOT_FOUND);
}

TEST_P(EveryStore, TellsItsFigures) {
  const Store store(uri());
  const json::object before = store.stats().object();
  EXPECT_EQ(missing_members(before, {"uri", "sessions_open", "entries", "lock_waits",
                                     "lock_timeouts", "commits", "entries_added", "entries_deleted",
                                     "bytes_written", "syncs", "index_rebuilds", "lines_skipped"}),
            std::vector<std::string>());
  EXPECT_EQ(before.at("uri").as_string(), uri());
  EXPECT_EQ(before.at("sessions_open"), 0);
  const Session session(store);
  ASSERT_TRUE(session.add(entry("a")).ok());
  ASSERT_TRUE(session.add_batch("[" + entry("b") + "," + entry("c") + "]").ok());
  ASSERT_TRUE(session.remove("a").ok());
  const json::object after = store.stats().object();
  EXPECT_EQ(after.at("sessions_open"), 1);
  EXPECT_EQ(after.at("entries"), 2);
  EXPECT_EQ(after.at("entries_added"), 3);
  EXPECT_EQ(after.at("entries_deleted"), 1);
  EXPECT_GE(after.at("commits").as_int64(), 3);
  EXPECT_GT(after.at("bytes_written").as_int64(), 0);
}

TEST_P(EveryStore, TellsMonitoringTheSameUnderDottedNamesAndAsText) {
  const Store store(uri());
  const Session session(store);
  ASSERT_TRUE(session.add(entry("a")).ok());
  ASSERT_TRUE(session.add_batch("[" + entry("b") + "," + entry("c") + "]").ok());
  ASSERT_TRUE(session.remove("a").ok());
  ASSERT_TRUE(session.get("b").ok());
  const json::object metrics = store.stats().object().at("metrics").as_object();
  EXPECT_EQ(metrics.at("memory.sessions.active"), 1);
  EXPECT_EQ(metrics.at("memory.sessions.total"), 1);
  EXPECT_EQ(metrics.at("memory.entries.total"), 2);
  EXPECT_GT(metrics.at("memory.size.bytes").as_int64(), 0);
  EXPECT_EQ(metrics.at("memory.operations.add.count"), 3);
  EXPECT_EQ(metrics.at("memory.operations.delete.count"), 1);
  EXPECT_EQ(metrics.at("memory.operations.get.count"), 1);
  EXPECT_EQ(metrics.at("memory.operations.write.duration_ms").at("count"), 3);
  EXPECT_EQ(
      missing_members(metrics, {"memory.operations.query.duration_ms", "memory.compaction.count",
                                "memory.locks.contention.count", "memory.errors.corruption.count"}),
      std::vector<std::string>());
  const auto text = store.metrics();
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text.text.find("\nvarve_entries_added_total{store=\"" + uri() + "\"} 3\n"),
            std::string::npos)
      << text.text;
}

TEST_P(EveryStore, SyncsWhateverTheDurability) {
  for (const char* durability : {"commit", "interval", "os"}) {
    const Store store(uri(), std::string(R"({"durability":")") + durability + R"("})");
    const Session session(store);
    ASSERT_TRUE(session.add(entry("")).ok());
    EXPECT_TRUE(store.sync().ok()) << durability;
    const json::object stats = session.stats().object();
    EXPECT_EQ(stats.at("durability").as_string(), durability);
    EXPECT_EQ(stats.at("durable_seq"), stats.at("last_seq")) << durability;
  }
}

TEST(StoreClose, MakesAnIntervalDurable) {
  const TempDirectory directory;
  {
    const Store store(
        directory.path(),
        R"({"durability":"interval","performance":{"batch_write_interval_ms":60000}})");
    ASSERT_TRUE(Session(store, R"({"session_id":"s"})").add(entry("a")).ok());
  }
  const Store store(directory.path());
  const Session session = Session::open(store, "s");
  EXPECT_TRUE(session.get("a").ok());
  EXPECT_EQ(session.stats().object().at("durable_seq"), 1);
}

TEST(StoreSessions, RescanFindsWhatWasCopiedIn) {
  const TempDirectory from;
  const TempDirectory to;
  {
    const Store store(from.path());
    ASSERT_TRUE(Session(store, R"({"session_id":"copied"})").add(entry("a")).ok());
  }
  const Store store(to.path());
  const Session session(store, R"({"session_id":"native"})");
  fs::copy(from.path() + "/sessions/copied", to.path() + "/sessions/copied",
           fs::copy_options::recursive);
  const auto ids = ids_of(store.sessions(R"({"rescan":true})").object());
  EXPECT_EQ(ids, (std::vector<std::string>{"native", "copied"}));
  EXPECT_TRUE(Session::open(store, "copied").get("a").ok());
}

TEST(StoreOpen, TwoStoresOfOneDirectorySeeEachOther) {
  const TempDirectory directory;
  const Store one(directory.path());
  const Store two(directory.path());
  const Session written(one, R"({"session_id":"s"})");
  const Session read = Session::open(two, "s");
  ASSERT_TRUE(written.add(entry("a")).ok());
  EXPECT_TRUE(read.get("a").ok());
  ASSERT_TRUE(read.add(entry("b")).ok());
  EXPECT_TRUE(written.get("b").ok());
  EXPECT_EQ(written.add(entry("b")).outcome.status, VARVE_ALREADY_EXISTS);
  ASSERT_TRUE(two.delete_session("s").ok());
  EXPECT_EQ(written.get("a").outcome.status, VARVE_NOT_FOUND);
}

}  // namespace
}  // namespace varve_test
