// What only a directory has: a lock file that people read, files that go bad, a disk that fails.
#include "log/directory_storage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "io/simulated.h"
#include "log/lock_state.h"
#include "support/environment.h"

namespace varve::log {
namespace {

using io::FailNth;
using io::OperationKind;

class InDirectory : public testing::Test {
 protected:
  void SetUp() override {
    disk_.write_file("s/metadata.json", "{}");
    disk_.write_file("s/memory.jsonl", "one\n");
    storage_ = open();
    ASSERT_NE(storage_, nullptr);
  }
  Result<std::unique_ptr<DirectoryStorage>> try_open(io::SimulatedFileSystem& system) {
    VARVE_TRY_ASSIGN(auto directory, system.open_root("s", false));
    return DirectoryStorage::open(std::move(directory), {&system, &clock_, &random_});
  }
  std::unique_ptr<DirectoryStorage> open() {
    auto opened = try_open(disk_);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return opened.ok() ? *std::move(opened) : nullptr;
  }
  Status lock(SessionStorage& storage) {
    return storage.lock(clock_.monotonic_us(), "write", nullptr);
  }
  Status append(std::string_view lines, uint64_t last_seq = 0) {
    VARVE_TRY(lock(*storage_));
    Status status =
        storage_->append(Stream::kEntries, storage_->tail()->entries_bytes, lines, true, last_seq);
    storage_->unlock();
    return status;
  }
  std::string log() { return disk_.read_file("s/memory.jsonl").value_or("(none)"); }
  std::optional<LockState> state() {
    return decode_lock_state(disk_.read_file("s/lock").value_or(""));
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<DirectoryStorage> storage_;
};

TEST_F(InDirectory, AnEmptyDirectoryIsNoSession) {
  ASSERT_TRUE((*disk_.open_root("empty", true))->sync().ok());
  const auto opened =
      DirectoryStorage::open(*disk_.open_root("empty", false), {&disk_, &clock_, &random_});
  EXPECT_EQ(opened.code(), Code::kNotFound);
  EXPECT_FALSE(disk_.exists("empty/lock")) << "nothing is created where no session is";
}

TEST_F(InDirectory, TheHolderOfTheLockIsNamedToWhoeverWaits) {
  const auto other_process = disk_.process(4711);
  auto holder = try_open(*other_process);
  ASSERT_TRUE(holder.ok());
  ASSERT_TRUE((*holder)->lock(0, "repair", nullptr).ok());
  const Status busy = lock(*storage_);
  EXPECT_EQ(busy.code(), Code::kBusy);
  for (const std::string part : {"4711", "repair", "2026-01-10T14:23:45.678Z"}) {
    EXPECT_NE(busy.message().find(part), std::string::npos) << busy.message();
  }
  EXPECT_TRUE(busy.place().path.ends_with("s/lock")) << busy.place().path;
}

TEST_F(InDirectory, WhatIsReplacedIsHeldByWhoKeepsItOpenAlone) {
  auto kept = storage_->keep_open(Stream::kEntries);
  ASSERT_NE(kept, nullptr);
  EXPECT_GT(kept.use_count(), 1);
  ASSERT_TRUE(lock(*storage_).ok());
  ASSERT_TRUE(
      storage_->replace(Stream::kEntries, [](Sink& sink) { return sink.append("new\n"); }).ok());
  EXPECT_EQ(kept.use_count(), 1) << "the storage has it open, too";
  EXPECT_EQ(storage_->keep_open(Stream::kVectors), nullptr) << "there are none";
}

TEST_F(InDirectory, AKilledHolderFreesTheLock) {
  const auto other_process = disk_.process(4711);
  auto holder = try_open(*other_process);
  ASSERT_TRUE((*holder)->lock(0, "write", nullptr).ok());
  EXPECT_EQ(lock(*storage_).code(), Code::kBusy);
  other_process->kill();
  EXPECT_TRUE(append("two\n").ok());
}

TEST_F(InDirectory, TheLockFileSaysWhoWritesAndHowFarItIsDurable) {
  ASSERT_TRUE(append("two\n", 2).ok());
  const auto told = state();
  ASSERT_TRUE(told.has_value());
  EXPECT_EQ(told->process_id, 1001);
  EXPECT_EQ(told->operation, "write");
  EXPECT_EQ(told->timestamp_ms, test::kStartMs);
  EXPECT_EQ(told->durable_bytes, 8u);
  EXPECT_EQ(told->last_seq, 2u);
  EXPECT_FALSE(told->suspect);
}

TEST_F(InDirectory, AGarbageLockFileIsNoObstacle) {
  disk_.write_file("s/lock", std::string(512, 'x'));
  storage_ = open();
  EXPECT_EQ(storage_->durable_mark().last_seq, 0u);
  EXPECT_TRUE(append("two\n", 5).ok());
  EXPECT_EQ(storage_->durable_mark().last_seq, 5u);
}

TEST_F(InDirectory, TheMarkOfAnotherFileSaysNothingAboutThisOnesLength) {
  ASSERT_TRUE(append("two\n", 2).ok());
  ASSERT_TRUE((*disk_.open_root("s", false))->remove("memory.jsonl").ok());
  disk_.write_file("s/memory.jsonl", "restored\n");
  storage_ = open();
  EXPECT_EQ(storage_->durable_mark().entries_bytes, 0u);
  EXPECT_EQ(storage_->durable_mark().last_seq, 2u) << "what was durable once stays known";
}

TEST_F(InDirectory, ALockFileThatWasReplacedIsOpenedAnew) {
  auto other = open();
  ASSERT_TRUE(lock(*storage_).ok());
  storage_->unlock();
  auto directory = *disk_.open_root("s", false);
  ASSERT_TRUE(directory->remove("lock").ok());
  // Both must end up on the file that has the name now.
  ASSERT_TRUE(lock(*storage_).ok());
  EXPECT_EQ(lock(*other).code(), Code::kBusy);
  storage_->unlock();
  EXPECT_TRUE(lock(*other).ok());
}

// A log that is as it was is not looked for by its name, which takes longer than asking the file.
TEST_F(InDirectory, AQuietLogIsAskedAndNotItsName) {
  ASSERT_TRUE(storage_->tail().ok());
  disk_.clear_trace();
  ASSERT_TRUE(storage_->tail().ok());
  const auto trace = disk_.trace();
  const auto ends_with = [&](std::string_view end) {
    return std::count_if(trace.begin(), trace.end(),
                         [&](const std::string& line) { return line.ends_with(end); });
  };
  EXPECT_EQ(ends_with("memory.jsonl open"), 1);
  EXPECT_EQ(ends_with("memory.jsonl"), 0);
}

TEST_F(InDirectory, WhatOthersDoToAQuietLogIsSeenAtOnce) {
  auto directory = *disk_.open_root("s", false);
  const auto quiet_tail = [&] {
    EXPECT_TRUE(storage_->tail().ok());
    return *storage_->tail();
  };
  const Tail first = quiet_tail();
  ASSERT_TRUE((*directory->open("memory.jsonl", io::OpenMode::kAppend))->append("two\n").ok());
  const Tail longer = quiet_tail();
  EXPECT_EQ(longer.generation, first.generation);
  EXPECT_EQ(longer.entries_bytes, first.entries_bytes + 4);
  disk_.write_file("s/new", "x\ntwo\n");  // as long
  ASSERT_TRUE(directory->rename("new", "memory.jsonl").ok());
  const Tail replaced = quiet_tail();
  EXPECT_NE(replaced.generation, longer.generation);
  EXPECT_EQ(replaced.entries_bytes, 6U);
  ASSERT_TRUE(directory->rename("memory.jsonl", "away").ok());
  EXPECT_EQ(storage_->tail()->entries_bytes, 0U);
  EXPECT_EQ(storage_->tail()->entries_bytes, 0U);
}

TEST_F(InDirectory, ADeletedSessionIsNotFound) {
  auto directory = *disk_.open_root("s", false);
  for (const auto name : {"memory.jsonl", "metadata.json", "lock"}) {
    ASSERT_TRUE(directory->remove(name).ok());
  }
  EXPECT_EQ(storage_->tail().code(), Code::kNotFound);
  EXPECT_EQ(lock(*storage_).code(), Code::kNotFound);
  EXPECT_FALSE(disk_.exists("s/memory.jsonl"));
}

TEST_F(InDirectory, LeftOversOfReplacementsAreRemovedByTheNextWriter) {
  disk_.write_file("s/memory.jsonl.tmp-0123456789abcdef", "half");
  storage_ = open();
  EXPECT_TRUE(disk_.exists("s/memory.jsonl.tmp-0123456789abcdef"));
  const auto files = storage_->files();
  for (const auto& file : *files) EXPECT_EQ(file.name.find(".tmp-"), std::string::npos);
  ASSERT_TRUE(append("two\n").ok());
  EXPECT_FALSE(disk_.exists("s/memory.jsonl.tmp-0123456789abcdef"));
}

TEST_F(InDirectory, AFileThatGoesWhileFilesAreListedIsNoneOfThem) {
  disk_.write_file("s/index.bin", "index");
  ASSERT_EQ(storage_->files()->size(), 4U);
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool is_it = operation.kind == io::OperationKind::kInfo && operation.name == "index.bin";
    return is_it ? std::optional(io::Fault{ENOENT}) : std::nullopt;
  });
  const auto files = storage_->files();
  disk_.set_fault_hook(nullptr);
  ASSERT_TRUE(files.ok()) << files.status().message();
  for (const auto& file : *files) EXPECT_NE(file.name, "index.bin");
  EXPECT_EQ(files->size(), 3U);
}

TEST_F(InDirectory, WithoutPermissionToWriteItIsForReading) {
  disk_.set_read_only(true);
  storage_ = open();
  ASSERT_NE(storage_, nullptr);
  EXPECT_FALSE(storage_->writable());
  EXPECT_EQ(storage_->tail()->entries_bytes, 4u);
  const Status refused = lock(*storage_);
  EXPECT_EQ(refused.code(), Code::kReadOnly);
  EXPECT_EQ(refused.message(), "the session is open for reading: no permission to write in 's'");
  EXPECT_EQ(log(), "one\n");
}

TEST_F(InDirectory, VectorsThatMayNotBeReadAreNoLackOfPermissionToWrite) {
  disk_.write_file("s/vectors.bin", "vectors");
  disk_.set_fault_hook(FailNth(1, EACCES, true, {OperationKind::kOpen}).on_file("vectors.bin"));
  EXPECT_EQ(storage_->vectors_tail().code(), Code::kIo);
}

TEST_F(InDirectory, SomethingElseInPlaceOfAFileIsRefused) {
  for (const auto name : {"memory.jsonl", "tombstones.jsonl", "lock"}) {
    io::SimulatedFileSystem disk;
    disk.write_file("s/metadata.json", "{}");
    disk.plant_other(std::string("s/") + name);
    const auto opened = try_open(disk);
    EXPECT_EQ(opened.code(), Code::kIo) << name;
    EXPECT_TRUE(opened.status().place().path.ends_with(name)) << opened.status().place().path;
  }
}

// --- a disk that fails ---------------------------------------------------------------------------

TEST_F(InDirectory, AShortWriteIsCutOffAgain) {
  disk_.set_fault_hook(
      FailNth(1, ENOSPC, false, {OperationKind::kAppend}).on_file("memory.jsonl").after_bytes(2));
  EXPECT_EQ(append("two\n").code(), Code::kNoSpace);
  EXPECT_EQ(log(), "one\n");
  EXPECT_TRUE(append("two\n").ok());
  EXPECT_EQ(log(), "one\ntwo\n");
}

// The log's last block has room for a line, and there is none for another file or for the lock
// file: it is new, or the disk copies on write, as btrfs does.
TEST_F(InDirectory, AFullDiskThatDoesNotTakeTheLockFileRefusesAndStopsNothing) {
  const auto is_full = [](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    const bool writes =
        operation.kind == OperationKind::kAppend || operation.kind == OperationKind::kWriteAt;
    if (writes && operation.name != "memory.jsonl") return io::Fault{ENOSPC};
    return std::nullopt;
  };
  for (const std::string line : {"two\n", "three\n"}) {
    const std::string before = log();
    disk_.set_fault_hook(is_full);
    EXPECT_EQ(append(line).code(), Code::kNoSpace);
    EXPECT_EQ(append(line).code(), Code::kNoSpace) << "and not that writing stopped";
    ASSERT_TRUE(lock(*storage_).ok());
    EXPECT_EQ(storage_->sync(0).code(), before == "one\n" ? Code::kNoSpace : Code::kOk);
    storage_->unlock();
    disk_.set_fault_hook(nullptr);
    EXPECT_EQ(log(), before);
    EXPECT_TRUE(append(line).ok());
    EXPECT_EQ(log(), before + line);
    EXPECT_FALSE(state()->suspect);
  }
}

TEST_F(InDirectory, AShortWriteThatCannotBeCutOffStopsWriting) {
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.name != "memory.jsonl") return std::nullopt;
    if (operation.kind == OperationKind::kAppend) return io::Fault{ENOSPC, 2};
    if (operation.kind == OperationKind::kTruncate) return io::Fault{EIO};
    return std::nullopt;
  });
  const Status failed = append("two\n");
  EXPECT_NE(failed.message().find("the outcome is unknown"), std::string::npos) << failed.message();
  disk_.set_fault_hook(nullptr);
  const Status stopped = append("three\n");
  EXPECT_EQ(stopped.code(), Code::kReadOnly);
  EXPECT_NE(stopped.message().find("writing stopped"), std::string::npos) << stopped.message();
  EXPECT_EQ(log(), "one\ntw");
  EXPECT_TRUE(storage_->tail().ok()) << "reading goes on";
}

TEST_F(InDirectory, AFailedSyncHealsIntoANewFileWithoutTheFailedLines) {
  ASSERT_TRUE(append("two\n", 2).ok());
  const Tail before = *storage_->tail();
  disk_.set_fault_hook(FailNth(1, EIO, false, {OperationKind::kSyncData}).on_file("memory.jsonl"));
  const Status failed = append("three\n", 3);
  EXPECT_EQ(failed.code(), Code::kIo);
  EXPECT_NE(failed.message().find("nothing was added"), std::string::npos) << failed.message();
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(log(), "one\ntwo\n");
  EXPECT_NE(storage_->tail()->generation, before.generation);
  ASSERT_TRUE(append("four\n", 3).ok());
  EXPECT_EQ(*disk_.crash()->read_file("s/memory.jsonl"), "one\ntwo\nfour\n")
      << "what was answered after the failure is not durable";
}

TEST_F(InDirectory, AFailedSyncThatCannotHealStopsWritingAndLeavesTheSuspicion) {
  ASSERT_TRUE(append("two\n", 2).ok());
  disk_.set_fault_hook(FailNth(1, EIO, true, {OperationKind::kSyncData}));
  EXPECT_EQ(append("three\n", 3).code(), Code::kUnknown);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(append("four\n").code(), Code::kReadOnly);
  ASSERT_TRUE(state().has_value());
  EXPECT_TRUE(state()->suspect);
  // Whoever writes next heals first, whatever it then sees of the file.
  const Tail before = *storage_->tail();
  storage_ = open();
  ASSERT_TRUE(append("five\n", 4).ok());
  EXPECT_FALSE(state()->suspect);
  const std::string durable = *disk_.crash()->read_file("s/memory.jsonl");
  EXPECT_TRUE(durable.starts_with("one\ntwo\n")) << durable;
  EXPECT_TRUE(durable.ends_with("five\n")) << durable;
  EXPECT_GE(durable.size(), before.entries_bytes);
}

// Those who wait in memory are woken by who unlocks.
TEST_F(InDirectory, WhoWaitsForTheLockWorksMeanwhile) {
  const auto other = open();
  ASSERT_TRUE(lock(*storage_).ok());
  int worked = 0;
  other->set_work_while_waiting([&] {
    if (++worked == 3) storage_->unlock();
  });
  EXPECT_TRUE(other->lock(clock_.monotonic_us() + 1'000'000, "test", nullptr).ok());
  EXPECT_EQ(worked, 3);
  other->unlock();
}

TEST_F(InDirectory, BytesOfAWriterThatDiedBeforeItsSyncAreSyncedBeforeOthersFollow) {
  const auto other_process = disk_.process(4711);
  auto dying = try_open(*other_process);
  ASSERT_TRUE((*dying)->lock(0, "write", nullptr).ok());
  ASSERT_TRUE((*dying)->append(Stream::kEntries, 4, "two\n", false, 2).ok());
  other_process->kill();
  ASSERT_TRUE(append("three\n", 3).ok());
  EXPECT_EQ(*disk_.crash()->read_file("s/memory.jsonl"), "one\ntwo\nthree\n");
}

// Puts the document, replaces the log, and looks at every state that a power loss may leave.
class DocumentBeforeStream : public InDirectory {
 protected:
  void SetUp() override {
    InDirectory::SetUp();
    ASSERT_TRUE(lock(*storage_).ok());
    ASSERT_TRUE(storage_->put_document("metadata.json", "old", DocumentDurability::kNamed).ok());
  }
  void replace_log() {
    ASSERT_TRUE(
        storage_->replace(Stream::kEntries, [](Sink& sink) { return sink.append("new\n"); }).ok());
  }
  void look() {
    disk_.for_each_crash_state([&](auto state, const io::CrashPlan& plan) {
      states_ += 1;
      const std::string document = *state->read_file("s/metadata.json");
      const bool is_new = *state->read_file("s/memory.jsonl") == "new\n";
      with_new_log_ += is_new ? 1 : 0;
      EXPECT_TRUE(document == "new" || (document == "old" && !is_new)) << disk_.describe(plan);
    });
  }
  void look_before_each_operation() {
    disk_.set_fault_hook([this](const io::OperationInfo&) {
      if (!std::exchange(is_looking_, true)) {
        look();
        is_looking_ = false;
      }
      return std::optional<io::Fault>();
    });
  }

  size_t states_ = 0;
  size_t with_new_log_ = 0;
  bool is_looking_ = false;
};

TEST_F(DocumentBeforeStream, IsThereWhenTheNewStreamIs) {
  look_before_each_operation();
  ASSERT_TRUE(storage_->put_document("metadata.json", "new", DocumentDurability::kContent).ok());
  replace_log();
  disk_.set_fault_hook(nullptr);
  look();
  EXPECT_GT(states_, 20U);
  EXPECT_GT(with_new_log_, 0U);
}

TEST_F(DocumentBeforeStream, IsThereAlsoWhenItsNameCouldNotBeSynced) {
  disk_.set_fault_hook(FailNth(1, EIO, false, {OperationKind::kSyncDirectory}));
  EXPECT_EQ(storage_->put_document("metadata.json", "new", DocumentDurability::kNamed).code(),
            Code::kUnknown);
  look_before_each_operation();
  replace_log();
  disk_.set_fault_hook(nullptr);
  look();
  EXPECT_GT(states_, 20U);
  EXPECT_GT(with_new_log_, 0U);
}

TEST_F(InDirectory, AnAnsweredAppendSurvivesPowerLossNameAndAll) {
  // The log's own name was never synced: whoever made it died before.
  io::SimulatedFileSystem disk;
  disk.write_file("s/metadata.json", "{}");
  {
    auto directory = *disk.open_root("s", false);
    ASSERT_TRUE(directory->open("memory.jsonl", io::OpenMode::kAppendOrCreate).ok());
  }
  auto storage = try_open(disk);
  ASSERT_TRUE((*storage)->lock(0, "write", nullptr).ok());
  ASSERT_TRUE((*storage)->append(Stream::kEntries, 0, "one\n", true, 1).ok());
  ASSERT_TRUE((*storage)->append(Stream::kTombstones, 0, "gone\n", true, 0).ok());
  const auto after = disk.crash();
  EXPECT_EQ(after->read_file("s/memory.jsonl"), "one\n");
  EXPECT_EQ(after->read_file("s/tombstones.jsonl"), "gone\n");
}

}  // namespace
}  // namespace varve::log
