// Compaction, purge, migration and backup by real processes on real files, beside others that add,
// delete and read, killed at any moment and at every system call.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <sstream>

#include "capi/client.h"
#include "support/counted.h"
#include "writers.h"

namespace varve::crash {
namespace {

namespace fs = std::filesystem;
using varve_test::entry;
using varve_test::read_file;
using varve_test::Session;
using varve_test::Store;
using varve_test::TempDirectory;

constexpr const char* kUnlimited = R"({"version":"1.0","storage":{"max_session_size_mb":0}})";

varve_status_t purge(const Session& session) {
  return varve_session_purge(session.get(), nullptr, 0, nullptr, nullptr, nullptr);
}

// The ids of what a session shows, in order.
std::vector<std::string> ids_of(const Session& session) {
  std::vector<std::string> ids;
  std::istringstream lines(session.export_text("jsonl").text);
  for (std::string line; std::getline(lines, line);) {
    ids.emplace_back(varve_test::json::parse(line).at("id").as_string());
  }
  return ids;
}

// Which files of a directory hold a word, in any case.
std::string files_with(const std::string& directory, const std::string& word) {
  std::string found;
  for (const auto& item : fs::recursive_directory_iterator(directory)) {
    if (!item.is_regular_file()) continue;
    std::string bytes = read_file(item.path());
    std::transform(bytes.begin(), bytes.end(), bytes.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (bytes.find(word) != std::string::npos) found += item.path().string() + " ";
  }
  return found;
}

std::string temporary_files(const std::string& directory) {
  std::string found;
  for (const auto& item : fs::recursive_directory_iterator(directory)) {
    const std::string name = item.path().filename();
    if (name.find(".tmp-") != std::string::npos) found += item.path().string() + " ";
  }
  return found;
}

// A worker that runs until it is told to end, and is started again when it is killed.
class Steady {
 public:
  explicit Steady(std::vector<std::string> arguments) : arguments_(std::move(arguments)) {}

  void kill_and_restart() {
    process_.send(SIGKILL);
    EXPECT_EQ(process_.wait(), 128 + SIGKILL) << arguments_.front() << " had ended by itself";
    process_ = WorkerProcess(arguments_);
  }
  // What it counted since its last start.
  size_t end() {
    process_.close_input();
    std::string count = "0";
    EXPECT_TRUE(process_.read_line(&count)) << arguments_.front();
    EXPECT_EQ(process_.wait(), 0) << arguments_.front();
    return std::stoul(count);
  }

 private:
  const std::vector<std::string> arguments_;
  WorkerProcess process_{arguments_};
};

// Of each writer the even ones, once each and in order, and nothing else.
void expect_churned(const Session& session, const std::vector<Writer>& writers) {
  std::map<std::string, size_t> last;
  for (const std::string& id : ids_of(session)) {
    const size_t dash = id.rfind('-');
    size_t& number = last[id.substr(0, dash)];
    EXPECT_EQ(std::stoul(id.substr(dash + 1)), number + 2) << id;
    number += 2;
  }
  EXPECT_EQ(last.size(), writers.size());
  for (const Writer& writer : writers) EXPECT_EQ(last[writer.name()], writer.told());
  const auto report = session.verify();
  EXPECT_TRUE(report.object().at("ok").as_bool()) << report.text;
}

TEST(LifecycleProcesses, CompactedAndPurgedWhileOthersAddDeleteAndRead) {
  const TempDirectory directory;
  const std::string root = directory.path() + "/store";
  {
    const Store store(root);
    const Session session(store, R"({"session_id":"s"})");
  }
  varve_test::write_file(root + "/config.json", kUnlimited);
  const size_t steps = std::max<size_t>(40, adds_of_each() / 8 * 2);
  std::vector<Writer> writers;
  for (size_t i = 0; i < 4; ++i) {
    writers.emplace_back("churn", root, "w" + std::to_string(i), steps, i == 0 ? kCommit : kOs);
  }
  Steady maintainer({"maintain", root, "s", kOs});
  Steady reader({"survey", root, "s"});
  std::mt19937 random(11);
  size_t kills = 0;
  run_to_end(writers, 40, [&](const std::vector<Writer*>& active) {
    const size_t victim = random() % (active.size() + 2);
    if (victim == active.size()) {
      maintainer.kill_and_restart();
    } else if (victim > active.size()) {
      reader.kill_and_restart();
    } else if (active[victim]->is_done() || !active[victim]->kill()) {
      return;
    }
    kills += 1;
  });
  maintainer.end();
  reader.end();
  EXPECT_GT(kills, 0U);
  const Store store(root);
  const Session session = Session::open(store, "s");
  expect_churned(session, writers);
  EXPECT_EQ(purge(session), VARVE_OK);
  expect_churned(session, writers);
  EXPECT_EQ(files_with(root, "zebra"), "");
  EXPECT_EQ(temporary_files(root), "");
  const auto metadata = session.metadata().object();
  EXPECT_GT(metadata.at("compactions").as_array().size(), 3U);
  test::counted("kills", kills);
  test::counted("answered adds", told_by(writers));
}

// A reader that is stopped holds the old file open; nobody else can reach it any more.
TEST(LifecycleProcesses, AStoppedReaderGoesOnAfterAPurgeAndSeesNothingDeleted) {
  const TempDirectory directory;
  const std::string root = directory.path() + "/store";
  const Store store(root);
  const Session session(store, R"({"session_id":"s"})");
  for (const char* id : {"a-1", "a-2", "a-3"}) {
    ASSERT_TRUE(session.add(entry(id, id == std::string("a-1") ? "zebra" : "horse")).ok());
  }
  ASSERT_TRUE(session.sync().ok());
  WorkerProcess reader({"look", root, "s", "a-1"});
  std::string line;
  ASSERT_TRUE(reader.read_line(&line));
  ASSERT_EQ(line, "seen");
  reader.wait_until_stopped();
  const std::string folder = root + "/sessions/s/";
  varve_test::write_file(folder + "quarantine.jsonl", "a zebra that was damaged\n");
  varve_test::write_file(folder + "index.bin.tmp-0123456789abcdef", "zebra, left by the dead");
  ASSERT_TRUE(session.remove("a-1").ok());
  ASSERT_EQ(purge(session), VARVE_OK);
  EXPECT_EQ(files_with(root, "zebra"), "");
  reader.send(SIGCONT);
  EXPECT_EQ(reader.wait(), 0);
  EXPECT_EQ(files_with(root, "zebra"), "") << "its index was saved over the new one";
  EXPECT_EQ(ids_of(session), (std::vector<std::string>{"a-2", "a-3", "after-2"}));
  EXPECT_TRUE(session.verify().object().at("ok").as_bool());
}

TEST(LifecycleProcesses, WhatTwoDeleteAtOnceIsDeletedOnce) {
  const TempDirectory directory;
  const std::string root = directory.path() + "/store";
  const Store store(root, kOs);
  const Session session(store, R"({"session_id":"s","durability":"os"})");
  constexpr int kCount = 200;
  for (int i = 1; i <= kCount; ++i) {
    ASSERT_TRUE(session.add(entry("a-" + std::to_string(i))).ok());
  }
  std::vector<WorkerProcess> deleters;
  // Half of what they ask for is not there.
  const std::vector<std::string> arguments{"delete", root, "s",
                                           "a",      "1",  std::to_string(2 * kCount)};
  for (int i = 0; i < 3; ++i) deleters.emplace_back(arguments);
  int deleted = 0;
  for (WorkerProcess& deleter : deleters) {
    std::string count = "0";
    EXPECT_TRUE(deleter.read_line(&count));
    deleted += std::stoi(count);
    EXPECT_EQ(deleter.wait(), 0);
  }
  EXPECT_EQ(deleted, kCount);
  const std::string tombstones = read_file(root + "/sessions/s/tombstones.jsonl");
  EXPECT_EQ(std::count(tombstones.begin(), tombstones.end(), '\n'), kCount);
  EXPECT_TRUE(ids_of(session).empty());
  EXPECT_EQ(session.remove("a-1").status, VARVE_NOT_FOUND);
  EXPECT_EQ(purge(session), VARVE_OK);
  EXPECT_EQ(session.remove("a-1").status, VARVE_NOT_FOUND);
  EXPECT_EQ(session.add(entry("a-1")).outcome.status, VARVE_ALREADY_EXISTS);
}

// --- killed at every system call -----------------------------------------------------------------

struct Operation {
  const char* name;
  bool is_of_version_0 = false;
};
void PrintTo(const Operation& operation, std::ostream* out) { *out << operation.name; }

class KilledAtEveryCall : public testing::TestWithParam<Operation> {
 protected:
  // Of a1, a2, a3 (zebra) and a4 (zebra), the last two are deleted.
  void prepare() const {
    const Store store(origin_, kOs);
    const Session session(store, R"({"session_id":"s"})");
    for (const char* id : {"a1", "a2"}) ASSERT_TRUE(session.add(entry(id, "horse")).ok());
    for (const char* id : {"a3", "a4"}) ASSERT_TRUE(session.add(entry(id, "zebra")).ok());
    if (GetParam().is_of_version_0) return write_version_0();
    ASSERT_TRUE(session.sync().ok());
    ASSERT_TRUE(session.remove("a3").ok());
    ASSERT_TRUE(session.remove("a4").ok());
  }
  void write_version_0() const {
    const std::string session = origin_ + "/sessions/s";
    fs::remove(session + "/index.bin");
    fs::remove(session + "/lock");
    std::string log;
    for (const std::string id : {"a1", "a2", "a3", "a4"}) {
      log += R"({"id":")" + id + R"(","timestamp":"2026-01-01T00:00:00Z","type":"finding",)" +
             R"("content":")" + (id < "a3" ? "horse" : "zebra") + "\"}\n";
    }
    varve_test::write_file(session + "/memory.jsonl", log);
    varve_test::write_file(session + "/metadata.json",
                           R"({"session_id":"s","created_at":"2026-01-01T00:00:00Z"})");
    varve_test::write_file(session + "/tombstones.jsonl",
                           R"({"id":"a3","timestamp":"2026-01-01T00:00:01Z"})"
                           "\n"
                           R"({"id":"a4","timestamp":"2026-01-01T00:00:01Z"})"
                           "\n");
  }
  [[nodiscard]] bool can_trace() const {
    if (std::system("command -v strace >/dev/null") != 0) return false;
    WorkerProcess probe({"delete", origin_, "s", "none", "1", "1"},
                        {"strace", "-qq", "-o", "/dev/null", "-E", "ASAN_OPTIONS=detect_leaks=0"});
    return probe.wait() == 0;
  }
  // Exit code of the operation on a copy of the store, killed at the `number`-th `call`.
  int run(const std::string& call, int number) const {
    fs::remove_all(root_);
    fs::remove_all(copy_);
    fs::copy(origin_, root_, fs::copy_options::recursive);
    const std::string inject = "inject=" + call + ":signal=KILL:when=" + std::to_string(number);
    WorkerProcess worker({"once", root_, "s", GetParam().name, copy_},
                         {"strace", "-qq", "-o", "/dev/null", "-E", "ASAN_OPTIONS=detect_leaks=0",
                          "-e", "trace=" + call, "-e", inject});
    return worker.wait();
  }
  void expect_sound(const std::string& root) const {
    const Store store(root);
    const Session session = Session::open(store, "s");
    EXPECT_EQ(ids_of(session), (std::vector<std::string>{"a1", "a2"}));
    EXPECT_TRUE(session.verify().object().at("ok").as_bool()) << session.verify().text;
    EXPECT_TRUE(session.add(entry("later")).ok());
    EXPECT_EQ(session.add(entry("a3")).outcome.status, VARVE_ALREADY_EXISTS);
    EXPECT_EQ(temporary_files(root + "/sessions"), "");
    EXPECT_EQ(purge(session), VARVE_OK);
    EXPECT_EQ(files_with(root, "zebra"), "");
    EXPECT_EQ(ids_of(session), (std::vector<std::string>{"a1", "a2", "later"}));
  }

  const TempDirectory directory_;
  const std::string origin_ = directory_.path() + "/origin";
  const std::string root_ = directory_.path() + "/store";
  const std::string copy_ = directory_.path() + "/copy";
};

// The calls that change something, or decide whether something is changed.
constexpr const char* kCalls[] = {"write",     "pwrite64", "fdatasync", "fsync",
                                  "rename",    "renameat", "renameat2", "unlinkat",
                                  "ftruncate", "mkdirat",  "fchmod",    "fcntl"};

TEST_P(KilledAtEveryCall, NothingIsLostAndNothingComesBack) {
  prepare();
  if (!can_trace()) GTEST_SKIP() << "strace is not there, or may not trace";
  size_t kills = 0;
  for (const std::string call : kCalls) {
    for (int number = 1;; ++number) {
      const int code = run(call, number);
      SCOPED_TRACE("killed at " + call + " " + std::to_string(number));
      if (code == 0) break;
      ASSERT_EQ(code, 128 + SIGKILL);
      kills += 1;
      expect_sound(root_);
      if (fs::exists(copy_ + "/sessions/s")) expect_sound(copy_);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(kills, 10U);
  test::counted("kills", kills);
}

INSTANTIATE_TEST_SUITE_P(All, KilledAtEveryCall,
                         testing::Values(Operation{"compact"}, Operation{"purge"},
                                         Operation{"migrate", true}, Operation{"backup"}),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace varve::crash
