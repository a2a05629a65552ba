// Backups by real processes on real files, killed over and over while others add and delete.
#include <gtest/gtest.h>
#include <signal.h>

#include <map>
#include <sstream>
#include <string>

#include "capi/client.h"
#include "support/counted.h"
#include "worker_process.h"

namespace varve::crash {
namespace {

using varve_test::entry;
using varve_test::Session;
using varve_test::Store;
using varve_test::TempDirectory;

constexpr const char* kOs = R"({"durability":"os","storage":{"max_session_size_mb":0},)"
                            R"("concurrency":{"lock_timeout_ms":60000}})";

// What a store's session shows: how many of the writer's entries, which are 1, 2, 3 ... without a
// gap, and whether each of the others is there.
struct Shown {
  size_t count = 0;
  std::map<std::string, bool> others;
};

Shown shown_by(const std::string& root) {
  const Store store(root);
  const Session session = Session::open(store, "s");
  Shown shown;
  std::istringstream lines(session.export_text("jsonl").text);
  for (std::string line; std::getline(lines, line);) {
    const std::string id(varve_test::json::parse(line).at("id").as_string());
    if (id.starts_with("x-")) {
      EXPECT_EQ(std::stoul(id.substr(2)), ++shown.count) << id;
    } else {
      shown.others[id] = true;
    }
  }
  EXPECT_EQ(session.verify().object().at("damaged").to_number<int>(), 0);
  return shown;
}

size_t last_told(WorkerProcess& writer) {
  std::string line;
  EXPECT_TRUE(writer.read_line(&line));
  return std::stoul(line.substr(2));
}

TEST(BackupProcesses, KilledOverAndOverEachLeavesAWholeCopy) {
  const TempDirectory directory;
  const std::string root = directory.path() + "/store";
  const std::string copy = directory.path() + "/copy";
  const Store store(root, kOs);
  const Session session(store, R"({"session_id":"s"})");
  WorkerProcess writer({"add", root, "s", "x", "1", "1000000", kOs});
  constexpr int kRounds = 16;
  for (int round = 0; round < kRounds; ++round) {
    const std::string own = "own-" + std::to_string(round);
    ASSERT_TRUE(session.add(entry(own)).ok());
    if (round > 0) {
      ASSERT_TRUE(session.remove("own-" + std::to_string(round - 1)).ok());
    }
    const size_t told = last_told(writer);
    ASSERT_EQ(varve_store_backup(store.get(), copy.data(), copy.size(), nullptr, 0, nullptr,
                                 nullptr, nullptr),
              VARVE_OK);
    // Without it all is copied whole.
    if (round % 2 == 1) varve_test::write_file(copy + "/backup.json", "{}");
    WorkerProcess backup({"backup", root, copy});
    std::string line;
    for (int i = 0; i < round % 4; ++i) ASSERT_TRUE(backup.read_line(&line));
    backup.send(SIGKILL);
    EXPECT_EQ(backup.wait(), 128 + SIGKILL);
    const Shown shown = shown_by(copy);
    EXPECT_GE(shown.count, told) << "in round " << round;
    EXPECT_TRUE(shown.others.contains(own)) << "in round " << round;
    EXPECT_EQ(shown.others.size(), 1U) << "what was deleted is back, in round " << round;
  }
  writer.send(SIGKILL);
  EXPECT_EQ(writer.wait(), 128 + SIGKILL);
  test::counted("kills", kRounds + 1);
  ASSERT_EQ(varve_store_backup(store.get(), copy.data(), copy.size(), nullptr, 0, nullptr, nullptr,
                               nullptr),
            VARVE_OK);
  EXPECT_EQ(shown_by(copy).count, shown_by(root).count);
}

}  // namespace
}  // namespace varve::crash
