// Allocations that fail while a disk fails: what is answered afterwards is still the truth.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>

#include "io/simulated.h"
#include "log/directory_storage.h"
#include "log/failure_buffer.h"
#include "support/environment.h"
#include "support/no_memory/no_memory.h"

namespace varve::log {
namespace {

// One session on one disk, with a line that is durable.
class OnAFailingDisk {
 public:
  OnAFailingDisk() {
    disk_.write_file("s/metadata.json", "{}");
    disk_.write_file("s/memory.jsonl", "one\n");
    storage_ = *DirectoryStorage::open(*disk_.open_root("s", false), {&disk_, &clock_, &random_});
  }
  Status append(std::string_view lines, bool durable = true) {
    VARVE_TRY(storage_->lock(clock_.monotonic_us(), "write", nullptr));
    const auto tail = storage_->tail();
    Status status = tail.ok()
                        ? storage_->append(Stream::kEntries, tail->entries_bytes, lines, durable, 0)
                        : tail.status();
    storage_->unlock();
    return status;
  }
  // As Writer::commit does: whatever is thrown, the lock is given back.
  Status append_with_allocations(std::string_view lines, int64_t allowed, bool* was_met) {
    const varve_test::NoMemory limit(allowed, varve_test::NoMemory::Refuses::kOnce);
    Status status;
    try {
      status = append(lines);
    } catch (const std::bad_alloc&) {
      storage_->unlock();
      status = Status::out_of_memory();
    }
    *was_met = limit.was_met();
    return status;
  }
  void keep_lock() {
    EXPECT_TRUE(storage_->lock(clock_.monotonic_us(), "exclusive use", nullptr).ok());
    storage_->keep_lock();
    storage_->unlock();
  }
  void fail_the_next_sync() {
    disk_.set_fault_hook(
        io::FailNth(1, EIO, false, {io::OperationKind::kSyncData}).on_file("memory.jsonl"));
  }
  // Neither can what was written be cut off: by this call, from now on.
  void fail_every(io::OperationKind kind) {
    disk_.set_fault_hook(io::FailNth(1, EIO, true, {kind}));
  }
  // Tries an append to the transcript behind "said".
  Status say_with_allocations(int64_t allowed, bool* was_met) {
    EXPECT_TRUE(storage_->lock(clock_.monotonic_us(), "write", nullptr).ok());
    const varve_test::NoMemory limit(allowed, varve_test::NoMemory::Refuses::kOnce);
    Status status;
    try {
      status = storage_->append_to_transcript(0, "said", true);
    } catch (const std::bad_alloc&) {
      status = Status::out_of_memory();
    }
    *was_met = limit.was_met();
    storage_->unlock();
    return status;
  }
  std::string transcript() { return disk_.read_file("s/transcript.md").value_or(""); }
  void mend() { disk_.set_fault_hook(nullptr); }
  std::string log_after_power_loss() {
    return disk_.crash()->read_file("s/memory.jsonl").value_or("(none)");
  }

 private:
  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<DirectoryStorage> storage_;
};

// The line before was written and not synced. When a sync of it failed, a later one that succeeds
// says nothing about it; and whoever adds a durable line behind it answers for both.
void expect_that_a_line_behind_a_failed_sync_breaks_no_promise(bool keeps_lock) {
  bool was_met = true;
  int acknowledged_after = 0;
  for (int64_t allowed = 0; was_met; ++allowed) {
    OnAFailingDisk disk;
    if (keeps_lock) disk.keep_lock();
    ASSERT_TRUE(disk.append("two\n", false).ok());
    std::string expected = "one\ntwo\n";
    disk.fail_the_next_sync();
    const Status third = disk.append_with_allocations("three\n", allowed, &was_met);
    disk.mend();
    if (third.ok()) expected += "three\n";
    if (disk.append("four\n").ok()) {
      acknowledged_after += third.ok() ? 0 : 1;
      expected += "four\n";
    } else if (!third.ok()) {
      continue;  // nothing was acknowledged
    }
    ASSERT_EQ(disk.log_after_power_loss(), expected)
        << "after " << allowed << " allocations: " << third.message();
  }
  EXPECT_GT(acknowledged_after, 0) << "writing went on after none of the failures";
}

TEST(MemoryEndsUnderAnAppend, ALineBehindAFailedSyncIsNoPromiseThatIsBroken) {
  expect_that_a_line_behind_a_failed_sync_breaks_no_promise(false);
}

// As an exclusive store keeps it.
TEST(MemoryEndsUnderAnAppend, NorWhereTheLockIsKept) {
  expect_that_a_line_behind_a_failed_sync_breaks_no_promise(true);
}

// The new log is in its place: that it cannot be looked at, or that a line somebody appended to the
// old one cannot be copied, is no failure of what replaced it.
TEST(MemoryEndsBehindAReplacement, TheReplacementIsAnsweredAsDone) {
  test::ManualClock clock;
  test::SeededRandom random;
  bool was_met = true;
  int met_count = 0;
  for (int64_t allowed = 0; was_met; ++allowed) {
    SCOPED_TRACE(allowed);
    io::SimulatedFileSystem disk;
    disk.write_file("s/metadata.json", "{}");
    disk.write_file("s/memory.jsonl", "one\ntwo\n");
    const auto other = disk.process(2);
    auto theirs = *(*other->open_root("s", false))->open("memory.jsonl", io::OpenMode::kAppend);
    auto storage = *DirectoryStorage::open(*disk.open_root("s", false), {&disk, &clock, &random});
    ASSERT_TRUE(storage->lock(clock.monotonic_us(), "compact", nullptr).ok());
    std::optional<varve_test::NoMemory> limit;
    bool is_renamed = false;
    disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (is_renamed && !limit && operation.process_id != 2) {
        EXPECT_TRUE(theirs->append("theirs\n").ok());
        limit.emplace(allowed, varve_test::NoMemory::Refuses::kOnce);
      }
      is_renamed = is_renamed || operation.kind == io::OperationKind::kSyncDirectory;
      return std::nullopt;
    });
    const Status replaced =
        storage->replace(Stream::kEntries, 8, [](Sink& sink) { return sink.append("two\n"); });
    ASSERT_TRUE(limit.has_value());
    was_met = limit->was_met();
    met_count += was_met ? 1 : 0;
    limit.reset();
    disk.set_fault_hook(nullptr);
    EXPECT_TRUE(replaced.ok()) << replaced.message();
    const std::string log = *disk.read_file("s/memory.jsonl");
    EXPECT_TRUE(log == "two\n" || log == "two\ntheirs\n") << log;
  }
  EXPECT_GT(met_count, 2);
}

// What is in the file and was refused: nothing may ever follow it.
TEST(MemoryEndsUnderAnAppend, WhatCanNeitherBeToldNorTakenBackStopsWriting) {
  int stopped = 0;
  for (const auto kind : {io::OperationKind::kTruncate, io::OperationKind::kSyncData}) {
    bool was_met = true;
    for (int64_t allowed = 0; was_met; ++allowed) {
      OnAFailingDisk disk;
      ASSERT_TRUE(disk.append("two\n").ok());
      disk.fail_every(kind);
      const Status third = disk.append_with_allocations("three\n", allowed, &was_met);
      disk.mend();
      const Status fourth = disk.append("four\n");
      const std::string log = disk.log_after_power_loss();
      EXPECT_TRUE(log.starts_with("one\ntwo\n")) << log;
      if (fourth.ok()) {
        const std::string added = third.ok() ? "three\n" : "";
        EXPECT_EQ(log, "one\ntwo\n" + added + "four\n") << allowed;
      } else {
        EXPECT_EQ(fourth.code(), Code::kReadOnly) << fourth.message();
        stopped += third.code() == Code::kNoMemory ? 1 : 0;
      }
    }
  }
  EXPECT_GT(stopped, 0);
}

TEST(MemoryEndsUnderAnAppend, OfTheTranscriptTheSame) {
  int stopped = 0;
  for (const auto kind : {io::OperationKind::kTruncate, io::OperationKind::kSyncData}) {
    bool was_met = true;
    for (int64_t allowed = 0; was_met; ++allowed) {
      OnAFailingDisk disk;
      disk.fail_every(kind);
      const Status said = disk.say_with_allocations(allowed, &was_met);
      disk.mend();
      const Status next = disk.append("two\n");
      if (next.ok()) {
        EXPECT_EQ(disk.transcript(), said.ok() ? "said" : "") << allowed;
      } else {
        EXPECT_EQ(next.code(), Code::kReadOnly) << next.message();
        stopped += said.code() == Code::kNoMemory ? 1 : 0;
      }
    }
  }
  EXPECT_GT(stopped, 0);
}

// --- where entries are kept while the disk takes none
// ---------------------------------------------

class KeptLinesWithoutMemory : public testing::Test {
 protected:
  std::unique_ptr<DirectoryStorage> open() {
    return *DirectoryStorage::open(*disk_.open_root("s", false), {&disk_, &clock_, &random_});
  }
  void begin_anew() {
    buffer_.reset();
    disk_.set_fault_hook(nullptr);
    disk_.write_file("s/metadata.json", "{}");
    disk_.write_file("s/memory.jsonl", "one\n");
    buffer_ = std::make_unique<FailureBuffer>(open(), 1000);
  }
  Status lock(SessionStorage& storage) {
    return storage.lock(clock_.monotonic_us(), "write", nullptr);
  }
  // With one more allocation each time, until there are enough; `call` may throw.
  void at_each_allocation(const std::function<void()>& before, const std::function<void()>& call,
                          const std::function<void()>& check) {
    bool was_met = true;
    int64_t allowed = 0;
    for (; was_met && !HasFailure(); ++allowed) {
      SCOPED_TRACE(allowed);
      begin_anew();
      before();
      try {
        const varve_test::NoMemory limit(allowed, varve_test::NoMemory::Refuses::kOnce);
        call();
        was_met = limit.was_met();
      } catch (const std::bad_alloc&) {
        // The lock is given back below, as Writer::commit does.
      }
      check();
    }
    EXPECT_GT(allowed, 3) << "hardly any allocations";
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<FailureBuffer> buffer_;
};

TEST_F(KeptLinesWithoutMemory, ALockThatWasTakenIsGivenBack) {
  at_each_allocation([] {}, [this] { (void)lock(*buffer_).ok(); },
                     [this] {
                       buffer_->unlock();
                       const auto other = open();
                       const Status locked = lock(*other);
                       EXPECT_TRUE(locked.ok()) << locked.message();
                       other->unlock();
                     });
}

TEST_F(KeptLinesWithoutMemory, WhatWasRefusedIsNotWrittenLater) {
  Status added;
  const io::FailNth no_room =
      io::FailNth(1, ENOSPC, true, {io::OperationKind::kAppend}).on_file("memory.jsonl");
  at_each_allocation(
      [&] {
        ASSERT_TRUE(lock(*buffer_).ok());
        disk_.set_fault_hook(no_room);
        added = Status::out_of_memory();
      },
      [&] { added = buffer_->append(Stream::kEntries, 4, "two\n", true, 1); },
      [&] {
        disk_.set_fault_hook(nullptr);
        (void)buffer_->sync(1).ok();
        EXPECT_EQ(*disk_.read_file("s/memory.jsonl"), added.ok() ? "one\ntwo\n" : "one\n");
      });
  EXPECT_GT(no_room.matched(), 0U);
}

}  // namespace
}  // namespace varve::log
