// The transcript while it moves into a new file: whoever is killed in between leaves a word of it.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "io/simulated.h"
#include "log/atomic_file.h"
#include "log/lock_state.h"
#include "storage_disk.h"

namespace varve::log {
namespace {

class MovedTranscript : public StorageDisk {};
class Transcript : public StorageDisk {};

// Somebody without the lock appends to it at the moment when we do.
class TranscriptOfStrangers : public StorageDisk {
 protected:
  void SetUp() override {
    storage_ = open();
    ASSERT_TRUE(lock(*storage_).ok());
    ASSERT_TRUE(storage_->append_to_transcript(0, "one", false).ok());
  }
  void append_theirs() {
    const auto stranger = disk_.process(4711);
    const auto file =
        *(*stranger->open_root("s", false))->open(kTranscriptFile, io::OpenMode::kAppend);
    EXPECT_TRUE(file->append(" theirs").ok());
  }
  std::string text() { return disk_.read_file("s/transcript.md").value_or("(none)"); }
  std::string durable_text() {
    return disk_.crash()->read_file("s/transcript.md").value_or("(none)");
  }

  std::unique_ptr<DirectoryStorage> storage_;
};

TEST_F(MovedTranscript, IsSuspectUntilItIsInItsNewFile) {
  const auto storage = open();
  ASSERT_TRUE(lock(*storage).ok());
  ASSERT_TRUE(storage->append_to_transcript(0, "one", false).ok());
  const auto is_suspect = [&] {
    const auto told = decode_lock_state(disk_.read_file("s/lock").value_or(""));
    return told.has_value() && told->suspect;
  };
  bool was_suspect = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kRename) was_suspect = is_suspect();
    if (operation.name != kTranscriptFile) return std::nullopt;
    if (operation.kind == io::OperationKind::kAppend) return io::Fault{ENOSPC, 2};
    if (operation.kind == io::OperationKind::kTruncate) return io::Fault{EIO};
    return std::nullopt;
  });
  EXPECT_EQ(storage->append_to_transcript(3, " two", true).code(), Code::kNoSpace);
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(was_suspect);
  EXPECT_FALSE(is_suspect()) << "the next writer would copy it for nothing";
  EXPECT_EQ(disk_.crash()->read_file("s/transcript.md"), "one");
}

// Nothing has happened then that a copy would have to mend, for which there is no room either.
TEST_F(Transcript, IsRefusedByAFullDiskThatDoesNotTakeTheLockFileAndGoesOnLater) {
  const auto storage = open();
  ASSERT_TRUE(lock(*storage).ok());
  ASSERT_TRUE(storage->append_to_transcript(0, "one", false).ok());
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool writes = operation.kind == io::OperationKind::kAppend ||
                        operation.kind == io::OperationKind::kWriteAt;
    if (writes && operation.name != kTranscriptFile) return io::Fault{ENOSPC};
    return std::nullopt;
  });
  EXPECT_EQ(storage->append_to_transcript(3, " two", true).code(), Code::kNoSpace);
  EXPECT_EQ(storage->sync(0).code(), Code::kNoSpace);
  EXPECT_EQ(disk_.read_file("s/transcript.md"), "one");
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(storage->append_to_transcript(3, " two", true).ok());
  EXPECT_EQ(disk_.crash()->read_file("s/transcript.md"), "one two");
}

TEST_F(TranscriptOfStrangers, WhatTheyAppendedBehindAPartOfOursIsNotCutOff) {
  bool has_failed = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.name != kTranscriptFile || operation.process_id == 4711) return std::nullopt;
    if (operation.kind == io::OperationKind::kAppend) {
      has_failed = true;
      return io::Fault{ENOSPC, 2};
    }
    if (std::exchange(has_failed, false)) append_theirs();
    return std::nullopt;
  });
  EXPECT_EQ(storage_->append_to_transcript(3, " two", false).code(), Code::kUnknown);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(text(), "one t theirs");
}

TEST_F(TranscriptOfStrangers, WhatTheyAppendedBehindOursStaysWhenASyncFails) {
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool syncs = operation.kind == io::OperationKind::kSyncData;
    if (!syncs || operation.name != kTranscriptFile) return std::nullopt;
    append_theirs();
    return io::Fault{EIO};
  });
  EXPECT_TRUE(storage_->append_to_transcript(3, " two", true).ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(text(), "one two theirs");
  EXPECT_EQ(durable_text(), text());
}

// The copy that a failed sync makes necessary is made again.
TEST_F(TranscriptOfStrangers, WhatTheyAppendedWhileItWasCopiedIsCopiedToo) {
  for (const bool durable : {false, true}) {
    const std::string before = text();
    int syncs = 0;
    disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.kind != io::OperationKind::kSyncData) return std::nullopt;
      if (operation.name == kTranscriptFile) return io::Fault{EIO};
      if (is_temporary_name(operation.name) && ++syncs == 1) append_theirs();
      return std::nullopt;
    });
    const Status added = storage_->append_to_transcript(before.size(), " two", durable);
    EXPECT_TRUE(added.ok()) << added.message();
    EXPECT_TRUE(storage_->sync(0).ok());
    disk_.set_fault_hook(nullptr);
    EXPECT_EQ(text(), before + " two theirs");
    EXPECT_EQ(durable_text(), text());
  }
}

}  // namespace
}  // namespace varve::log
