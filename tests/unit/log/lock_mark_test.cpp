// What the lock file tells the next writer: how far which file is durable, and whether its syncs
// can be believed.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>

#include "io/simulated.h"
#include "log/directory_storage.h"
#include "log/lock_state.h"
#include "storage_disk.h"
#include "support/environment.h"

namespace varve::log {
namespace {

class LockMark : public StorageDisk {
 protected:
  void SetUp() override {
    storage_ = open();
    other_ = open();
    ASSERT_TRUE(storage_ && other_);
    ASSERT_TRUE(lock(*storage_).ok());
  }
  static Status add(DirectoryStorage& storage, std::string_view lines, bool durable) {
    return storage.append(Stream::kEntries, storage.tail()->entries_bytes, lines, durable, 0);
  }
  // As somebody who has just looked at the log sees it.
  uint64_t marked_bytes() {
    const auto reader = open();
    return reader->durable_mark().entries_bytes;
  }
  std::optional<LockState> told() {
    return decode_lock_state(disk_.read_file("s/lock").value_or(""));
  }
  std::string log() { return disk_.read_file("s/memory.jsonl").value_or("(none)"); }
  std::string log_after_power_loss() {
    return disk_.crash()->read_file("s/memory.jsonl").value_or("(none)");
  }
  static Status replace(DirectoryStorage& storage, Stream stream, std::string bytes) {
    return storage.replace(stream,
                           [bytes = std::move(bytes)](Sink& sink) { return sink.append(bytes); });
  }
  // Whether the log was said to be suspect at each sync of it while `work` ran.
  template <typename Work>
  bool is_suspect_in_syncs(Work work) {
    bool always = true;
    size_t syncs = 0;
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.kind == io::OperationKind::kSyncData && operation.name == "memory.jsonl") {
        always = always && told().has_value() && told()->suspect;
        syncs += 1;
      }
      return std::nullopt;
    });
    work();
    disk_.set_fault_hook(nullptr);
    return always && syncs > 0;
  }

  std::unique_ptr<DirectoryStorage> storage_;
  std::unique_ptr<DirectoryStorage> other_;
};

TEST_F(LockMark, IsOfTheFileThatWasThereBefore) {
  EXPECT_EQ(marked_bytes(), 0u);
  ASSERT_TRUE(add(*storage_, "two\n", true).ok());
  EXPECT_EQ(marked_bytes(), 8u);
}

TEST_F(LockMark, FollowsALogThatIsReplaced) {
  ASSERT_TRUE(add(*storage_, "two\n", true).ok());
  ASSERT_TRUE(replace(*storage_, Stream::kEntries, "one\ntwo\nthree\n").ok());
  EXPECT_EQ(marked_bytes(), 14u);
  ASSERT_TRUE(replace(*storage_, Stream::kEntries, "one\n").ok());
  EXPECT_EQ(marked_bytes(), 4u);
  ASSERT_TRUE(add(*storage_, "two\n", false).ok());
  ASSERT_TRUE(replace(*storage_, Stream::kTombstones, "gone\ngone\ngone\n").ok());
  EXPECT_EQ(marked_bytes(), 4u) << "that was another file";
  EXPECT_EQ(disk_.read_file("s/tombstones.jsonl"), "gone\ngone\ngone\n");
}

TEST_F(LockMark, NeverGoesBeyondALogThatSomebodyCutShort) {
  ASSERT_TRUE(add(*storage_, "two\nthree\n", true).ok());
  storage_->unlock();
  auto file = *(*disk_.open_root("s", false))->open("memory.jsonl", io::OpenMode::kAppend);
  ASSERT_TRUE(file->truncate(4).ok());
  ASSERT_TRUE(lock(*storage_, "compact").ok());
  EXPECT_EQ(marked_bytes(), 4u);
  ASSERT_TRUE(add(*storage_, "four\n", false).ok());
  EXPECT_EQ(marked_bytes(), 4u);
}

// Who was killed in the middle of a line had said "suspect" before it; the copy has that half line.
TEST_F(LockMark, IsNotOfHalfALineThatIsCopied) {
  ASSERT_TRUE(add(*storage_, "two\n", true).ok());
  storage_->unlock();
  LockState left = *told();
  left.suspect = true;
  disk_.write_file("s/lock", encode_lock_state(left));
  auto file = *(*disk_.open_root("s", false))->open("memory.jsonl", io::OpenMode::kAppend);
  ASSERT_TRUE(file->append("thr").ok());
  ASSERT_TRUE(lock(*other_).ok());
  EXPECT_FALSE(told()->suspect);
  EXPECT_EQ(log_after_power_loss(), "one\ntwo\nthr");
  EXPECT_EQ(marked_bytes(), 8u);
}

TEST_F(LockMark, ThatCameBackToWhatItWasIsReadAgain) {
  ASSERT_TRUE(add(*storage_, "two\n", true).ok());
  ASSERT_TRUE(storage_->truncate(Stream::kEntries, 8, 4).ok());
  storage_->unlock();
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(add(*storage_, "two\n", true).ok());
  storage_->unlock();
  ASSERT_TRUE(lock(*other_).ok());
  ASSERT_TRUE(other_->truncate(Stream::kEntries, 8, 4).ok());
  ASSERT_TRUE(add(*other_, "six\n", false).ok());
  other_->unlock();
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(is_suspect_in_syncs([&] { EXPECT_TRUE(add(*storage_, "four\n", true).ok()); }));
  EXPECT_EQ(log_after_power_loss(), "one\nsix\nfour\n");
}

TEST_F(LockMark, SaysSuspectAgainAfterAnotherTookItBack) {
  bool is_synced = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    is_synced = is_synced || operation.kind == io::OperationKind::kSyncData;
    if (is_synced && operation.kind == io::OperationKind::kWriteAt) return io::Fault{EIO};
    return std::nullopt;
  });
  ASSERT_TRUE(add(*storage_, "two\n", true).ok());
  storage_->unlock();
  disk_.set_fault_hook(nullptr);
  ASSERT_TRUE(told()->suspect) << "or nothing is tested";
  ASSERT_TRUE(lock(*other_).ok());
  other_->unlock();
  ASSERT_FALSE(told()->suspect);
  ASSERT_TRUE(lock(*storage_).ok());
  EXPECT_TRUE(is_suspect_in_syncs([&] { EXPECT_TRUE(add(*storage_, "three\n", true).ok()); }));
}

TEST_F(LockMark, SaysSuspectAgainAfterItWasCutShort) {
  bool is_synced = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    is_synced = is_synced || operation.kind == io::OperationKind::kSyncData;
    if (is_synced && operation.kind == io::OperationKind::kWriteAt) return io::Fault{EIO};
    return std::nullopt;
  });
  ASSERT_TRUE(add(*storage_, "two\n", true).ok());
  storage_->unlock();
  disk_.write_file("s/lock", "cut");
  ASSERT_TRUE(lock(*storage_).ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(is_suspect_in_syncs([&] { EXPECT_TRUE(add(*storage_, "three\n", true).ok()); }));
}

// The bytes are synced and the names are not, nor could the log be moved into a new file.
TEST_F(LockMark, StaysSuspectWhereWritingStopped) {
  storage_ = open();
  ASSERT_TRUE(lock(*storage_).ok());
  disk_.set_fault_hook(io::FailNth(1, EIO, true, {io::OperationKind::kSyncDirectory}));
  EXPECT_EQ(add(*storage_, "two\n", true).code(), Code::kUnknown);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(add(*storage_, "three\n", true).code(), Code::kReadOnly);
  storage_->unlock();
  ASSERT_TRUE(told().has_value());
  EXPECT_TRUE(told()->suspect) << "the next writer is to make a copy";
  EXPECT_EQ(lock(*storage_).code(), Code::kReadOnly) << "nor under another lock";
}

// Two containers may have a volume in common and give their processes the same number. All of this
// happens in one millisecond.
TEST_F(LockMark, TellsOfAnotherHolderOfTheSameNumber) {
  const auto third = open();
  storage_->unlock();
  for (DirectoryStorage* holder : {other_.get(), third.get(), other_.get()}) {
    ASSERT_TRUE(lock(*holder).ok());
    holder->unlock();
    ASSERT_TRUE(lock(*storage_).ok());
    EXPECT_TRUE(storage_->was_locked_by_others());
    storage_->unlock();
    ASSERT_TRUE(lock(*storage_).ok());
    EXPECT_FALSE(storage_->was_locked_by_others()) << "nobody did since";
    storage_->unlock();
  }
}

TEST_F(LockMark, HasTheTimeAgainAfterAClockThatWasAhead) {
  LockState left = *told();
  const int64_t now_ms = clock_.now_ms();
  left.timestamp_ms = now_ms + 3'600'000;
  storage_->unlock();
  disk_.write_file("s/lock", encode_lock_state(left));
  ASSERT_TRUE(lock(*storage_).ok());
  EXPECT_EQ(told()->timestamp_ms, now_ms);
}

// --- a new file that could not be looked at ------------------------------------------------------

class ReplacedUnseen : public LockMark {
 protected:
  // Replaces the log; what has the name then cannot be looked at.
  void replace_unseen(std::string bytes) {
    bool renamed = false;
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.kind == io::OperationKind::kRename) renamed = true;
      const bool looks =
          operation.kind == io::OperationKind::kInfo || operation.kind == io::OperationKind::kOpen;
      if (renamed && looks && operation.name == "memory.jsonl") return io::Fault{EIO};
      return std::nullopt;
    });
    EXPECT_TRUE(replace(*storage_, Stream::kEntries, std::move(bytes)).ok());
    disk_.set_fault_hook(nullptr);
  }
};

TEST_F(ReplacedUnseen, TheNextLineGoesIntoIt) {
  replace_unseen("new\n");
  EXPECT_EQ(log_after_power_loss(), "new\n");
  ASSERT_TRUE(storage_->append(Stream::kEntries, 4, "two\n", true, 0).ok());
  EXPECT_EQ(log_after_power_loss(), "new\ntwo\n");
  EXPECT_EQ(marked_bytes(), 8u);
}

TEST_F(ReplacedUnseen, NobodyReadsTheOldOneForTheNew) {
  const Tail before = *storage_->tail();
  replace_unseen("new\n");
  std::string bytes(4, ' ');
  EXPECT_EQ(storage_->read(Stream::kEntries, before.generation, 0, bytes).code(), Code::kGone);
  const Tail now = *storage_->tail();
  ASSERT_TRUE(storage_->read(Stream::kEntries, now.generation, 0, bytes).ok());
  EXPECT_EQ(bytes, "new\n");
}

TEST_F(LockMark, OneThatWasSeenIsAsItWasLookedAt) {
  ASSERT_TRUE(replace(*storage_, Stream::kEntries, "new\n").ok());
  const uint64_t generation = storage_->tail()->generation;
  EXPECT_EQ(storage_->tail()->generation, generation);
  disk_.clear_trace();
  ASSERT_TRUE(storage_->append(Stream::kEntries, 4, "two\n", true, 0).ok());
  for (const std::string& line : disk_.trace()) {
    EXPECT_EQ(line.find(" open "), std::string::npos) << line;
  }
}

TEST_F(LockMark, NewVectorsAreAppendedToAndTheOldOnesAreNot) {
  ASSERT_TRUE(storage_->append(Stream::kVectors, 0, "vectors", true, 0).ok());
  ASSERT_TRUE(replace(*storage_, Stream::kVectors, "rotcevs").ok());
  ASSERT_TRUE(storage_->append(Stream::kVectors, 7, "more", true, 0).ok());
  EXPECT_EQ(disk_.crash()->read_file("s/vectors.bin"), "rotcevsmore");
}

// --- the store's catalog -------------------------------------------------------------------------

TEST_F(LockMark, ANoteHoldsUntilTheSessionIsCataloguedAgain) {
  EXPECT_FALSE(storage_->is_noted());
  storage_->set_noted();
  for (int i = 0; i < 2; ++i) {
    storage_->unlock();
    ASSERT_TRUE(lock(*other_, "elsewhere").ok());
    EXPECT_FALSE(other_->is_noted()) << "that it noted is of one object only";
    other_->unlock();
    ASSERT_TRUE(lock(*storage_).ok());
    EXPECT_TRUE(storage_->is_noted()) << "others wrote, and nobody catalogued";
  }
  storage_->unlock();
  ASSERT_TRUE(lock(*other_).ok());
  ASSERT_TRUE(other_->mark_catalogued().ok());
  EXPECT_EQ(told()->catalogued_count, 1u);
  other_->unlock();
  ASSERT_TRUE(lock(*storage_).ok());
  EXPECT_FALSE(storage_->is_noted());
  EXPECT_EQ(storage_->catalogued_count(), 1u);
  storage_->set_noted();
  ASSERT_TRUE(storage_->mark_catalogued().ok());
  EXPECT_FALSE(storage_->is_noted());
  EXPECT_EQ(told()->catalogued_count, 2u);
}

TEST_F(LockMark, ANoteDoesNotHoldWhenItsLockFileIsLost) {
  for (const std::string text : {"", "no state", "{}"}) {
    storage_->set_noted();
    storage_->unlock();
    disk_.write_file("s/lock", text + std::string(text.empty() ? 0 : 512 - text.size(), ' '));
    ASSERT_TRUE(lock(*storage_).ok());
    EXPECT_FALSE(storage_->is_noted()) << text;
  }
  storage_->set_noted();
  storage_->unlock();
  ASSERT_TRUE((*disk_.open_root("s", false))->remove("lock").ok());
  ASSERT_TRUE(lock(*storage_).ok());
  EXPECT_FALSE(storage_->is_noted());
}

TEST_F(LockMark, ANoteDoesNotHoldByANumberOfAnotherLockFile) {
  ASSERT_TRUE(storage_->mark_catalogued().ok());
  storage_->set_noted();
  storage_->unlock();
  ASSERT_TRUE((*disk_.open_root("s", false))->remove("lock").ok());
  ASSERT_TRUE(lock(*other_, "elsewhere").ok());
  ASSERT_TRUE(other_->mark_catalogued().ok());
  other_->unlock();
  ASSERT_TRUE(lock(*storage_).ok());
  EXPECT_EQ(storage_->catalogued_count(), 1u) << "as it was before";
  EXPECT_FALSE(storage_->is_noted());
}

TEST_F(LockMark, WhatIsCataloguedIsSaidByLaterWriters) {
  ASSERT_TRUE(storage_->mark_catalogued().ok());
  ASSERT_TRUE(add(*storage_, "two\n", true).ok());
  storage_->unlock();
  ASSERT_TRUE(lock(*other_, "elsewhere").ok());
  ASSERT_TRUE(add(*other_, "three\n", true).ok());
  EXPECT_EQ(told()->catalogued_count, 1u);
}

}  // namespace
}  // namespace varve::log
