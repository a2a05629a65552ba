// Waiting for a session's lock: how often it is asked for, and that it is the one that has the
// name.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/simulated.h"
#include "log/directory_storage.h"
#include "support/environment.h"

namespace varve::log {
namespace {

// Stands still but for those who sleep by it, and remembers for how long each of them did.
class RecordingClock final : public Clock {
 public:
  int64_t now_ms() override { return test::kStartMs; }
  int64_t monotonic_us() override { return monotonic_us_; }
  void sleep_us(int64_t duration_us) override {
    monotonic_us_ += duration_us;
    slept.push_back(duration_us);
  }
  std::vector<int64_t> slept;

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
  disk_.set_fault_hook(io::FailNth(1, EIO, false, {io::OperationKind::kUnlock}).on_file("lock"));
  storage_->unlock();
  disk_.set_fault_hook(nullptr);
  ASSERT_TRUE(lock(*storage_).ok());
  EXPECT_EQ(lock(*other_).code(), Code::kBusy);
}

}  // namespace
}  // namespace varve::log
