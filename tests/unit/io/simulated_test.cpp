// Faults, limits, processes and the helpers of the simulation.
#include "io/simulated.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace varve::io {
namespace {

class Simulated : public testing::Test {
 protected:
  void SetUp() override {
    root_ = *disk_.open_root("store", true);
    log_ = *root_->open("log", OpenMode::kAppendOrCreate);
  }
  std::string log_bytes() const { return *disk_.read_file("store/log"); }
  std::string bytes_after_power_loss() const {
    return disk_.crash(disk_.keep_all())->read_file("store/log").value_or("(no file)");
  }

  SimulatedFileSystem disk_;
  std::unique_ptr<Directory> root_;
  std::unique_ptr<File> log_;
};

TEST_F(Simulated, TheNthMatchingOperationFailsOnce) {
  disk_.set_fault_hook(FailNth(2, EIO, false, {OperationKind::kAppend}));
  EXPECT_TRUE(log_->append("1").ok());
  EXPECT_TRUE(log_->truncate(1).ok());
  const Status failed = log_->append("2");
  EXPECT_EQ(failed.code(), Code::kIo);
  EXPECT_EQ(failed.place().os_errno, EIO);
  EXPECT_TRUE(log_->append("3").ok());
  EXPECT_EQ(log_bytes(), "13");
}

TEST_F(Simulated, AStickyFaultStaysUntilTheHookIsRemoved) {
  disk_.set_fault_hook(FailNth(1, ENOSPC, true, {OperationKind::kAppend}));
  EXPECT_EQ(log_->append("1").code(), Code::kNoSpace);
  EXPECT_EQ(log_->append("2").code(), Code::kNoSpace);
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(log_->append("3").ok());
  EXPECT_EQ(log_bytes(), "3");
}

TEST_F(Simulated, AFaultCanBeOnOneFileAndLeaveAPartOfTheWrite) {
  auto other = *root_->open("other", OpenMode::kAppendOrCreate);
  disk_.set_fault_hook(FailNth(1, EDQUOT, true).on_file("log").after_bytes(3));
  EXPECT_TRUE(other->append("abcdef").ok());
  EXPECT_EQ(log_->append("abcdef").code(), Code::kNoSpace);
  EXPECT_EQ(log_bytes(), "abc");
  EXPECT_EQ(disk_.read_file("store/other"), "abcdef");
}

TEST_F(Simulated, EveryKindOfOperationCanFailAndIsAnnounced) {
  struct Case {
    OperationKind kind;
    Status (*attempt)(SimulatedFileSystem&, Directory&, File&);
  };
  const Case cases[] = {
      {OperationKind::kOpenRoot,
       [](auto& disk, auto&, auto&) { return disk.open_root("store", true).status(); }},
      {OperationKind::kOpen,
       [](auto&, auto& root, auto&) { return root.open("log", OpenMode::kRead).status(); }},
      {OperationKind::kRead,
       [](auto&, auto&, auto& lock) {
         std::string buffer(1, ' ');
         return lock.read_at(0, buffer).status();
       }},
      {OperationKind::kAppend,
       [](auto&, auto& root, auto&) {
         return (*root.open("log", OpenMode::kAppend))->append("x");
       }},
      {OperationKind::kWriteAt, [](auto&, auto&, auto& lock) { return lock.write_at(0, "x"); }},
      {OperationKind::kTruncate, [](auto&, auto&, auto& lock) { return lock.truncate(9); }},
      {OperationKind::kSyncData, [](auto&, auto&, auto& lock) { return lock.sync_data(); }},
      {OperationKind::kSyncDirectory, [](auto&, auto& root, auto&) { return root.sync(); }},
      {OperationKind::kRename, [](auto&, auto& root, auto&) { return root.rename("log", "x"); }},
      {OperationKind::kMove,
       [](auto&, auto& root, auto&) { return root.move_to("log", root, "x"); }},
      {OperationKind::kRemove, [](auto&, auto& root, auto&) { return root.remove("log"); }},
      {OperationKind::kMakeDirectory,
       [](auto&, auto& root, auto&) { return root.make_directory("x"); }},
      {OperationKind::kOpenDirectory,
       [](auto&, auto& root, auto&) { return root.open_directory("directory").status(); }},
      {OperationKind::kRemoveDirectory,
       [](auto&, auto& root, auto&) { return root.remove_directory("directory"); }},
      {OperationKind::kList, [](auto&, auto& root, auto&) { return root.list().status(); }},
      {OperationKind::kInfo, [](auto&, auto& root, auto&) { return root.info("log").status(); }},
      {OperationKind::kInfo, [](auto&, auto& root, auto&) { return root.self_info().status(); }},
      {OperationKind::kInfo, [](auto&, auto&, auto& lock) { return lock.info().status(); }},
      {OperationKind::kLock, [](auto&, auto&, auto& lock) { return lock.try_lock().status(); }},
      {OperationKind::kUnlock, [](auto&, auto&, auto& lock) { return lock.unlock(); }},
      {OperationKind::kFreeBytes,
       [](auto&, auto& root, auto&) { return root.free_bytes().status(); }},
  };
  ASSERT_TRUE(root_->make_directory("directory").ok());
  auto lock = *root_->open("lock", OpenMode::kUpdateOrCreate);
  const std::vector<std::string> before = disk_.list_all();
  for (const Case& tried : cases) {
    disk_.clear_trace();
    const FailNth fail(1, EIO, true, {tried.kind});
    disk_.set_fault_hook(fail);
    const Status status = tried.attempt(disk_, *root_, *lock);
    EXPECT_EQ(status.place().os_errno, EIO) << operation_name(tried.kind);
    EXPECT_EQ(fail.matched(), 1U) << operation_name(tried.kind);
    ASSERT_FALSE(disk_.trace().empty());
    EXPECT_NE(disk_.trace().back().find(operation_name(tried.kind)), std::string::npos);
  }
  EXPECT_EQ(disk_.list_all(), before);
  EXPECT_EQ(disk_.read_file("store/lock"), "");
}

TEST_F(Simulated, OperationsAreCountedFromOneAndNamed) {
  std::vector<OperationInfo> seen;
  const uint64_t before = disk_.operation_count();
  disk_.set_fault_hook([&](const OperationInfo& operation) -> std::optional<Fault> {
    seen.push_back(operation);
    return std::nullopt;
  });
  ASSERT_TRUE(log_->append("12345").ok());
  ASSERT_TRUE(root_->sync().ok());
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_EQ(seen[0].kind, OperationKind::kAppend);
  EXPECT_EQ(seen[0].path, "store/log");
  EXPECT_EQ(seen[0].name, "log");
  EXPECT_EQ(seen[0].ordinal, before + 1);
  EXPECT_EQ(seen[0].process_id, disk_.process_id());
  EXPECT_EQ(seen[1].name, "store");
  EXPECT_EQ(disk_.trace()[before], std::to_string(before + 1) + " append store/log 5 bytes");
}

TEST_F(Simulated, ZeroCountsWithoutFailing) {
  const FailNth count(0, EIO, true);
  disk_.set_fault_hook(count);
  ASSERT_TRUE(log_->append("1").ok());
  ASSERT_TRUE(log_->sync_data().ok());
  EXPECT_EQ(count.matched(), 2U);
}

TEST_F(Simulated, AFailedSyncIsToldOnceAndLosesItsWritesForGood) {
  ASSERT_TRUE(log_->append("A").ok());
  ASSERT_TRUE(log_->sync_data().ok());
  ASSERT_TRUE(root_->sync().ok());
  ASSERT_TRUE(log_->append("B").ok());
  disk_.set_fault_hook(FailNth(1, EIO, false, {OperationKind::kSyncData}));
  EXPECT_EQ(log_->sync_data().code(), Code::kIo);
  EXPECT_TRUE(log_->sync_data().ok()) << "as on Linux: told only once";
  ASSERT_TRUE(log_->append("C").ok());
  EXPECT_TRUE(log_->sync_data().ok());
  EXPECT_EQ(log_bytes(), "ABC");
  EXPECT_EQ(bytes_after_power_loss(), std::string("A\0C", 3));
  EXPECT_EQ(disk_.copy()->read_file("store/log"), "ABC") << "a killed process loses nothing";
}

TEST_F(Simulated, ANewFileHealsAfterAFailedSync) {
  ASSERT_TRUE(root_->sync().ok());
  ASSERT_TRUE(log_->append("A").ok());
  disk_.set_fault_hook(FailNth(1, EIO, false, {OperationKind::kSyncData}));
  ASSERT_FALSE(log_->sync_data().ok());
  auto healed = *root_->open("log.tmp", OpenMode::kCreateExclusive);
  ASSERT_TRUE(healed->append("A").ok());
  ASSERT_TRUE(healed->sync_data().ok());
  ASSERT_TRUE(root_->rename("log.tmp", "log").ok());
  ASSERT_TRUE(root_->sync().ok());
  EXPECT_EQ(disk_.crash()->read_file("store/log"), "A");
}

TEST_F(Simulated, AFailedDirectorySyncMayBeRepeated) {
  disk_.set_fault_hook(FailNth(1, EIO, false, {OperationKind::kSyncDirectory}));
  EXPECT_FALSE(root_->sync().ok());
  EXPECT_FALSE(disk_.crash()->exists("store/log"));
  EXPECT_TRUE(root_->sync().ok());
  EXPECT_TRUE(disk_.crash()->exists("store/log"));
}

TEST_F(Simulated, AFullDiskTakesWhatFitsAndFreesWhatIsRemoved) {
  disk_.set_capacity_bytes(10);
  ASSERT_TRUE(log_->append("0123456").ok());
  EXPECT_EQ(*root_->free_bytes(), 3U);
  const Status full = log_->append("789ab");
  EXPECT_EQ(full.code(), Code::kNoSpace);
  EXPECT_EQ(full.place().os_errno, ENOSPC);
  EXPECT_EQ(log_bytes(), "0123456789");
  ASSERT_TRUE(log_->truncate(7).ok());
  auto lock = *root_->open("lock", OpenMode::kUpdateOrCreate);
  EXPECT_TRUE(lock->write_at(0, "abc").ok());
  EXPECT_TRUE(lock->write_at(0, "ABC").ok()) << "overwriting needs no space";
  EXPECT_EQ(lock->write_at(1, "xyz").code(), Code::kNoSpace);
  EXPECT_EQ(lock->truncate(100).code(), Code::kNoSpace);
  ASSERT_TRUE(root_->remove("log").ok());
  EXPECT_EQ(*root_->free_bytes(), 0U) << "still open";
  log_.reset();
  EXPECT_EQ(*root_->free_bytes(), 7U);
}

TEST_F(Simulated, AReadOnlyDiskRefusesEveryChange) {
  ASSERT_TRUE(log_->append("x").ok());
  ASSERT_TRUE(root_->make_directory("directory").ok());
  disk_.set_read_only(true);
  const auto expect_refused = [](const Status& status) {
    EXPECT_EQ(status.code(), Code::kReadOnly) << status.message();
    EXPECT_EQ(status.place().os_errno, EROFS);
  };
  expect_refused(log_->append("y"));
  expect_refused(log_->truncate(0));
  expect_refused(root_->open("log", OpenMode::kAppend).status());
  expect_refused(root_->open("new", OpenMode::kAppendOrCreate).status());
  expect_refused(root_->rename("log", "x"));
  expect_refused(root_->remove("log"));
  expect_refused(root_->make_directory("new"));
  expect_refused(root_->remove_directory("directory"));
  expect_refused(disk_.open_root("new", true).status());
  EXPECT_TRUE(disk_.open_root("store", true).ok());
  EXPECT_TRUE(root_->open("log", OpenMode::kRead).ok());
  EXPECT_EQ(log_bytes(), "x");
}

TEST_F(Simulated, AKilledProcessLosesItsLocksAndItsVoiceButNotItsWrites) {
  auto other = disk_.process(2002);
  auto other_root = *other->open_root("store", false);
  auto other_lock = *other_root->open("lock", OpenMode::kUpdateOrCreate);
  auto lock = *root_->open("lock", OpenMode::kUpdateOrCreate);
  EXPECT_EQ(other->process_id(), 2002);
  ASSERT_TRUE(*other_lock->try_lock());
  ASSERT_TRUE(other_lock->write_at(0, "2002").ok());
  ASSERT_FALSE(*lock->try_lock());

  other->kill();
  EXPECT_EQ(other_lock->write_at(0, "late").place().os_errno, ESRCH);
  EXPECT_EQ(other_lock->try_lock().status().place().os_errno, ESRCH);
  EXPECT_EQ(other_root->list().status().place().os_errno, ESRCH);
  EXPECT_FALSE(other->open_root("store", false).ok());
  EXPECT_TRUE(*lock->try_lock());
  other_lock.reset();
  EXPECT_FALSE(*(*root_->open("lock", OpenMode::kUpdateOrCreate))->try_lock());
  EXPECT_EQ(disk_.read_file("store/lock"), "2002");
}

TEST_F(Simulated, AProcessCanBeKilledBeforeAnyOfItsOperations) {
  const std::vector<std::string> before = disk_.list_all();
  for (const OperationKind kind :
       {OperationKind::kAppend, OperationKind::kTruncate, OperationKind::kRename,
        OperationKind::kSyncData, OperationKind::kOpen}) {
    auto process = disk_.process(2002);
    auto root = *process->open_root("store", false);
    auto log = *root->open("log", OpenMode::kAppend);
    disk_.set_fault_hook([&](const OperationInfo& operation) -> std::optional<Fault> {
      if (operation.kind == kind) process->kill();
      return std::nullopt;
    });
    const Status results[] = {log->append("x"), log->truncate(0), log->sync_data(),
                              root->rename("log", "other"),
                              root->open("new", OpenMode::kAppendOrCreate).status()};
    EXPECT_EQ(results[4].place().os_errno, ESRCH) << operation_name(kind);
    EXPECT_EQ(results[0].ok(), kind != OperationKind::kAppend);
    disk_.set_fault_hook(nullptr);
    if (kind == OperationKind::kOpen) {
      ASSERT_TRUE(root_->rename("other", "log").ok());
    }
    EXPECT_EQ(disk_.list_all(), before) << operation_name(kind);
  }
}

TEST_F(Simulated, ReleasedLocksAreFreeForOthers) {
  auto first = *root_->open("lock", OpenMode::kUpdateOrCreate);
  auto second = *root_->open("lock", OpenMode::kUpdateOrCreate);
  ASSERT_TRUE(*first->try_lock());
  disk_.release_locks();
  EXPECT_TRUE(*second->try_lock());
  EXPECT_FALSE(*first->try_lock());
}

TEST_F(Simulated, LockFaultsMeanWhatTheKernelMeans) {
  auto lock = *root_->open("lock", OpenMode::kUpdateOrCreate);
  disk_.set_fault_hook(FailNth(1, EAGAIN, false, {OperationKind::kLock}));
  EXPECT_FALSE(*lock->try_lock());
  EXPECT_TRUE(*lock->try_lock());
  disk_.set_fault_hook(FailNth(1, ENOLCK, true, {OperationKind::kLock}));
  EXPECT_EQ(lock->try_lock().code(), Code::kUnsupported);
}

TEST_F(Simulated, HelpersReachEverythingVisibleWithoutOperations) {
  const uint64_t before = disk_.operation_count();
  disk_.write_file("/store/deep/er/file", "planted");
  disk_.write_file("/store/deep/er/file", "again");
  disk_.plant_other("store/fifo");
  EXPECT_EQ(disk_.read_file("store//deep/./er/file"), "again");
  EXPECT_EQ(disk_.read_file("store/deep"), std::nullopt);
  EXPECT_EQ(disk_.read_file("store/absent"), std::nullopt);
  EXPECT_TRUE(disk_.exists("store/deep"));
  EXPECT_FALSE(disk_.exists("store/absent"));
  EXPECT_EQ(disk_.list_all(),
            (std::vector<std::string>{"/store/", "/store/deep/", "/store/deep/er/",
                                      "/store/deep/er/file", "/store/fifo", "/store/log"}));
  EXPECT_EQ(disk_.operation_count(), before);
  EXPECT_EQ(disk_.crash()->read_file("store/deep/er/file"), "again");
  EXPECT_EQ(root_->open("fifo", OpenMode::kRead).code(), Code::kIo);
  EXPECT_EQ(root_->info("fifo")->kind, FileKind::kOther);
}

TEST_F(Simulated, ModificationTimesAreWhatTheTestSays) {
  disk_.set_now_ms(1'234'567);
  ASSERT_TRUE(log_->append("x").ok());
  EXPECT_EQ(log_->info()->modified_ms, 1'234'567);
}

TEST_F(Simulated, MovingBetweenDisksIsRefused) {
  SimulatedFileSystem elsewhere;
  auto target = *elsewhere.open_root("store", true);
  EXPECT_EQ(root_->move_to("log", *target, "log").place().os_errno, EXDEV);
}

TEST_F(Simulated, ThreadsShareADisk) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 50;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this, i] {
      auto process = disk_.process(3000 + i);
      auto root = *process->open_root("store", false);
      auto log = *root->open("log", OpenMode::kAppend);
      auto lock = *root->open("lock", OpenMode::kUpdateOrCreate);
      for (int round = 0; round < kRounds;) {
        if (!*lock->try_lock()) {
          std::this_thread::yield();
          continue;
        }
        ++round;
        EXPECT_TRUE(log->append("x").ok());
        EXPECT_TRUE(log->sync_data().ok());
        EXPECT_TRUE(lock->unlock().ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(log_bytes(), std::string(kThreads * kRounds, 'x'));
}

}  // namespace
}  // namespace varve::io
