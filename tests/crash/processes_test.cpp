// Real processes on real files: many writers, readers, and processes that are killed or stopped.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "capi/client.h"
#include "support/counted.h"
#include "writers.h"

namespace varve::crash {
namespace {

using varve_test::entry;
using varve_test::Session;
using varve_test::Store;
using varve_test::TempDirectory;

constexpr const char* kHasty = R"({"concurrency":{"lock_timeout_ms":50}})";
constexpr int kNotFoundExit = 10 + VARVE_NOT_FOUND;

// Each writer's entries, exactly once and in order, and nothing else; and verify finds no fault.
void expect_all_there(const std::string& root, const std::vector<Writer>& writers) {
  const Store store(root);
  const Session session = Session::open(store, "s");
  std::map<std::string, size_t> counts;
  std::istringstream lines(session.export_text("jsonl").text);
  for (std::string line; std::getline(lines, line);) {
    const std::string id(varve_test::json::parse(line).at("id").as_string());
    const size_t dash = id.rfind('-');
    const size_t number = std::stoul(id.substr(dash + 1));
    EXPECT_EQ(number, ++counts[id.substr(0, dash)]) << id;
  }
  EXPECT_EQ(counts.size(), writers.size());
  for (const Writer& writer : writers) EXPECT_EQ(counts[writer.name()], writer.told());
  const auto report = session.verify();
  EXPECT_TRUE(report.object().at("ok").as_bool()) << report.text;
}

TEST(Processes, EightWritersWithAReaderAndAKiller) {
  const TempDirectory directory;
  const std::string root = directory.path() + "/store";
  {
    const Store store(root, R"({"storage":{"max_session_size_mb":0}})");
    const Session session(store, R"({"session_id":"s"})");
  }
  std::ofstream(root + "/config.json")
      << R"({"version":"1.0","storage":{"max_session_size_mb":0}})";
  const size_t adds = adds_of_each();
  std::vector<Writer> writers;
  for (size_t i = 0; i < 8; ++i) {
    writers.emplace_back("add", root, "w" + std::to_string(i), adds, i < 2 ? kCommit : kOs);
  }
  WorkerProcess reader({"read", root, "s"});
  std::mt19937 random(7);
  size_t kills = 0;
  run_to_end(writers, 100, [&](const std::vector<Writer*>& active) {
    Writer& victim = *active[random() % active.size()];
    if (!victim.is_done() && victim.kill()) kills += 1;
  });
  reader.close_input();
  std::string exports;
  EXPECT_TRUE(reader.read_line(&exports));
  EXPECT_EQ(reader.wait(), 0);
  EXPECT_GT(kills, 0U);
  test::counted("kills", kills);
  test::counted("answered adds", told_by(writers));
  test::counted("exports", std::stoul(exports));
  expect_all_there(root, writers);
}

// Writers of a small store, killed as often as they get something done: what a kill costs is then
// mostly the kill. One in four does not wait for that, and meets who just opens.
void expect_round(size_t round, size_t* kills, size_t* adds) {
  const TempDirectory directory;
  const std::string root = directory.path() + "/store";
  {
    const Store store(root);
    const Session session(store, R"({"session_id":"s"})");
  }
  constexpr size_t kAddsOfEach = 200;
  std::vector<Writer> writers;
  for (size_t i = 0; i < 4; ++i) {
    const char* config = i < 2 ? kOs : kCommit;
    writers.emplace_back(i % 2 == 0 ? "add" : "batch", root, "w" + std::to_string(i), kAddsOfEach,
                         config);
  }
  std::mt19937 random(static_cast<unsigned>(round));
  run_to_end(writers, 1, [&](const std::vector<Writer*>& active) {
    Writer& victim = *active[random() % active.size()];
    if (victim.is_done() || (!victim.has_told_since_start() && random() % 4 != 0)) return;
    if (victim.kill()) *kills += 1;
  });
  *adds += told_by(writers);
  expect_all_there(root, writers);
}

class SmallStores : public testing::TestWithParam<size_t> {};  // parts, which may run in parallel

TEST_P(SmallStores, KeepWhatWasAnsweredToTheKilled) {
  size_t kills = 0;
  size_t adds = 0;
  // A round may be over before anybody was killed: there is another one then.
  constexpr size_t kRoundsMax = 50;
  for (size_t round = 0; round < rounds() || (kills == 0 && round < kRoundsMax); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    if (HasFailure()) break;
    expect_round(round * 4 + GetParam(), &kills, &adds);
  }
  EXPECT_GT(kills, 0U);
  test::counted("kills", kills);
  test::counted("answered adds", adds);
}
INSTANTIATE_TEST_SUITE_P(All, SmallStores, testing::Range<size_t>(0, 4));

// A session "s" with one entry, in a directory of its own.
class HeldLock : public testing::Test {
 protected:
  HeldLock() : root_(directory_.path() + "/store"), store_(root_, kHasty) {}

  [[nodiscard]] std::string lock_file() const { return root_ + "/sessions/s/lock"; }
  static void wait_until_held(WorkerProcess& holder) {
    std::string line;
    ASSERT_TRUE(holder.read_line(&line));
    ASSERT_EQ(line, "held");
    holder.wait_until_stopped();
  }

  const TempDirectory directory_;
  const std::string root_;
  const Store store_;
  const Session session_{store_, R"({"session_id":"s"})"};
};

TEST_F(HeldLock, StoppedHolderIsWaitedForAndNeverRobbed) {
  ASSERT_TRUE(session_.add(entry("a")).ok());
  WorkerProcess holder({"hold", lock_file()});
  wait_until_held(holder);
  for (int attempt = 0; attempt < 3; ++attempt) {
    EXPECT_EQ(session_.add(entry("b")).outcome.status, VARVE_BUSY);
  }
  EXPECT_EQ(session_.remove("a").status, VARVE_BUSY);
  EXPECT_EQ(session_.update(R"({"title":"t"})").status, VARVE_BUSY);
  EXPECT_EQ(session_.repair().outcome.status, VARVE_BUSY);
  EXPECT_EQ(store_.delete_session("s").status, VARVE_BUSY);
  EXPECT_TRUE(session_.get("a").ok());  // readers take no lock
  EXPECT_TRUE(session_.verify().ok());
  EXPECT_EQ(session_.get("b").outcome.status, VARVE_NOT_FOUND);
  const Store second(root_, kHasty);  // nor does whoever opens
  EXPECT_TRUE(Session::open(second, "s").get("a").ok());
  holder.send(SIGCONT);
  EXPECT_EQ(holder.wait(), 0);
  EXPECT_TRUE(session_.add(entry("b")).ok());
  EXPECT_TRUE(session_.remove("a").ok());
}

TEST_F(HeldLock, KilledHolderFreesItAtOnce) {
  WorkerProcess holder({"hold", lock_file()});
  wait_until_held(holder);
  EXPECT_EQ(session_.add(entry("a")).outcome.status, VARVE_BUSY);
  holder.send(SIGKILL);
  EXPECT_EQ(holder.wait(), 128 + SIGKILL);
  EXPECT_TRUE(session_.add(entry("a")).ok());
}

// An administrator's tidy hand: the lock file goes while somebody holds it. Whoever comes later
// makes another one; the session and its entries are not affected.
TEST_F(HeldLock, RemovedLockFileIsMadeAnew) {
  ASSERT_TRUE(session_.add(entry("a")).ok());
  std::filesystem::remove(lock_file());
  EXPECT_TRUE(session_.add(entry("b")).ok());
  EXPECT_TRUE(std::filesystem::exists(lock_file()));
  WorkerProcess holder({"hold", lock_file()});
  wait_until_held(holder);
  EXPECT_EQ(session_.add(entry("c")).outcome.status, VARVE_BUSY);
  holder.send(SIGCONT);
  EXPECT_EQ(holder.wait(), 0);
  EXPECT_TRUE(session_.add(entry("c")).ok());
}

TEST(Processes, TwoHandlesInOneProcessTakeTurns) {
  const TempDirectory directory;
  const Store one(directory.path(), kOs);
  const Store two(directory.path(), kOs);
  const Session first(one, R"({"session_id":"s"})");
  const Session second = Session::open(two, "s");
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(first.add(entry("a" + std::to_string(i))).ok());
    ASSERT_TRUE(second.get("a" + std::to_string(i)).ok());
    ASSERT_TRUE(second.add(entry("b" + std::to_string(i))).ok());
    ASSERT_TRUE(first.remove("b" + std::to_string(i)).ok());
    ASSERT_EQ(second.get("b" + std::to_string(i)).outcome.status, VARVE_NOT_FOUND);
  }
  EXPECT_TRUE(first.verify().object().at("ok").as_bool());
}

// What a broken program might do: a line that is no entry, appended under the lock.
void append_garbage(const std::string& session_directory) {
  const int lock = ::open((session_directory + "/lock").c_str(), O_RDWR | O_CLOEXEC);
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_len = 1;
  ASSERT_GE(lock, 0);
  ASSERT_EQ(::fcntl(lock, F_OFD_SETLKW, &range), 0);
  std::ofstream(session_directory + "/memory.jsonl", std::ios::app) << "{\"what\":\"is this\"}\n";
  ::close(lock);
}

TEST(Processes, RepairReplacesTheLogWhileOthersAdd) {
  const TempDirectory directory;
  const std::string root = directory.path() + "/store";
  const Store store(root, kOs);
  const Session session(store, R"({"session_id":"s"})");
  std::vector<Writer> writers;
  for (const char* name : {"x", "y"}) {
    writers.emplace_back("add", root, name, std::max<size_t>(adds_of_each() / 2, 500), kOs);
  }
  WorkerProcess reader({"read", root, "s"});
  size_t repairs = 0;
  // Without a pause: on a fast machine the writers are done before one has passed.
  run_to_end(writers, 0, [&](const std::vector<Writer*>&) {
    append_garbage(root + "/sessions/s");
    const auto report = session.repair();
    ASSERT_TRUE(report.ok()) << report.outcome;
    if (report.object().at("changed").as_bool()) repairs += 1;
  });
  reader.close_input();
  EXPECT_EQ(reader.wait(), 0);
  EXPECT_GT(repairs, 0U);
  ASSERT_TRUE(session.repair().ok());
  expect_all_there(root, writers);
}

TEST(Processes, SessionDeletedWhileOthersAdd) {
  const TempDirectory directory;
  const std::string root = directory.path() + "/store";
  const Store store(root, kOs);
  { const Session session(store, R"({"session_id":"s"})"); }
  std::vector<WorkerProcess> writers;
  for (const char* name : {"x", "y"}) {
    writers.emplace_back(std::vector<std::string>{"add", root, "s", name, "1", "1000000", kOs});
  }
  std::string line;
  for (WorkerProcess& writer : writers) ASSERT_TRUE(writer.read_line(&line));
  const auto deleted = store.delete_session("s");
  EXPECT_TRUE(deleted.ok()) << deleted;
  for (WorkerProcess& writer : writers) {
    std::vector<std::string> lines;
    while (writer.read_lines(&lines)) lines.clear();
    EXPECT_EQ(writer.wait(), kNotFoundExit);
  }
  EXPECT_FALSE(std::filesystem::exists(root + "/sessions/s"));
  EXPECT_TRUE(std::filesystem::is_empty(root + "/tmp"));
  EXPECT_TRUE(store.sessions().object().at("sessions").as_array().empty());
  const Session again(store, R"({"session_id":"s"})");
  EXPECT_TRUE(again.add(entry("x-1")).ok());
  EXPECT_EQ(again.stats().object().at("entries").to_number<int>(), 1);
}

}  // namespace
}  // namespace varve::crash
