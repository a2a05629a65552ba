// Waiting for a session's lock: how often it is asked for, and that it is the one that has the
// name.
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <new>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "io/simulated.h"
#include "log/directory_storage.h"
#include "support/environment.h"

namespace varve::log {
namespace {

// Stands still but for those who sleep by it, and remembers for how long each of them did. What
// others do meanwhile is `on_sleep`.
class RecordingClock final : public Clock {
 public:
  int64_t now_ms() override { return test::kStartMs; }
  int64_t monotonic_us() override { return monotonic_us_; }
  void sleep_us(int64_t duration_us) override {
    monotonic_us_ += duration_us;
    slept.push_back(duration_us);
    if (on_sleep) on_sleep();
  }
  std::vector<int64_t> slept;
  std::function<void()> on_sleep;

 private:
  int64_t monotonic_us_ = 1'000'000;
};

class LockWait : public testing::Test {
 protected:
  void SetUp() override {
    disk_.write_file("s/metadata.json", "{}");
    disk_.write_file("s/memory.jsonl", "one\n");
    storage_ = open_in(disk_);
    other_ = open_in(*other_process_);
    ASSERT_TRUE(storage_ && other_);
  }
  std::unique_ptr<DirectoryStorage> open_in(io::SimulatedFileSystem& system) {
    auto opened =
        DirectoryStorage::open(*system.open_root("s", false), {&system, &clock_, &random_});
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  Status lock(DirectoryStorage& storage, int64_t wait_us = 0) {
    return storage.lock(clock_.monotonic_us() + wait_us, "write", nullptr);
  }
  void hold_for(DirectoryStorage& storage, int64_t duration_us) {
    ASSERT_TRUE(lock(storage, 1'000'000).ok());
    pass(duration_us);
    storage.unlock();
  }
  void pass(int64_t duration_us) {
    const auto on_sleep = std::exchange(clock_.on_sleep, nullptr);
    clock_.sleep_us(duration_us);
    clock_.slept.pop_back();
    clock_.on_sleep = on_sleep;
  }
  // The lock file, as another process has it that waits.
  std::unique_ptr<io::File> open_lock_file() {
    auto opened =
        (*other_process_->open_root("s", false))->open("lock", io::OpenMode::kUpdateOrCreate, 0644);
    return opened.ok() ? *std::move(opened) : nullptr;
  }

  RecordingClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<io::SimulatedFileSystem> other_process_ = disk_.process(4711);
  std::unique_ptr<DirectoryStorage> storage_;
  std::unique_ptr<DirectoryStorage> other_;
};

TEST_F(LockWait, AsksLessOftenTheLongerItTakes) {
  ASSERT_TRUE(lock(*other_).ok());
  ASSERT_EQ(lock(*storage_, 1'000'000).code(), Code::kBusy);
  EXPECT_LE(clock_.slept.front(), 100) << "a short wait is over soon";
  EXPECT_LT(clock_.slept.size(), 1100u) << "a long one does not keep a processor busy";
  for (const int64_t slept_us : clock_.slept) EXPECT_LE(slept_us, 2000);
}

TEST_F(LockWait, DoesNotMarchInStep) {
  ASSERT_TRUE(lock(*other_).ok());
  ASSERT_EQ(lock(*storage_, 1'000'000).code(), Code::kBusy);
  const std::set<int64_t> different(clock_.slept.begin(), clock_.slept.end());
  EXPECT_GT(different.size(), 50u);
}

TEST_F(LockWait, WhoWaitsForLongSaysSo) {
  const auto probe = open_lock_file();
  ASSERT_NE(probe, nullptr);
  ASSERT_TRUE(lock(*other_).ok());
  const int64_t start_us = clock_.monotonic_us();
  size_t told = 0;
  clock_.on_sleep = [&] {
    const bool is_told = probe->is_another_waiting();
    told += is_told ? 1 : 0;
    const int64_t waited_us = clock_.monotonic_us() - start_us;
    EXPECT_TRUE(waited_us >= 100'000 || !is_told) << waited_us;
    EXPECT_TRUE(waited_us <= 104'000 || is_told) << waited_us;
  };
  ASSERT_EQ(lock(*storage_, 1'000'000).code(), Code::kBusy);
  EXPECT_GT(told, 400u);
  EXPECT_FALSE(probe->is_another_waiting()) << "it no longer waits";
}

// What it does meanwhile reads others' entries, for which memory may run out.
TEST_F(LockWait, WhoGaveUpWaitingSaysSoNoMore) {
  const auto probe = open_lock_file();
  ASSERT_NE(probe, nullptr);
  ASSERT_TRUE(lock(*other_).ok());
  storage_->set_work_while_waiting([&] {
    if (probe->is_another_waiting()) throw std::bad_alloc();
  });
  EXPECT_THROW((void)lock(*storage_, 1'000'000).ok(), std::bad_alloc);
  EXPECT_FALSE(probe->is_another_waiting());
}

TEST_F(LockWait, WhoHeldItForLongLetsThoseInFirstWhoHaveWaitedForLong) {
  const auto waiting = open_lock_file();
  ASSERT_NE(waiting, nullptr);
  waiting->tell_waiting(true);
  hold_for(*storage_, 1000);
  bool was_let_in = false;
  size_t sleeps = 0;
  clock_.on_sleep = [&] {
    if (++sleeps > 1) {
      EXPECT_TRUE(waiting->unlock().ok());
      return;
    }
    was_let_in = *waiting->try_lock();
    waiting->tell_waiting(false);
  };
  EXPECT_TRUE(lock(*storage_, 1'000'000).ok());
  EXPECT_TRUE(was_let_in) << "whoever writes without a pause finds the lock free each time";
}

TEST_F(LockWait, WhoLetOthersInFirstIsToldThatItWaited) {
  const auto waiting = open_lock_file();
  ASSERT_NE(waiting, nullptr);
  waiting->tell_waiting(true);
  hold_for(*storage_, 1000);
  bool waited = false;
  EXPECT_TRUE(storage_->lock(clock_.monotonic_us() + 1'000'000, "write", &waited).ok());
  EXPECT_FALSE(clock_.slept.empty()) << "or nothing is tested";
  EXPECT_TRUE(waited) << "though it found the lock free";
}

TEST_F(LockWait, WhoGaveUpWaitingIsLetInNoLonger) {
  const auto waiting = open_lock_file();
  ASSERT_NE(waiting, nullptr);
  waiting->tell_waiting(true);
  hold_for(*storage_, 1000);
  clock_.on_sleep = [&] { waiting->tell_waiting(false); };
  EXPECT_TRUE(lock(*storage_, 1'000'000).ok());
  EXPECT_EQ(clock_.slept.size(), 1U);
}

TEST_F(LockWait, WhereNobodyCanTellWhetherOthersAreInTheLockIsAskedFor) {
  const auto waiting = open_lock_file();
  ASSERT_NE(waiting, nullptr);
  waiting->tell_waiting(true);
  hold_for(*storage_, 1000);
  disk_.set_fault_hook(io::FailNth(1, EIO, false, {io::OperationKind::kInfo}).on_file("lock"));
  EXPECT_TRUE(lock(*storage_, 1'000'000).ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(clock_.slept.size(), 1U);
}

// It was stopped, or its processor has other work.
TEST_F(LockWait, WhoWaitsAndDoesNotComeKeepsNobodyForLong) {
  const auto waiting = open_lock_file();
  ASSERT_NE(waiting, nullptr);
  waiting->tell_waiting(true);
  const int64_t start_us = clock_.monotonic_us();
  for (int i = 0; i < 3000; ++i) hold_for(*storage_, 150);
  const int64_t waited_us = std::accumulate(clock_.slept.begin(), clock_.slept.end(), int64_t{0});
  EXPECT_GT(waited_us, 0);
  EXPECT_LE(waited_us, (clock_.monotonic_us() - start_us) / 9);
}

TEST_F(LockWait, WhoHeldItForAMomentOrHasNoTimeGivesNoWay) {
  const auto waiting = open_lock_file();
  ASSERT_NE(waiting, nullptr);
  waiting->tell_waiting(true);
  for (int i = 0; i < 100; ++i) hold_for(*storage_, 10);
  EXPECT_TRUE(clock_.slept.empty()) << "those who ask now and then find it free often enough";
  hold_for(*storage_, 1000);
  EXPECT_TRUE(lock(*storage_).ok());
  EXPECT_TRUE(clock_.slept.empty());
}

TEST_F(LockWait, IsForTheFileThatHasTheName) {
  ASSERT_TRUE((*disk_.open_root("s", false))->remove("lock").ok());
  const auto third = open_in(*other_process_);
  ASSERT_NE(third, nullptr);
  ASSERT_TRUE(lock(*third).ok());
  EXPECT_EQ(lock(*storage_).code(), Code::kBusy) << "it has another file open, that nobody locked";
  third->unlock();
  EXPECT_TRUE(lock(*storage_).ok());
  EXPECT_EQ(lock(*third).code(), Code::kBusy);
}

TEST_F(LockWait, IsRefusedToWhoeverMayNotWrite) {
  storage_.reset();
  disk_.set_read_only(true);
  storage_ = open_in(disk_);
  ASSERT_NE(storage_, nullptr);
  EXPECT_FALSE(storage_->writable());
  EXPECT_EQ(storage_->tail()->entries_bytes, 4u);
  EXPECT_EQ(lock(*storage_).code(), Code::kReadOnly);
}

TEST_F(LockWait, WhereTheLockMayNotBeOpenedNothingIsWritable) {
  disk_.set_fault_hook(io::FailNth(1, EACCES, true, {io::OperationKind::kOpen}).on_file("lock"));
  storage_ = open_in(disk_);
  ASSERT_NE(storage_, nullptr);
  EXPECT_FALSE(storage_->writable());
  EXPECT_EQ(storage_->tail()->entries_bytes, 4u);
}

TEST_F(LockWait, ALogThatMayOnlyBeReadIsRead) {
  bool refused = false;
  disk_.set_fault_hook([&refused](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool log = operation.name == "memory.jsonl";
    if (refused || !log || operation.kind != io::OperationKind::kOpen) return std::nullopt;
    refused = true;
    return io::Fault{EACCES};
  });
  storage_ = open_in(disk_);
  disk_.set_fault_hook(nullptr);
  ASSERT_NE(storage_, nullptr);
  EXPECT_FALSE(storage_->writable());
  EXPECT_EQ(storage_->tail()->entries_bytes, 4u);
  EXPECT_EQ(lock(*storage_).code(), Code::kReadOnly);
}

TEST_F(LockWait, ALockThatIsTakenAgainWritesNothing) {
  ASSERT_TRUE(lock(*storage_).ok());
  storage_->unlock();
  disk_.clear_trace();
  ASSERT_TRUE(lock(*storage_).ok());
  storage_->unlock();
  for (const std::string& line : disk_.trace()) {
    EXPECT_EQ(line.find("write"), std::string::npos) << line;
  }
}

TEST_F(LockWait, TheLockIsAskedForAgainAfterItCouldNotBeGivenBack) {
  ASSERT_TRUE(lock(*storage_).ok());
  const io::FailNth no_unlock =
      io::FailNth(1, EIO, false, {io::OperationKind::kUnlock}).on_file("lock");
  disk_.set_fault_hook(no_unlock);
  storage_->unlock();
  disk_.set_fault_hook(nullptr);
  EXPECT_GT(no_unlock.matched(), 0U);
  ASSERT_TRUE(lock(*storage_).ok());
  EXPECT_EQ(lock(*other_).code(), Code::kBusy);
}

}  // namespace
}  // namespace varve::log
