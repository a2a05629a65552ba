// A lock that is kept between calls: nobody else has it, and what is known of the streams is right
// after everything that changes them.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "io/simulated.h"
#include "log/directory_storage.h"
#include "storage_disk.h"
#include "support/environment.h"
#include "support/no_memory/no_memory.h"

namespace varve::log {
namespace {

class KeptLock : public StorageDisk {
 protected:
  void SetUp() override {
    storage_ = open_in(disk_);
    other_ = open_in(*other_process_);
    ASSERT_TRUE(storage_ && other_);
    ASSERT_TRUE(lock(*storage_).ok());
    storage_->keep_lock();
    storage_->unlock();
  }
  Status append(uint64_t start_bytes, std::string_view lines, bool durable = false) {
    return storage_->append(Stream::kEntries, start_bytes, lines, durable, 0);
  }
  uint64_t known_bytes() { return storage_->tail()->entries_bytes; }
  uint64_t bytes_on_disk() { return disk_.read_file("s/memory.jsonl")->size(); }

  std::unique_ptr<io::SimulatedFileSystem> other_process_ = disk_.process(4711);
  std::unique_ptr<DirectoryStorage> storage_;
  std::unique_ptr<DirectoryStorage> other_;
};

TEST_F(KeptLock, IsGivenBackWhenItIsNotToBeKeptAnyMore) {
  EXPECT_EQ(lock(*other_).code(), Code::kBusy);
  ASSERT_TRUE(lock(*storage_).ok());
  storage_->stop_keeping_lock();
  EXPECT_EQ(lock(*other_).code(), Code::kBusy) << "until it is unlocked";
  storage_->unlock();
  ASSERT_TRUE(lock(*other_).ok());
  EXPECT_EQ(lock(*storage_).code(), Code::kBusy);
  ASSERT_TRUE(other_->append(Stream::kEntries, 4, "two\n", false, 0).ok());
  EXPECT_EQ(known_bytes(), 8u) << "others may write again";
}

TEST_F(KeptLock, TheFilesAreNotAskedBetweenCalls) {
  uint64_t operation_count = 0;
  disk_.set_fault_hook([&](const io::OperationInfo&) {
    operation_count += 1;
    return std::nullopt;
  });
  EXPECT_EQ(known_bytes(), 4u);
  ASSERT_TRUE(lock(*storage_).ok());
  EXPECT_EQ(storage_->locked_tail()->entries_bytes, 4u);
  storage_->unlock();
  EXPECT_EQ(operation_count, 0u);
  EXPECT_TRUE(append(4, "two\n").ok());
  EXPECT_GT(operation_count, 0u);
}

TEST_F(KeptLock, WhatIsAppendedIsKnown) {
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(append(4, "two\n").ok());
  EXPECT_EQ(known_bytes(), 8u) << "at once: the index may have it by now";
  ASSERT_TRUE(storage_->append(Stream::kTombstones, 0, "gone\n", false, 0).ok());
  storage_->unlock();
  EXPECT_EQ(known_bytes(), 8u);
  EXPECT_EQ(storage_->tail()->tombstones_bytes, 5u);
}

TEST_F(KeptLock, WhatIsCutOffIsKnown) {
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(append(4, "two\n").ok());
  ASSERT_TRUE(storage_->truncate(Stream::kEntries, 8, 4).ok());
  EXPECT_EQ(known_bytes(), 4u);
  ASSERT_TRUE(append(4, "three\n").ok());
  storage_->unlock();
  EXPECT_EQ(known_bytes(), bytes_on_disk());
}

TEST_F(KeptLock, AReplacementIsKnown) {
  const uint64_t generation = storage_->tail()->generation;
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(
      storage_
          ->replace(Stream::kEntries, [](Sink& sink) { return sink.append("of another length\n"); })
          .ok());
  EXPECT_NE(storage_->tail()->generation, generation);
  EXPECT_EQ(known_bytes(), bytes_on_disk());
  EXPECT_EQ(storage_->durable_mark().entries_bytes, bytes_on_disk());
  storage_->unlock();
  EXPECT_EQ(known_bytes(), bytes_on_disk());
}

// The lines went into the file, were known, and are not in the copy that took its place.
TEST_F(KeptLock, AFailedSyncIsKnown) {
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(append(4, "two\n", true).ok());
  const uint64_t generation = storage_->tail()->generation;
  disk_.set_fault_hook(
      io::FailNth(1, EIO, false, {io::OperationKind::kSyncData}).on_file("memory.jsonl"));
  EXPECT_EQ(append(8, "lost\n", true).code(), Code::kIo);
  disk_.set_fault_hook({});
  EXPECT_NE(storage_->tail()->generation, generation);
  EXPECT_EQ(known_bytes(), 8u);
  storage_->unlock();
  EXPECT_EQ(known_bytes(), bytes_on_disk());
}

TEST_F(KeptLock, AnAppendOfSomebodyElseIsAConflictAndThenKnown) {
  disk_.write_file("s/memory.jsonl", "one\nstrange\n");
  EXPECT_EQ(known_bytes(), 4u);
  ASSERT_TRUE(lock(*storage_).ok());
  EXPECT_EQ(append(4, "two\n").code(), Code::kConflict);
  EXPECT_EQ(known_bytes(), 12u);
  storage_->unlock();
}

TEST_F(KeptLock, IsKeptThoughTheStreamsCannotBeLookedAt) {
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(
      storage_->replace(Stream::kEntries, [](Sink& sink) { return sink.append("two\nthree\n"); })
          .ok());
  disk_.set_fault_hook(io::FailNth(1, EIO, true, {io::OperationKind::kInfo}));
  storage_->unlock();
  EXPECT_EQ(lock(*storage_).code(), Code::kIo) << "nothing may be written to an end nobody knows";
  disk_.set_fault_hook({});
  EXPECT_EQ(lock(*other_).code(), Code::kBusy);
  ASSERT_TRUE(lock(*storage_).ok());
  EXPECT_EQ(storage_->locked_tail()->entries_bytes, bytes_on_disk());
  EXPECT_TRUE(append(10, "four\n").ok());
}

// After a replacement the streams are looked at once more, which may need memory.
TEST_F(KeptLock, IsKeptThoughMemoryRunsOutInTheLastLook) {
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(
      storage_
          ->replace(Stream::kEntries, [](Sink& sink) { return sink.append("one\ntwo\nthree\n"); })
          .ok());
  {
    const varve_test::NoMemory limit(0, varve_test::NoMemory::Refuses::kAll);
    storage_->unlock();
    ASSERT_TRUE(limit.was_met()) << "or nothing is tested";
  }
  EXPECT_EQ(known_bytes(), bytes_on_disk());
  EXPECT_EQ(lock(*other_).code(), Code::kBusy);
}

}  // namespace
}  // namespace varve::log
