// What a failure leaves behind for the next write, and for the next writer: suspicion, marks,
// streams that nobody may append to, and a transcript that heals as the logs do.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/simulated.h"
#include "log/directory_storage.h"
#include "log/lock_state.h"
#include "storage_disk.h"
#include "support/environment.h"

namespace varve::log {
namespace {

// Of which the kernel tells another boot, or none, or that no other process runs.
class FileSystemOfBoot final : public io::FileSystem {
 public:
  FileSystemOfBoot(io::FileSystem& inner, std::string boot_id, bool others_run = true)
      : inner_(inner), boot_id_(std::move(boot_id)), others_run_(others_run) {}
  Result<std::unique_ptr<io::Directory>> open_root(std::string_view path, bool create) override {
    return inner_.open_root(path, create);
  }
  Result<std::unique_ptr<io::File>> open_file(std::string_view path) override {
    return inner_.open_file(path);
  }
  [[nodiscard]] int64_t process_id() const override { return inner_.process_id(); }
  [[nodiscard]] std::string boot_id() const override { return boot_id_; }
  [[nodiscard]] bool may_run(int64_t) const override { return others_run_; }

 private:
  io::FileSystem& inner_;
  std::string boot_id_;
  bool others_run_;
};

class AfterAFailure : public StorageDisk {
 protected:
  void SetUp() override {
    storage_ = open_in(disk_);
    ASSERT_NE(storage_, nullptr);
  }
  Status lock() { return StorageDisk::lock(*storage_); }
  Status add(std::string_view lines, bool durable) {
    return storage_->append(Stream::kEntries, storage_->tail()->entries_bytes, lines, durable, 0);
  }
  std::optional<LockState> told() {
    return decode_lock_state(disk_.read_file("s/lock").value_or(""));
  }
  uint64_t inode_of(std::string_view name) {
    return (*disk_.open_root("s", false))->info(name)->identity.inode;
  }
  io::FailNth fail(uint64_t n, bool sticky, io::OperationKind kind, std::string name) {
    const io::FailNth fault = io::FailNth(n, EIO, sticky, {kind}).on_file(std::move(name));
    disk_.set_fault_hook(fault);
    return fault;
  }
  // As a writer leaves the lock file that was killed between a sync that failed and saying so.
  void plant_suspicion() {
    LockState state = *told();
    state.suspect = true;
    disk_.write_file("s/lock", encode_lock_state(state));
  }

  std::unique_ptr<DirectoryStorage> storage_;
};

TEST_F(AfterAFailure, ASuspicionOfAnotherMakesEveryFileAnew) {
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(add("two\n", true).ok());
  ASSERT_TRUE(storage_->append(Stream::kTombstones, 0, "gone\n", true, 0).ok());
  ASSERT_TRUE(storage_->append(Stream::kVectors, 0, "vectors", true, 0).ok());
  ASSERT_TRUE(storage_->append_to_transcript(0, "said", true).ok());
  storage_->unlock();
  const auto names = {"memory.jsonl", "tombstones.jsonl", "vectors.bin", "transcript.md"};
  std::vector<uint64_t> before;
  for (const auto* name : names) before.push_back(inode_of(name));
  plant_suspicion();
  ASSERT_TRUE(lock().ok());
  size_t at = 0;
  for (const auto* name : names) EXPECT_NE(inode_of(name), before[at++]) << name;
  EXPECT_EQ(disk_.crash()->read_file("s/memory.jsonl"), "one\ntwo\n");
  EXPECT_EQ(disk_.crash()->read_file("s/tombstones.jsonl"), "gone\n");
  ASSERT_TRUE(told().has_value());
  EXPECT_FALSE(told()->suspect);
  storage_->unlock();
  const uint64_t made_anew = inode_of("memory.jsonl");
  ASSERT_TRUE(lock().ok());
  EXPECT_EQ(inode_of("memory.jsonl"), made_anew) << "once is enough";
}

// Both are asked of the kernel, and where that does not tell, a reboot is not known.
TEST_F(AfterAFailure, ASuspicionStaysWhereTheBootIsNotKnown) {
  struct Case {
    const char* told;
    const char* ours;
    bool is_copied;
  };
  for (const Case& tried : {Case{"", "", true}, Case{"b", "", true}, Case{"", "b", true},
                            Case{"b", "b", true}, Case{"a", "b", false}}) {
    ASSERT_TRUE(lock().ok());
    storage_->unlock();
    LockState state = *told();
    state.suspect = true;
    state.boot_id = tried.told;
    disk_.write_file("s/lock", encode_lock_state(state));
    FileSystemOfBoot files(disk_, tried.ours);
    const auto writer =
        *DirectoryStorage::open(*disk_.open_root("s", false), {&files, &clock_, &random_});
    const uint64_t before = inode_of("memory.jsonl");
    ASSERT_TRUE(writer->lock(clock_.monotonic_us(), "write", nullptr).ok());
    EXPECT_EQ(inode_of("memory.jsonl") != before, tried.is_copied)
        << "'" << tried.told << "' and '" << tried.ours << "'";
    EXPECT_FALSE(told()->suspect);
    writer->unlock();
  }
}

// A number may be that of a file whose name was synced, long ago.
TEST_F(AfterAFailure, AFileThatHasTheNumberOfAnotherHasItsNameSynced) {
  disk_.set_inode_count(2);
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(add("two\n", true).ok());
  storage_->unlock();
  const auto replace_with = [&](io::SimulatedFileSystem& files, std::string_view bytes) {
    const auto other = open_in(files);
    if (!other->lock(clock_.monotonic_us(), "replace", nullptr).ok()) return false;
    const bool is_done =
        other->replace(Stream::kEntries, [&](Sink& sink) { return sink.append(bytes); }).ok();
    other->unlock();
    return is_done;
  };
  const uint64_t first = inode_of("memory.jsonl");
  disk_.write_file("s/has_the_number_between", "");
  const auto second_process = disk_.process(2);
  ASSERT_TRUE(replace_with(*second_process, "replaced\n"));
  ASSERT_NE(inode_of("memory.jsonl"), first);
  ASSERT_TRUE(storage_->tail().ok());
  const auto third_process = disk_.process(3);
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_it = operation.kind == io::OperationKind::kSyncDirectory;
    if (is_it && operation.process_id == 3) third_process->kill();
    return std::nullopt;
  });
  EXPECT_FALSE(replace_with(*third_process, "replaced again\n"));
  disk_.set_fault_hook(nullptr);
  ASSERT_EQ(inode_of("memory.jsonl"), first) << "the test needs a number that comes again";
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(add("three\n", true).ok());
  EXPECT_EQ(disk_.crash()->read_file("s/memory.jsonl"), "replaced again\nthree\n");
}

// Of two files that have a name one after the other, a sync is of the one that had it when it
// began.
TEST_F(AfterAFailure, AFileThatTakesANameWhileTheNamesAreSyncedHasItSyncedWithTheNextLines) {
  disk_.write_file("s/tombstones.jsonl", "gone\n");
  ASSERT_TRUE(lock().ok());
  disk_.write_file("s/theirs", "gone\ntoo\n");
  uint64_t sync_count = 0;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kSyncDirectory && ++sync_count == 1) {
      EXPECT_TRUE((*disk_.open_root("s", false))->rename("theirs", "tombstones.jsonl").ok());
      EXPECT_EQ(storage_->tail()->tombstones_bytes, 9U) << "as a reader sees it meanwhile";
    }
    return std::nullopt;
  });
  ASSERT_TRUE(add("two\n", true).ok());
  EXPECT_EQ(sync_count, 1U);
  ASSERT_TRUE(add("three\n", true).ok());
  EXPECT_EQ(sync_count, 2U);
  ASSERT_TRUE(add("four\n", true).ok());
  EXPECT_EQ(sync_count, 2U) << "once is enough";
  disk_.set_fault_hook(nullptr);
}

// Somebody's hand, for no process of ours removes one of a session that it leaves.
TEST_F(AfterAFailure, OfALogThatWasRemovedNothingIsSyncedOrMadeAnew) {
  const auto remove_log = [&] {
    return (*disk_.open_root("s", false))->remove("memory.jsonl").ok();
  };
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(add("two\n", false).ok());
  ASSERT_TRUE(remove_log());
  EXPECT_TRUE(storage_->sync(1).ok());
  EXPECT_EQ(storage_->durable_mark().entries_bytes, 0U);
  EXPECT_FALSE(disk_.exists("s/memory.jsonl"));
  ASSERT_TRUE(add("three\n", true).ok());
  storage_->unlock();
  EXPECT_EQ(disk_.crash()->read_file("s/memory.jsonl"), "three\n");
  plant_suspicion();
  ASSERT_TRUE(remove_log());
  ASSERT_TRUE(lock().ok());
  EXPECT_FALSE(told()->suspect);
  EXPECT_FALSE(disk_.exists("s/memory.jsonl"));
  ASSERT_TRUE(add("four\n", true).ok());
  EXPECT_EQ(disk_.crash()->read_file("s/memory.jsonl"), "four\n");
}

TEST_F(AfterAFailure, QuarantineThatCameShortIsCutOffAgain) {
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(storage_->append(Stream::kQuarantine, 0, "first\n", true, 0).ok());
  disk_.set_fault_hook(io::FailNth(1, ENOSPC, false, {io::OperationKind::kAppend})
                           .after_bytes(3)
                           .on_file("quarantine.jsonl"));
  EXPECT_EQ(storage_->append(Stream::kQuarantine, 0, "second\n", true, 0).code(), Code::kNoSpace);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(disk_.read_file("s/quarantine.jsonl"), "first\n");
}

TEST_F(AfterAFailure, QuarantineBehindATornLineBeginsANewOne) {
  disk_.write_file("s/quarantine.jsonl", "first\nto");
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(storage_->append(Stream::kQuarantine, 0, "second\n", true, 0).ok());
  EXPECT_EQ(disk_.read_file("s/quarantine.jsonl"), "first\nto\nsecond\n");
}

TEST_F(AfterAFailure, ASuspicionMakesNoFileThatWasNotThere) {
  ASSERT_TRUE(lock().ok());
  storage_->unlock();
  plant_suspicion();
  ASSERT_TRUE(lock().ok());
  EXPECT_FALSE(disk_.exists("s/tombstones.jsonl"));
  EXPECT_FALSE(disk_.exists("s/vectors.bin"));
}

TEST_F(AfterAFailure, WhatWasHealedIsNotSuspectAnyMore) {
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(add("before\n", true).ok());
  fail(1, false, io::OperationKind::kSyncData, "memory.jsonl");
  EXPECT_EQ(add("two\n", true).code(), Code::kIo);
  disk_.set_fault_hook(nullptr);
  ASSERT_TRUE(told().has_value());
  EXPECT_FALSE(told()->suspect) << "the next writer would copy the log for nothing";
}

TEST_F(AfterAFailure, TheLogIsSuspectWhileItIsSynced) {
  ASSERT_TRUE(lock().ok());
  bool was_suspect = false;
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kSyncData && operation.name == "memory.jsonl") {
      was_suspect = told().has_value() && told()->suspect;
    }
    return std::nullopt;
  });
  EXPECT_TRUE(add("two\n", true).ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(was_suspect);
}

TEST_F(AfterAFailure, ThatCannotBeUndoneNothingIsWrittenUnderTheSameLock) {
  ASSERT_TRUE(lock().ok());
  disk_.set_fault_hook(io::FailNth(1, EIO, true, {io::OperationKind::kSyncData}));
  EXPECT_EQ(add("two\n", true).code(), Code::kIo);
  disk_.set_fault_hook(nullptr);
  const std::string log = *disk_.read_file("s/memory.jsonl");
  EXPECT_EQ(add("three\n", true).code(), Code::kReadOnly);
  EXPECT_EQ(storage_->sync(1).code(), Code::kReadOnly);
  EXPECT_EQ(storage_->truncate(Stream::kEntries, 8, 0).code(), Code::kReadOnly);
  EXPECT_EQ(storage_->remove_vectors().code(), Code::kReadOnly);
  EXPECT_EQ(storage_->append_to_transcript(0, "said", true).code(), Code::kReadOnly);
  const auto nothing = [](Sink&) { return Status(); };
  EXPECT_EQ(storage_->replace(Stream::kEntries, nothing).code(), Code::kReadOnly);
  EXPECT_EQ(disk_.read_file("s/memory.jsonl"), log);
}

TEST_F(AfterAFailure, TheMarkNeverCoversWhatWasAppendedBehindACutAndNotSynced) {
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(add("two\nthree\n", true).ok());
  ASSERT_TRUE(storage_->truncate(Stream::kEntries, 14, 4).ok());
  ASSERT_TRUE(add("four\n", false).ok());
  storage_->unlock();
  EXPECT_LE(storage_->durable_mark().entries_bytes, 4u);
}

TEST_F(AfterAFailure, ALockFileThatWasCutShortIsWrittenAnew) {
  ASSERT_TRUE(lock().ok());
  storage_->unlock();
  disk_.write_file("s/lock", "cut");
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(told().has_value());
  EXPECT_EQ(told()->operation, "write");
  EXPECT_EQ(told()->expires_at_ms, told()->timestamp_ms + 5000);
}

// As on a full disk where also what exists is written to new places.
TEST_F(AfterAFailure, OfAWriteThatWroteNothingNothingIsCutOff) {
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(add("two\n", true).ok());
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const auto is_it = [&](io::OperationKind kind) { return operation.kind == kind; };
    const bool is_change =
        is_it(io::OperationKind::kAppend) || is_it(io::OperationKind::kWriteAt) ||
        is_it(io::OperationKind::kTruncate) || is_it(io::OperationKind::kSyncData);
    return is_change ? std::optional(io::Fault{ENOSPC}) : std::nullopt;
  });
  EXPECT_EQ(add("three\n", true).code(), Code::kNoSpace);
  EXPECT_EQ(storage_->append_to_transcript(0, "said", true).code(), Code::kNoSpace);
  disk_.set_fault_hook(nullptr);
  EXPECT_TRUE(add("four\n", true).ok());
  EXPECT_TRUE(storage_->append_to_transcript(0, "said", true).ok());
  EXPECT_EQ(disk_.crash()->read_file("s/memory.jsonl"), "one\ntwo\nfour\n");
}

TEST_F(AfterAFailure, WhatIsInQuarantineSurvivesPowerLoss) {
  ASSERT_TRUE(lock().ok());
  ASSERT_TRUE(storage_->append(Stream::kQuarantine, 0, "torn\n", true, 0).ok());
  EXPECT_EQ(disk_.crash()->read_file("s/quarantine.jsonl"), "torn\n");
}

TEST_F(AfterAFailure, ALockThatCannotBeGivenBackIsGivenBackByClosing) {
  const auto other_process = disk_.process(4711);
  const auto other = open_in(*other_process);
  ASSERT_TRUE(lock().ok());
  const io::FailNth no_unlock = fail(1, false, io::OperationKind::kUnlock, "lock");
  storage_->unlock();
  disk_.set_fault_hook(nullptr);
  EXPECT_GT(no_unlock.matched(), 0U);
  storage_->unlock();  // as somebody does who was not told
  EXPECT_TRUE(other->lock(clock_.monotonic_us(), "write", nullptr).ok());
}

TEST_F(AfterAFailure, AStreamThatIsNotThereIsCutToNothingWithoutBeingMade) {
  ASSERT_TRUE(lock().ok());
  EXPECT_TRUE(storage_->truncate(Stream::kTombstones, 0, 0).ok());
  EXPECT_FALSE(disk_.exists("s/tombstones.jsonl"));
}

TEST_F(AfterAFailure, AlsoVectorsOfNoBytesAreRemoved) {
  disk_.write_file("s/vectors.bin", "");
  ASSERT_TRUE(lock().ok());
  EXPECT_TRUE(storage_->remove_vectors().ok());
  EXPECT_FALSE(disk_.crash()->exists("s/vectors.bin"));
  EXPECT_TRUE(storage_->remove_vectors().ok()) << "there are none";
}

TEST_F(AfterAFailure, OfAHolderWhoseLockFileSaysNothingItIsKnownThatThereIsOne) {
  ASSERT_TRUE(lock().ok());
  for (const size_t size : {size_t{0}, kLockStateBytes - 1, kLockStateBytes}) {
    disk_.write_file("s/lock", std::string(size, 'x'));
    const LockHolder holder = storage_->lock_holder();
    EXPECT_TRUE(holder.is_held) << size;
    EXPECT_EQ(holder.process_id, 0);
    EXPECT_EQ(holder.operation, "");
  }
}

// Another program has the lock, and left no note. Nobody may end a process for what an older one
// says: by now the number may be of another.
TEST_F(AfterAFailure, OfAHolderThatLeftNoNoteNobodyElseIsNamed) {
  ASSERT_TRUE(lock().ok());
  struct Case {
    std::string boot_id;
    bool others_run;
    bool is_named;
  };
  const std::string ours = disk_.boot_id();
  for (const Case& tried : {Case{ours, true, true}, Case{"", true, true}, Case{ours, false, false},
                            Case{"of a later boot", true, false}}) {
    FileSystemOfBoot files(disk_, tried.boot_id, tried.others_run);
    const auto other =
        *DirectoryStorage::open(*disk_.open_root("s", false), {&files, &clock_, &random_});
    const Status busy = other->lock(clock_.monotonic_us(), "write", nullptr);
    ASSERT_EQ(busy.code(), Code::kBusy);
    EXPECT_EQ(busy.message().find("(process ") != std::string::npos, tried.is_named)
        << busy.message();
    EXPECT_EQ(busy.message().find("the last note in it is of process ") == std::string::npos,
              tried.is_named)
        << busy.message();
    const LockHolder holder = other->lock_holder();
    EXPECT_TRUE(holder.is_held);
    EXPECT_EQ(holder.process_id != 0, tried.is_named);
  }
}

// Also where that writer has had the session open for long.
TEST_F(AfterAFailure, WhatAKilledWriterLeftIsRemovedByTheNext) {
  const std::string left_over = "s/memory.jsonl.tmp-0123456789abcdef";
  for (const bool runs : {true, false}) {
    FileSystemOfBoot files(disk_, disk_.boot_id(), runs);
    const auto writer =
        *DirectoryStorage::open(*disk_.open_root("s", false), {&files, &clock_, &random_});
    ASSERT_TRUE(StorageDisk::lock(*writer).ok());
    writer->unlock();
    ASSERT_TRUE(lock().ok());
    disk_.write_file(left_over, "half");
    storage_->unlock();
    ASSERT_TRUE(StorageDisk::lock(*writer).ok());
    EXPECT_EQ(disk_.exists(left_over), runs) << "nobody looks for what a living one left";
    writer->unlock();
  }
}

// --- the transcript ------------------------------------------------------------------------------

class TranscriptAfterAFailure : public AfterAFailure {
 protected:
  void SetUp() override {
    AfterAFailure::SetUp();
    ASSERT_TRUE(lock().ok());
    ASSERT_TRUE(storage_->append_to_transcript(0, "one", true).ok());
  }
  std::string path() { return std::string("s/") + std::string(kTranscriptFile); }
  std::string transcript() { return disk_.read_file(path()).value_or("(none)"); }
};

TEST_F(TranscriptAfterAFailure, OfASyncMovesIntoANewFileWithoutWhatWasRefused) {
  const uint64_t before = inode_of(kTranscriptFile);
  fail(1, false, io::OperationKind::kSyncData, std::string(kTranscriptFile));
  const Status failed = storage_->append_to_transcript(3, " two", true);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(failed.code(), Code::kIo);
  EXPECT_NE(failed.message().find("nothing was added"), std::string::npos) << failed.message();
  EXPECT_EQ(transcript(), "one");
  EXPECT_NE(inode_of(kTranscriptFile), before);
  EXPECT_FALSE(told()->suspect);
  EXPECT_TRUE(storage_->append_to_transcript(3, " three", true).ok());
  EXPECT_EQ(disk_.crash()->read_file(path()), "one three");
}

TEST_F(TranscriptAfterAFailure, OfASyncThatCannotHealStopsWriting) {
  disk_.set_fault_hook(io::FailNth(1, EIO, true, {io::OperationKind::kSyncData}));
  const Status failed = storage_->append_to_transcript(3, " two", true);
  disk_.set_fault_hook(nullptr);
  EXPECT_NE(failed.message().find("the outcome is unknown"), std::string::npos) << failed.message();
  EXPECT_EQ(storage_->append_to_transcript(3, " three", true).code(), Code::kReadOnly);
  EXPECT_TRUE(told()->suspect);
}

TEST_F(TranscriptAfterAFailure, OfAWriteIsCutOffAgain) {
  disk_.set_fault_hook(io::FailNth(1, ENOSPC, false, {io::OperationKind::kAppend})
                           .on_file(std::string(kTranscriptFile))
                           .after_bytes(2));
  EXPECT_EQ(storage_->append_to_transcript(3, " two", true).code(), Code::kNoSpace);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(transcript(), "one");
  EXPECT_TRUE(storage_->append_to_transcript(3, " two", true).ok());
}

TEST_F(TranscriptAfterAFailure, OfAWriteThatCannotBeCutOffDurablyMovesIntoANewFile) {
  for (const auto failing : {io::OperationKind::kTruncate, io::OperationKind::kSyncData}) {
    const uint64_t before = inode_of(kTranscriptFile);
    disk_.set_fault_hook([=](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.name != kTranscriptFile) return std::nullopt;
      if (operation.kind == io::OperationKind::kAppend) return io::Fault{ENOSPC, 2};
      if (operation.kind == failing) return io::Fault{EIO};
      return std::nullopt;
    });
    EXPECT_EQ(storage_->append_to_transcript(3, " two", true).code(), Code::kNoSpace);
    disk_.set_fault_hook(nullptr);
    EXPECT_EQ(transcript(), "one");
    EXPECT_EQ(disk_.crash()->read_file(path()), "one");
    EXPECT_NE(inode_of(kTranscriptFile), before);
  }
}

}  // namespace
}  // namespace varve::log
