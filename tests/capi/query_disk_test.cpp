// Queries on what lies on disk: other writers, repair, damaged indexes, changed settings.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <varve/varve.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "client.h"

namespace varve_test {
namespace {

namespace fs = std::filesystem;

void add_teas(const Session& session, int count) {
  std::string batch;
  for (int i = 0; i < count; ++i) {
    batch += (i > 0 ? "," : "[") +
             (R"({"id":"e)" + std::to_string(i) + R"(","type":"finding","content":"tea number)" +
              std::to_string(i) + R"(","tags":["drinks.t)" + std::to_string(i % 3) + R"("]})");
  }
  ASSERT_TRUE(session.add_batch(batch + "]").ok());
}

uint64_t rebuilds(const Store& store) {
  return store.stats().object().at("index_rebuilds").to_number<uint64_t>();
}

TEST(QueryOnDisk, FindsTheSameAfterReopening) {
  const TempDirectory directory;
  const std::string queries[] = {R"({"text":"number3 tea","now":"2026-01-10T12:00:00Z"})",
                                 R"({"tags":{"include":["drinks.t1"]},"sort_by":"time"})",
                                 R"({"text":"\"tea number7\""})", R"({"text":"numb*4"})"};
  std::vector<std::string> before;
  {
    const Store store(directory.path());
    const Session session(store, R"({"session_id":"s"})");
    add_teas(session, 50);
    for (const auto& query : queries) before.push_back(session.query(query).ids());
  }
  const Store store(directory.path());
  const Session session = Session::open(store, "s");
  for (size_t i = 0; i < std::size(queries); ++i) {
    EXPECT_EQ(session.query(queries[i]).ids(), before[i]) << queries[i];
  }
  EXPECT_EQ(rebuilds(store), 0u) << "index.bin has all of it";
}

TEST(QueryOnDisk, ADamagedIndexCostsARebuildAndTheAnswerIsRight) {
  const TempDirectory directory;
  {
    const Store store(directory.path());
    const Session session(store, R"({"session_id":"s"})");
    add_teas(session, 400);
    ASSERT_TRUE(session.query(R"({"text":"tea"})").ok());
  }
  const std::string file = directory.path() + "/sessions/s/index.bin";
  const std::string whole = read_file(file);
  uint64_t rebuilt = 0;
  for (size_t step = 0; step < 80; ++step) {
    const size_t at = step == 79 ? whole.size() - 1 : whole.size() * step / 79;
    SCOPED_TRACE("byte " + std::to_string(at) + " of " + std::to_string(whole.size()));
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    write_file(file, damaged);
    const Store store(directory.path());
    const Session session = Session::open(store, "s");
    EXPECT_EQ(session.count(R"({"tags":{"include":["drinks.t1"]}})").count, 133u);
    EXPECT_EQ(session.count(R"({"text":"tea"})").count, 400u);
    EXPECT_EQ(session.query(R"({"text":"number123","sort_by":"match"})").ids(), "e123");
    rebuilt += rebuilds(store);
  }
  EXPECT_GT(rebuilt, 40u) << "the damage was met";
}

TEST(QueryOnDisk, AnIndexCutShortOrMissingToo) {
  const TempDirectory directory;
  {
    const Store store(directory.path());
    add_teas(Session(store, R"({"session_id":"s"})"), 30);
  }
  const std::string file = directory.path() + "/sessions/s/index.bin";
  const std::string whole = read_file(file);
  for (const size_t size : {size_t{0}, size_t{1}, whole.size() / 2, whole.size() - 1}) {
    write_file(file, whole.substr(0, size));
    const Store store(directory.path());
    const Session session = Session::open(store, "s");
    EXPECT_EQ(session.query(R"({"text":"number29","sort_by":"match"})").ids(), "e29") << size;
  }
  fs::remove(file);
  const Store store(directory.path());
  EXPECT_EQ(Session::open(store, "s").count(R"({"text":"tea"})").count, 30u);
}

TEST(QueryOnDisk, AnotherStoresAppendsAndDeletionsAreSeenAtOnce) {
  const TempDirectory directory;
  const Store one(directory.path());
  const Store two(directory.path());
  const Session writer(one, R"({"session_id":"s"})");
  const Session reader = Session::open(two, "s");
  EXPECT_EQ(reader.query(R"({"text":"tea"})").count(), 0u);
  for (int i = 0; i < 20; ++i) {
    const std::string id = "e" + std::to_string(i);
    ASSERT_TRUE(writer.add(entry(id, "tea number" + std::to_string(i))).ok());
    EXPECT_EQ(reader.count(R"({"text":"tea"})").count, static_cast<uint64_t>(i) + 1);
    EXPECT_EQ(
        reader.query(R"({"text":"+number)" + std::to_string(i) + R"(","sort_by":"match"})").ids(),
        id);
  }
  ASSERT_TRUE(reader.remove_where(R"({"text":"number3"})").outcome.ok());
  EXPECT_EQ(writer.count(R"({"text":"tea"})").count, 19u);
  EXPECT_EQ(writer.query(R"({"ids":["e3"]})").count(), 0u);
}

TEST(QueryOnDisk, EntriesDeletedWhileQueriesRunAreNeverHalfThere) {
  const Store store;
  const Session session(store);
  add_teas(session, 300);
  std::atomic<bool> done{false};
  std::thread remover([&] {
    for (int i = 0; i < 300; ++i) EXPECT_TRUE(session.remove("e" + std::to_string(i)).ok());
    done = true;
  });
  while (!done) {
    const Results results = session.query(R"({"text":"tea","limit":1000})");
    EXPECT_TRUE(results.ok()) << results.outcome();
    for (const json::value& one : results.list()) {
      EXPECT_EQ(one.at("entry").at("content").as_string().subview(0, 4), "tea ");
    }
  }
  remover.join();
  EXPECT_EQ(session.query(R"({"text":"tea"})").count(), 0u);
}

TEST(QueryOnDisk, WhileAnotherHandleReplacesTheLogByRepair) {
  const TempDirectory directory;
  const Store one(directory.path());
  const Session writer(one, R"({"session_id":"s"})");
  add_teas(writer, 60);
  const Store two(directory.path());
  const Session reader = Session::open(two, "s");
  ASSERT_EQ(reader.count(R"({"text":"tea"})").count, 60u);
  std::atomic<bool> done{false};
  std::thread repairer([&] {
    for (int i = 0; i < 15; ++i) {
      EXPECT_TRUE(writer.repair().ok());
      EXPECT_TRUE(writer.add(entry("", "milk")).ok());
      EXPECT_TRUE(writer.rebuild_index().ok());
    }
    done = true;
  });
  while (!done) {
    const Results results = reader.query(R"({"text":"+\"tea number7\"","sort_by":"match"})");
    EXPECT_EQ(results.ok() ? results.ids() : "e7", "e7");
    EXPECT_TRUE(results.ok() || results.outcome().status == VARVE_BUSY) << results.outcome();
    const Count count = reader.count(R"({"text":"tea","tags":{"include":["drinks"]}})");
    EXPECT_EQ(count.outcome.ok() ? count.count : 60u, 60u);
  }
  repairer.join();
  EXPECT_EQ(reader.count(R"({"text":"milk"})").count, 15u);
}

TEST(QueryOnDisk, ADamagedLineIsLeftOutAndRepairedAway) {
  const TempDirectory directory;
  const std::string log = directory.path() + "/sessions/s/memory.jsonl";
  {
    const Store store(directory.path());
    add_teas(Session(store, R"({"session_id":"s"})"), 10);
  }
  std::string text = read_file(log);
  text[text.find("number4")] = 'N';
  write_file(log, text);
  const Store store(directory.path());
  const Session session = Session::open(store, "s");
  const Results results = session.query(R"({"text":"tea","limit":100})");
  ASSERT_TRUE(results.ok()) << results.outcome();
  EXPECT_EQ(results.count(), 9u);
  EXPECT_EQ((" " + results.ids() + " ").find(" e4 "), std::string::npos);
  ASSERT_TRUE(session.repair().ok());
  EXPECT_EQ(session.query(R"({"text":"tea"})").count(), 9u);
  EXPECT_EQ(session.count(R"({"text":"tea"})").count, 9u);
}

// 0 when a process that may not write finds what is there.
int search_without_privilege(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(255);
    const Store store(path);
    const Session session = Session::open(store, "s");
    if (session.query(R"({"text":"number4","sort_by":"match"})").ids() != "e4") ::_exit(1);
    if (session.count(R"({"tags":{"include":["drinks"]}})").count != 10) ::_exit(2);
    if (store.query(R"({"text":"\"tea number5\""})").ids() != "e5") ::_exit(3);
    if (session.remove_where("{}").outcome.status != VARVE_READ_ONLY) ::_exit(4);
    ::_exit(0);
  }
  int state = 0;
  EXPECT_EQ(::waitpid(child, &state, 0), child);
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

TEST(QueryOnDisk, ReadOnlyDirectoriesAreSearchedAndNotWritten) {
  const TempDirectory directory;
  {
    const Store store(directory.path());
    add_teas(Session(store, R"({"session_id":"s"})"), 10);
  }
  const std::string place = directory.path() + "/sessions/s";
  for (const bool has_index : {true, false}) {
    if (!has_index) fs::remove(place + "/index.bin");
    std::vector<fs::path> all = {directory.path()};
    for (const auto& file : fs::recursive_directory_iterator(directory.path())) {
      all.push_back(file.path());
    }
    for (const auto& path : all) {
      fs::permissions(path, fs::is_directory(path) ? fs::perms(0555) : fs::perms(0444));
    }
    EXPECT_EQ(search_without_privilege(directory.path()), 0) << has_index;
    EXPECT_EQ(fs::exists(place + "/index.bin"), has_index);
    for (const auto& path : all) fs::permissions(path, fs::perms::owner_all);
  }
}

TEST(QueryOnDisk, ChangedSettingsOfWordsBetweenOpens) {
  const TempDirectory directory;
  const auto found = [&](std::string_view config, std::string_view text) {
    const Store store(directory.path(), config);
    const Session session = Session::open(store, "s");
    const std::string ids =
        session.query(R"({"sort_by":"time","order":"asc","text":")" + std::string(text) + R"("})")
            .ids();
    EXPECT_EQ(rebuilds(store), 0u);
    return ids;
  };
  {
    const Store store(directory.path());
    const Session session(store, R"({"session_id":"s"})");
    ASSERT_TRUE(session.add(entry("a", "running dogs")).ok());
    ASSERT_TRUE(session.add(entry("b", "le cheval mangeait")).ok());
    ASSERT_TRUE(session.add(entry("c", "the end of it")).ok());
  }
  constexpr const char* kNone = R"({"text":{"language":"none"}})";
  constexpr const char* kFrench = R"({"text":{"language":"fr"}})";
  constexpr const char* kOwn = R"({"text":{"language":"none","stop_words":["dogs"]}})";
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(found("", "runs"), "a");
    EXPECT_EQ(found("", "the end"), "c");
    EXPECT_EQ(found(kNone, "runs"), "");
    EXPECT_EQ(found(kNone, "running"), "a");
    EXPECT_EQ(found(kFrench, "manger"), "b");
    EXPECT_EQ(found(kOwn, "running dogs"), "a");
    EXPECT_EQ(found(kOwn, "dogs"), "a") << "stop words count where there is nothing else";
    EXPECT_EQ(found(kOwn, "dogs end"), "c");
  }
}

TEST(QueryOnDisk, MemoryGrowsWithTheWords) {
  const Store store;
  const Session few(store);
  const Session many(store);
  const auto memory_bytes = [](const Session& session) {
    return session.stats().object().at("memory_bytes").to_number<uint64_t>();
  };
  for (int i = 0; i < 40; ++i) {
    std::string text;
    for (int word = 0; word < 300; ++word) text += " w" + std::to_string(i * 300 + word);
    ASSERT_TRUE(many.add(entry("", text)).ok());
    ASSERT_TRUE(few.add(entry("", "tea")).ok());
  }
  ASSERT_TRUE(few.query(R"({"text":"tea"})").ok());
  ASSERT_TRUE(many.query(R"({"text":"tea"})").ok());
  // Of each at least two characters that it does not share with the word before, its key, its list.
  EXPECT_GT(memory_bytes(many), memory_bytes(few) + 12'000 * 6);
}

TEST(QueryOnDisk, ASessionsOwnDecayCounts) {
  const Store store("memory:", R"({"decay":{"half_life_hours":100}})");
  const Session own(store, R"({"session_id":"own","decay_config":{"half_life_hours":10}})");
  const Session common(store, R"({"session_id":"common"})");
  for (const Session* session : {&own, &common}) {
    ASSERT_TRUE(session
                    ->add(R"({"type":"message","content":1,"importance":1,
                              "timestamp":"2026-01-01T00:00:00Z"})")
                    .ok());
  }
  const auto decay = [](const Session& session) {
    return session.query(R"({"now":"2026-01-02T06:00:00Z"})")
        .list()
        .at(0)
        .at("decay_factor")
        .to_number<double>();
  };
  EXPECT_NEAR(decay(own), 0.125, 1e-12);
  EXPECT_NEAR(decay(common), 0.8122523963562356, 1e-12);
}

}  // namespace
}  // namespace varve_test
