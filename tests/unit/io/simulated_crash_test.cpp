// What a simulated power loss may and may not leave.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/simulated.h"

namespace varve::io {
namespace {

class SimulatedCrash : public testing::Test {
 protected:
  void SetUp() override { root_ = *disk_.open_root("store", true); }

  std::unique_ptr<File> durable_file(std::string_view name, std::string_view bytes) {
    disk_.write_file("store/" + std::string(name), bytes);
    return *root_->open(name, OpenMode::kAppend);
  }
  // "log=abc other=" for every possible state.
  std::set<std::string> states(size_t limit = 100'000, uint64_t seed = 1) const {
    std::set<std::string> found;
    disk_.for_each_crash_state([&](std::unique_ptr<SimulatedFileSystem> state,
                                   const CrashPlan&) { found.insert(text_of(*state)); },
                               limit, seed);
    return found;
  }
  static std::string text_of(const SimulatedFileSystem& state) {
    std::string text;
    for (const std::string& path : state.list_all()) {
      if (path.ends_with('/')) continue;
      text += (text.empty() ? "" : " ") + path.substr(path.rfind('/') + 1) + "=" +
              state.read_file(path).value_or("?");
    }
    return text;
  }

  SimulatedFileSystem disk_;
  std::unique_ptr<Directory> root_;
};

TEST_F(SimulatedCrash, AnUnsyncedAppendMayBeLostAndASyncedOneNot) {
  auto log = durable_file("log", "");
  ASSERT_TRUE(log->append("1").ok());
  EXPECT_EQ(disk_.crash()->read_file("store/log"), "");
  EXPECT_EQ(disk_.crash(disk_.keep_all())->read_file("store/log"), "1");
  ASSERT_TRUE(log->sync_data().ok());
  EXPECT_TRUE(disk_.pending().empty());
  EXPECT_EQ(states(), std::set<std::string>{"log=1"});
}

TEST_F(SimulatedCrash, ANewFileNeedsItsDirectorySyncedAndItsDataToo) {
  auto log = *root_->open("log", OpenMode::kAppendOrCreate);
  ASSERT_TRUE(log->append("1").ok());
  EXPECT_TRUE(states().contains("")) << "neither";
  ASSERT_TRUE(log->sync_data().ok());
  EXPECT_EQ(states(), (std::set<std::string>{"", "log=1"})) << "the name may be lost";
  ASSERT_TRUE(root_->sync().ok());
  EXPECT_EQ(states(), std::set<std::string>{"log=1"});
}

TEST_F(SimulatedCrash, SyncingADirectoryDoesNotKeepContent) {
  auto log = *root_->open("log", OpenMode::kAppendOrCreate);
  ASSERT_TRUE(log->append("1").ok());
  ASSERT_TRUE(root_->sync().ok());
  EXPECT_TRUE(states().contains("log="));
  EXPECT_FALSE(states().contains(""));
}

TEST_F(SimulatedCrash, RenameWithoutSyncingTheFileMayInstallAnEmptyOne) {
  auto old = durable_file("log", "old");
  auto fresh = *root_->open("tmp", OpenMode::kCreateExclusive);
  ASSERT_TRUE(fresh->append("new").ok());
  ASSERT_TRUE(root_->rename("tmp", "log").ok());
  ASSERT_TRUE(root_->sync().ok());
  const auto found = states();
  EXPECT_TRUE(found.contains("log="));
  EXPECT_TRUE(found.contains("log=new"));
  EXPECT_FALSE(found.contains("log=old"));
}

TEST_F(SimulatedCrash, TheCorrectReplacementLeavesTheOldOrTheNew) {
  auto old = durable_file("log", "old");
  auto fresh = *root_->open("tmp", OpenMode::kCreateExclusive);
  ASSERT_TRUE(fresh->append("new").ok());
  ASSERT_TRUE(fresh->sync_data().ok());
  ASSERT_TRUE(root_->rename("tmp", "log").ok());
  EXPECT_EQ(states(), (std::set<std::string>{"log=old", "log=old tmp=new", "log=new"}));
  ASSERT_TRUE(root_->sync().ok());
  EXPECT_EQ(states(), std::set<std::string>{"log=new"});
}

TEST_F(SimulatedCrash, ARemovedFileMayComeBackUntilItsDirectoryIsSynced) {
  auto log = durable_file("log", "x");
  ASSERT_TRUE(root_->remove("log").ok());
  log.reset();
  EXPECT_EQ(states(), (std::set<std::string>{"", "log=x"}));
  ASSERT_TRUE(root_->sync().ok());
  EXPECT_EQ(states(), std::set<std::string>{""});
}

TEST_F(SimulatedCrash, ATornWriteIsCutZeroedGarbledOrHalfThere) {
  auto log = durable_file("log", ">");
  ASSERT_TRUE(log->append("abcd").ok());
  CrashPlan plan = disk_.keep_all();
  const auto torn = [&](Tear tear, size_t at) {
    plan.tear = tear;
    plan.tear_at = at;
    return *disk_.crash(plan)->read_file("store/log");
  };
  EXPECT_EQ(torn(Tear::kNone, 0), ">abcd");
  EXPECT_EQ(torn(Tear::kCut, 3), ">abc");
  EXPECT_EQ(torn(Tear::kCut, 0), ">");
  EXPECT_EQ(torn(Tear::kZeros, 0), std::string(">\0\0\0\0", 5));
  EXPECT_EQ(torn(Tear::kZeroTail, 1), std::string(">a\0\0\0", 5));
  EXPECT_EQ(torn(Tear::kZeroHead, 3), std::string(">\0\0\0d", 5));
  const std::string garbage = torn(Tear::kGarbage, 0);
  EXPECT_EQ(garbage.size(), 5U);
  EXPECT_NE(garbage, ">abcd");
  EXPECT_EQ(garbage, torn(Tear::kGarbage, 0));
  plan.garbage_seed = 7;
  EXPECT_NE(garbage, torn(Tear::kGarbage, 0));
}

TEST_F(SimulatedCrash, ALaterWriteWithoutTheEarlierLeavesAHole) {
  auto log = durable_file("log", ">");
  ASSERT_TRUE(log->append("ab").ok());
  ASSERT_TRUE(log->append("cd").ok());
  CrashPlan plan;
  plan.kept = {1};
  EXPECT_EQ(disk_.crash(plan)->read_file("store/log"), std::string(">\0\0cd", 5));
}

TEST_F(SimulatedCrash, EnumeratesExactlyTheStatesOfTheModel) {
  auto log = durable_file("log", "");
  ASSERT_TRUE(log->append("a").ok());
  ASSERT_TRUE(log->append("b").ok());
  std::set<std::string> expected;
  for (const char* state : {"log=", "log=a", "log=ab"}) expected.insert(state);
  expected.insert(std::string("log=\0", 5));
  expected.insert(std::string("log=\0b", 6));
  expected.insert(std::string("log=a\0", 6));
  expected.insert(std::string("log=\0\0", 6));
  std::set<std::string> found;
  size_t garbled = 0;
  const size_t visited = disk_.for_each_crash_state(
      [&](std::unique_ptr<SimulatedFileSystem> state, const CrashPlan& plan) {
        if (plan.tear == Tear::kGarbage) {
          ++garbled;
        } else {
          EXPECT_TRUE(found.insert(text_of(*state)).second) << "twice: " << disk_.describe(plan);
        }
      });
  EXPECT_EQ(found, expected);
  EXPECT_EQ(visited, found.size() + garbled);
  EXPECT_EQ(garbled, 3U) << "the last write of {a}, {b} and {a, b}";
}

TEST_F(SimulatedCrash, TriesEveryWayToTearTheLastWrite) {
  auto log = durable_file("log", "");
  ASSERT_TRUE(log->append("abcd").ok());
  std::set<std::string> found;
  disk_.for_each_crash_state(
      [&](std::unique_ptr<SimulatedFileSystem> state, const CrashPlan& plan) {
        if (plan.tear != Tear::kGarbage) found.insert(*state->read_file("store/log"));
      });
  const auto zeros = [](size_t count) { return std::string(count, '\0'); };
  EXPECT_EQ(found, (std::set<std::string>{"", "a", "ab", "abc", "abcd", zeros(4), "ab" + zeros(2),
                                          "abc" + zeros(1), zeros(2) + "cd"}));
}

TEST_F(SimulatedCrash, TruncationIsPendingToo) {
  auto log = durable_file("log", "abc");
  ASSERT_TRUE(log->truncate(1).ok());
  EXPECT_EQ(states(), (std::set<std::string>{"log=abc", "log=a"}));
  ASSERT_TRUE(log->append("X").ok());
  EXPECT_TRUE(states().contains("log=aXc")) << "the write without the truncation";
  ASSERT_TRUE(log->sync_data().ok());
  EXPECT_EQ(states(), std::set<std::string>{"log=aX"});
}

TEST_F(SimulatedCrash, AMoveIsOneChangeThatEitherDirectoryKeeps) {
  for (const bool sync_target : {false, true}) {
    SimulatedFileSystem disk;
    auto root = *disk.open_root("store", true);
    auto trash = *disk.open_root("store/trash", true);
    disk.write_file("store/log", "x");
    ASSERT_TRUE(root->open("first", OpenMode::kAppendOrCreate).ok());
    ASSERT_TRUE(root->move_to("log", *trash, "log").ok());
    ASSERT_TRUE(root->open("later", OpenMode::kAppendOrCreate).ok());
    EXPECT_TRUE(disk.crash()->exists("store/log"));
    EXPECT_FALSE(disk.crash()->exists("store/trash/log"));
    ASSERT_TRUE((sync_target ? trash : root)->sync().ok());
    auto after = disk.crash();
    EXPECT_FALSE(after->exists("store/log"));
    EXPECT_EQ(after->read_file("store/trash/log"), "x");
    EXPECT_TRUE(after->exists("store/first")) << "what came before the move in its directory";
    EXPECT_EQ(after->exists("store/later"), !sync_target);
  }
}

TEST_F(SimulatedCrash, AnExchangeIsOneChangeThatEitherDirectoryKeeps) {
  for (const bool sync_target : {false, true}) {
    SimulatedFileSystem disk;
    auto root = *disk.open_root("store", true);
    auto trash = *disk.open_root("store/trash", true);
    disk.write_file("store/log", "old");
    disk.write_file("store/trash/log", "new");
    ASSERT_TRUE(trash->exchange("log", *root, "log").ok());
    EXPECT_EQ(disk.read_file("store/log"), "new");
    EXPECT_EQ(disk.crash()->read_file("store/log"), "old");
    EXPECT_EQ(disk.crash()->read_file("store/trash/log"), "new");
    ASSERT_TRUE((sync_target ? trash : root)->sync().ok());
    EXPECT_EQ(disk.crash()->read_file("store/log"), "new");
    EXPECT_EQ(disk.crash()->read_file("store/trash/log"), "old");
  }
}

TEST_F(SimulatedCrash, AnUnsyncedDirectoryIsLostWithEverythingInIt) {
  ASSERT_TRUE(root_->make_directory("session").ok());
  auto session = *root_->open_directory("session");
  auto log = *session->open("log", OpenMode::kAppendOrCreate);
  ASSERT_TRUE(log->append("x").ok());
  ASSERT_TRUE(log->sync_data().ok());
  ASSERT_TRUE(session->sync().ok());
  EXPECT_FALSE(disk_.crash()->exists("store/session"));
  ASSERT_TRUE(root_->sync().ok());
  EXPECT_EQ(disk_.crash()->read_file("store/session/log"), "x");
}

TEST_F(SimulatedCrash, FilesThatNoStateNamesDoNotMultiplyTheStates) {
  auto log = durable_file("log", "x");
  ASSERT_TRUE(root_->remove("log").ok());
  ASSERT_TRUE(root_->sync().ok());
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(log->append("unseen").ok());
  EXPECT_TRUE(disk_.pending().empty());
  EXPECT_EQ(states(), std::set<std::string>{""});
}

TEST_F(SimulatedCrash, ManyPendingChangesGivePrefixesLeaveOutsAndRandomOnes) {
  auto log = durable_file("log", "");
  const std::string letters = "abcdefghij";
  for (const char letter : letters) ASSERT_TRUE(log->append(std::string(1, letter)).ok());
  const auto found = states(5'000);
  for (size_t i = 0; i < letters.size(); ++i) {
    EXPECT_TRUE(found.contains("log=" + letters.substr(0, i)));
    std::string without = "log=" + letters;
    if (i + 1 < letters.size()) without[4 + i] = '\0';
    EXPECT_TRUE(i + 1 == letters.size() || found.contains(without)) << i;
    std::string only = "log=" + std::string(i, '\0') + letters[i];
    EXPECT_TRUE(found.contains(only)) << i;
  }
  EXPECT_GT(found.size(), 500U) << "random ones";
  EXPECT_EQ(states(50).size(), 50U);
}

TEST_F(SimulatedCrash, ASeedAlwaysGivesTheSameStatesInTheSameOrder) {
  auto log = durable_file("log", "");
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(log->append("line " + std::to_string(i)).ok());
  const auto walk = [&](uint64_t seed) {
    std::vector<std::string> texts;
    disk_.for_each_crash_state(
        [&](std::unique_ptr<SimulatedFileSystem> state, const CrashPlan& plan) {
          texts.push_back(text_of(*state) + disk_.describe(plan));
        },
        300, seed);
    return texts;
  };
  EXPECT_EQ(walk(1).size(), 300U);
  EXPECT_EQ(walk(1), walk(1));
  EXPECT_NE(walk(1), walk(2));
}

TEST_F(SimulatedCrash, APlanGivesTheStateItWasVisitedWith) {
  auto log = durable_file("log", "");
  ASSERT_TRUE(log->append("first").ok());
  ASSERT_TRUE(root_->open("other", OpenMode::kAppendOrCreate).ok());
  ASSERT_TRUE(log->append("second").ok());
  size_t checked = 0;
  disk_.for_each_crash_state(
      [&](std::unique_ptr<SimulatedFileSystem> state, const CrashPlan& plan) {
        EXPECT_EQ(text_of(*disk_.crash(plan)), text_of(*state)) << disk_.describe(plan);
        ++checked;
      });
  EXPECT_GT(checked, 8U);
}

TEST_F(SimulatedCrash, TheDiskAfterwardsIsWholeAndWorks) {
  auto log = durable_file("log", "x");
  auto lock = *root_->open("lock", OpenMode::kUpdateOrCreate);
  ASSERT_TRUE(*lock->try_lock());
  auto after = disk_.crash(disk_.keep_all());
  EXPECT_TRUE(after->pending().empty());
  EXPECT_NE(after->boot_id(), disk_.boot_id());
  auto root = *after->open_root("store", false);
  EXPECT_TRUE(*(*root->open("lock", OpenMode::kUpdateOrCreate))->try_lock());
  EXPECT_EQ(root->info("log")->link_count, 1U);
  ASSERT_TRUE((*root->open("log", OpenMode::kAppend))->append("y").ok());
  EXPECT_EQ(after->read_file("store/log"), "xy");
  EXPECT_EQ(disk_.read_file("store/log"), "x") << "the disk before is another one";
  EXPECT_EQ(after->crash()->read_file("store/log"), "x") << "and may crash again";
}

TEST_F(SimulatedCrash, ACopyKeepsWhatIsVisibleAndWhatIsPending) {
  auto log = durable_file("log", "x");
  auto lock = *root_->open("lock", OpenMode::kUpdateOrCreate);
  ASSERT_TRUE(*lock->try_lock());
  ASSERT_TRUE(log->append("y").ok());
  auto copy = disk_.copy();
  EXPECT_EQ(copy->boot_id(), disk_.boot_id());
  EXPECT_EQ(copy->read_file("store/log"), "xy");
  EXPECT_EQ(copy->crash()->read_file("store/log"), "x");
  auto root = *copy->open_root("store", false);
  EXPECT_TRUE(*(*root->open("lock", OpenMode::kUpdateOrCreate))->try_lock());
}

TEST_F(SimulatedCrash, PendingChangesAreToldInOrderAndDescribed) {
  auto log = durable_file("log", "x");
  ASSERT_TRUE(log->append("yz").ok());
  ASSERT_TRUE(log->truncate(1).ok());
  ASSERT_TRUE(root_->rename("log", "old").ok());
  ASSERT_TRUE(root_->make_directory("new").ok());
  const auto changes = disk_.pending();
  ASSERT_EQ(changes.size(), 4U);
  EXPECT_EQ(changes[0].kind, OperationKind::kWriteAt);
  EXPECT_EQ(changes[2].kind, OperationKind::kRename);
  EXPECT_EQ(changes[3].kind, OperationKind::kMakeDirectory);
  CrashPlan plan;
  plan.kept = {0, 2};
  plan.tear = Tear::kZeroTail;
  plan.tear_at = 1;
  EXPECT_EQ(disk_.describe(plan),
            "kept write_at /store/old 2 bytes at 1 (zeros from 1)\n"
            "lost truncate /store/old to 1\n"
            "kept rename /store log to old\n"
            "lost make_directory /store new\n");
}

// The enumerator must find the bugs it exists for: here a writer that acknowledges too early.
TEST_F(SimulatedCrash, TheHookSeesEveryMomentAndFindsAMissingSync) {
  for (const bool with_sync : {true, false}) {
    SimulatedFileSystem disk;
    auto root = *disk.open_root("store", true);
    auto log = *root->open("log", OpenMode::kAppendOrCreate);
    ASSERT_TRUE(root->sync().ok());
    size_t acknowledged = 0;
    size_t lost = 0;
    const auto check = [&] {
      disk.for_each_crash_state([&](std::unique_ptr<SimulatedFileSystem> state, const CrashPlan&) {
        const std::string bytes = state->read_file("store/log").value_or("");
        const std::string expected(acknowledged, 'x');
        if (bytes.substr(0, acknowledged) != expected) ++lost;
      });
    };
    int moments = 0;
    disk.set_fault_hook([&](const OperationInfo&) -> std::optional<Fault> {
      moments += 1;
      check();
      return std::nullopt;
    });
    for (int i = 0; i < 4; ++i) {
      ASSERT_TRUE(log->append("x").ok());
      if (with_sync) {
        ASSERT_TRUE(log->sync_data().ok());
      }
      ++acknowledged;
    }
    check();
    EXPECT_EQ(moments, with_sync ? 8 : 4);
    EXPECT_EQ(lost > 0, !with_sync);
  }
}

}  // namespace
}  // namespace varve::io
