// Somebody who takes no lock appends to a log at the moment when we do: what is answered is so,
// what is known of the log's places is right, and nobody's line is cut off.
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/simulated.h"
#include "log/directory_storage.h"
#include "support/environment.h"

namespace varve::log {
namespace {

using io::OperationKind;

constexpr int64_t kOurs = 1;  // process ids
constexpr int64_t kTheirs = 2;

class Strangers : public testing::TestWithParam<bool> {  // whether our adds are durable
 protected:
  void SetUp() override {
    disk_.write_file("s/metadata.json", "{}");
    disk_.write_file("s/memory.jsonl", "one\n");
    storage_ =
        *DirectoryStorage::open(*ours_->open_root("s", false), {ours_.get(), &clock_, &random_});
    ASSERT_TRUE(lock().ok());
  }
  Status lock() { return storage_->lock(clock_.monotonic_us(), "write", nullptr); }
  // Once, before the `number`-th call of this kind on a file of the session.
  void append_before(OperationKind kind, std::string line, std::string name = "memory.jsonl",
                     std::optional<io::Fault> fault = std::nullopt, int number = 1) {
    disk_.set_fault_hook(
        [=, this,
         seen = 0](const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
          if (operation.process_id != kOurs || operation.kind != kind || operation.name != name ||
              ++seen != number) {
            return std::nullopt;
          }
          auto file = *(*theirs_->open_root("s", false))->open(name, io::OpenMode::kAppend);
          EXPECT_TRUE(file->append(line).ok());
          return fault;
        });
  }
  Status add(std::string_view lines, const SessionStorage::Meanwhile& meanwhile = {}) {
    return storage_->append(Stream::kEntries, storage_->tail()->entries_bytes, lines, GetParam(), 7,
                            meanwhile);
  }
  std::string log() { return *disk_.read_file("s/memory.jsonl"); }
  std::string durable_log() { return *disk_.crash()->read_file("s/memory.jsonl"); }
  std::string read(uint64_t generation, uint64_t offset, size_t length) {
    std::string bytes(length, ' ');
    const auto got = storage_->read(Stream::kEntries, generation, offset, bytes);
    return got.ok() ? bytes.substr(0, *got) : std::string(code_name(got.code()));
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<io::SimulatedFileSystem> ours_ = disk_.process(kOurs);
  std::unique_ptr<io::SimulatedFileSystem> theirs_ = disk_.process(kTheirs);
  std::unique_ptr<DirectoryStorage> storage_;
};

INSTANTIATE_TEST_SUITE_P(Beside, Strangers, testing::Bool(), [](const auto& given) {
  return given.param ? "DurableAdds" : "BufferedAdds";
});

TEST_P(Strangers, ALineBeforeOursMakesTheLogAnewForReaders) {
  const uint64_t generation = storage_->tail()->generation;
  bool was_applied = false;
  append_before(OperationKind::kAppend, "theirs\n");
  EXPECT_TRUE(add("two\n", [&] { was_applied = true; }).ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_FALSE(was_applied) << "where it does not stand";
  EXPECT_EQ(log(), "one\ntheirs\ntwo\n");
  EXPECT_EQ(read(generation, 4, 4), code_name(Code::kGone));
  EXPECT_NE(storage_->tail()->generation, generation);
  EXPECT_EQ(storage_->tail()->entries_bytes, log().size());
  EXPECT_TRUE(add("three\n").ok());
  EXPECT_EQ(log(), "one\ntheirs\ntwo\nthree\n");
  EXPECT_EQ(GetParam() ? durable_log() : log(), log());
}

TEST_P(Strangers, ALineBeforeOursIsNoticedWhileTheLockIsKept) {
  storage_->keep_lock();
  storage_->unlock();
  const uint64_t generation = storage_->tail()->generation;
  append_before(OperationKind::kAppend, "theirs\n");
  EXPECT_TRUE(add("two\n").ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_NE(storage_->tail()->generation, generation);
  EXPECT_EQ(storage_->tail()->entries_bytes, log().size());
}

TEST_P(Strangers, ALineBehindOursChangesNoPlace) {
  const uint64_t generation = storage_->tail()->generation;
  const uint64_t end = storage_->tail()->entries_bytes;
  append_before(OperationKind::kInfo, "theirs\n", "memory.jsonl", std::nullopt, 2);
  EXPECT_TRUE(storage_->append(Stream::kEntries, end, "two\n", GetParam(), 7).ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(log(), "one\ntwo\ntheirs\n");
  EXPECT_EQ(read(generation, end, 4), "two\n");
  storage_->unlock();
  ASSERT_TRUE(lock().ok());
  EXPECT_EQ(storage_->tail()->generation, generation);
  EXPECT_EQ(storage_->tail()->entries_bytes, log().size());
  EXPECT_EQ(GetParam() ? durable_log() : log(), log());
}

// Ours ends theirs, so neither is an entry any more.
TEST_P(Strangers, HalfALineBeforeOursIsSaid) {
  append_before(OperationKind::kAppend, "the");
  const Status said = add("two\n");
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(said.code(), Code::kUnknown);
  EXPECT_NE(said.message().find("outcome is unknown"), std::string::npos) << said.message();
  EXPECT_NE(said.message().find("without the session's lock"), std::string::npos);
  EXPECT_EQ(log(), "one\nthetwo\n") << "nothing of theirs is cut off";
  EXPECT_EQ(add("three\n").code(), Code::kReadOnly);
}

TEST_P(Strangers, MoreBeforeOursThanIsLookedThroughIsSaid) {
  const std::string theirs = std::string(size_t{2} << 20, 'x') + "\n";
  append_before(OperationKind::kAppend, theirs);
  const Status said = add("two\n");
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(said.code(), Code::kUnknown);
  EXPECT_NE(said.message().find("without the session's lock"), std::string::npos);
  EXPECT_TRUE(log() == "one\n" + theirs + "two\n") << "nothing is cut off";
  EXPECT_EQ(add("three\n").code(), Code::kReadOnly);
}

TEST_P(Strangers, AWriteThatCameShortIsNotCutOffWithTheirs) {
  append_before(OperationKind::kAppend, "theirs\n", "memory.jsonl", io::Fault{ENOSPC, 2});
  const Status said = add("two\n");
  disk_.set_fault_hook(nullptr);
  EXPECT_NE(said.message().find("outcome is unknown"), std::string::npos) << said.message();
  EXPECT_EQ(log(), "one\ntheirs\ntw");
}

TEST_P(Strangers, AWriteThatCameShortIsCutOff) {
  disk_.set_fault_hook(io::FailNth(1, ENOSPC, false, {OperationKind::kAppend})
                           .after_bytes(2)
                           .on_file("memory.jsonl"));
  EXPECT_EQ(add("two\n").code(), Code::kNoSpace);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(log(), "one\n");
  EXPECT_TRUE(add("two\n").ok()) << "under the same lock";
}

TEST_P(Strangers, AWriteThatCameShortAndCannotBeReadIsCutOffByItsLength) {
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.name != "memory.jsonl") return std::nullopt;
    if (operation.kind == OperationKind::kAppend) return io::Fault{EIO, 2};
    if (operation.kind == OperationKind::kRead) return io::Fault{EIO};
    return std::nullopt;
  });
  EXPECT_EQ(add("two\n").code(), Code::kIo);
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(log(), "one\n");
  EXPECT_TRUE(add("two\n").ok()) << "under the same lock";
}

TEST_P(Strangers, AWriteThatCameShortAndCannotBeReadIsLeftInALongerFile) {
  disk_.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.process_id != kOurs || operation.name != "memory.jsonl") return std::nullopt;
    if (operation.kind == OperationKind::kRead) return io::Fault{EIO};
    if (operation.kind != OperationKind::kAppend) return std::nullopt;
    auto file = *(*theirs_->open_root("s", false))->open("memory.jsonl", io::OpenMode::kAppend);
    EXPECT_TRUE(file->append("theirs\n").ok());
    return io::Fault{EIO, 2};
  });
  const Status said = add("two\n");
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(said.code(), Code::kUnknown);
  EXPECT_EQ(log(), "one\ntheirs\ntw") << "more than ours is in it";
  EXPECT_EQ(add("three\n").code(), Code::kReadOnly);
}

// Nobody else wrote: where it stands is looked for in the file.
TEST_P(Strangers, AnEndThatCannotBeAskedForIsLookedFor) {
  const Tail before = *storage_->tail();
  const io::FailNth no_look =
      io::FailNth(2, EIO, false, {OperationKind::kInfo}).on_file("memory.jsonl");
  disk_.set_fault_hook(no_look);
  EXPECT_TRUE(
      storage_->append(Stream::kEntries, before.entries_bytes, "two\n", GetParam(), 7).ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_GT(no_look.matched(), 1U);
  EXPECT_EQ(storage_->tail()->generation, before.generation);
  EXPECT_EQ(read(before.generation, before.entries_bytes, 9), "two\n");
}

TEST_P(Strangers, AnEndThatNothingTellsOfStopsWriting) {
  const uint64_t end = storage_->tail()->entries_bytes;
  disk_.set_fault_hook(io::FailNth(2, EIO, true, {OperationKind::kInfo, OperationKind::kRead})
                           .on_file("memory.jsonl"));
  const Status said = storage_->append(Stream::kEntries, end, "two\n", GetParam(), 7);
  disk_.set_fault_hook(nullptr);
  EXPECT_NE(said.message().find("outcome is unknown"), std::string::npos) << said.message();
  EXPECT_EQ(add("three\n").code(), Code::kReadOnly);
}

TEST_P(Strangers, ATombstoneBehindTheirsIsFound) {
  ASSERT_TRUE(storage_->append(Stream::kTombstones, 0, "gone\n", GetParam(), 0).ok());
  const Tail before = *storage_->tail();
  append_before(OperationKind::kAppend, "theirs\n", "tombstones.jsonl");
  EXPECT_TRUE(storage_->append(Stream::kTombstones, 5, "too\n", GetParam(), 0).ok());
  disk_.set_fault_hook(nullptr);
  EXPECT_EQ(disk_.read_file("s/tombstones.jsonl"), "gone\ntheirs\ntoo\n");
  EXPECT_NE(storage_->tail()->generation, before.generation);
}

// Records of vectors have no line ends: behind anything else they are at no place of theirs.
TEST_P(Strangers, AVectorBehindTheirsIsSaid) {
  ASSERT_TRUE(
      storage_->replace(Stream::kVectors, [](Sink& sink) { return sink.append("head"); }).ok());
  append_before(OperationKind::kAppend, "x\n", "vectors.bin");
  const Status said = storage_->append(Stream::kVectors, 4, "body", GetParam(), 0);
  disk_.set_fault_hook(nullptr);
  EXPECT_NE(said.message().find("outcome is unknown"), std::string::npos) << said.message();
}

// The disk refuses one sync of the log. From then on, somebody appends a line at one moment after
// another: the copy that heals the log takes it, whatever it does with ours.
class StrangersOfASync : public testing::Test {
 protected:
  void begin(bool is_suspect) {
    disk_ = std::make_unique<io::SimulatedFileSystem>();
    theirs_ = disk_->process(kTheirs);
    disk_->write_file("s/metadata.json", "{}");
    disk_->write_file("s/memory.jsonl", "one\n");
    storage_ =
        *DirectoryStorage::open(*disk_->open_root("s", false), {disk_.get(), &clock_, &random_});
    ASSERT_TRUE(lock().ok());
    ASSERT_TRUE(storage_->append(Stream::kEntries, 4, "two\n", true, 1).ok());
    if (!is_suspect) return;
    ASSERT_TRUE(storage_->suspect_names().ok());
  }
  Status lock() { return storage_->lock(clock_.monotonic_us(), "write", nullptr); }

  // Appends before the operation of that number after the first failure, or after the start.
  void append_theirs_at(int moment, bool* came_to_it, bool fails_first) {
    *came_to_it = false;
    disk_->set_fault_hook(
        [=, this, has_failed = !fails_first,
         count = 0](const io::OperationInfo& operation) mutable -> std::optional<io::Fault> {
          if (operation.process_id == kTheirs) return std::nullopt;
          if (!has_failed && operation.kind == OperationKind::kSyncData) {
            has_failed = operation.name == "memory.jsonl";
            return has_failed ? std::optional(io::Fault{EIO}) : std::nullopt;
          }
          // Nothing can be asked between the last look at the log and this.
          const bool takes_name = operation.kind == OperationKind::kRename;
          if (!has_failed || *came_to_it || takes_name || count++ != moment) return std::nullopt;
          *came_to_it = true;
          append_theirs();
          return std::nullopt;
        });
  }

  void append_theirs() {
    auto file = *(*theirs_->open_root("s", false))->open("memory.jsonl", io::OpenMode::kAppend);
    EXPECT_TRUE(file->append("theirs\n").ok());
  }

  // `work` may do anything with lines of ours, and none of theirs may be missing after it.
  template <typename Work>
  void expect_theirs_at_each_moment(bool fails_first, bool is_suspect, Work work) {
    bool came_to_it = true;
    int moment = 0;
    for (; came_to_it && !HasFailure(); ++moment) {
      SCOPED_TRACE(moment);
      begin(is_suspect);
      append_theirs_at(moment, &came_to_it, fails_first);
      work();
      disk_->set_fault_hook(nullptr);
      if (!came_to_it) break;
      const std::string log = *disk_->read_file("s/memory.jsonl");
      EXPECT_TRUE(log.starts_with("one\ntwo\n")) << log;
      EXPECT_NE(log.find("theirs\n"), std::string::npos) << log;
      EXPECT_EQ(disk_->crash()->read_file("s/memory.jsonl")->substr(0, 8), "one\ntwo\n");
    }
    EXPECT_GT(moment, 5);
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  std::unique_ptr<io::SimulatedFileSystem> disk_;
  std::unique_ptr<io::SimulatedFileSystem> theirs_;
  std::unique_ptr<DirectoryStorage> storage_;
};

TEST_F(StrangersOfASync, ALineOfTheirsIsKeptWhenASyncOfOursFails) {
  expect_theirs_at_each_moment(true, false, [&] {
    const Status added = storage_->append(Stream::kEntries, 8, "three\n", true, 2);
    const std::string log = *disk_->read_file("s/memory.jsonl");
    const bool is_there = log.find("three\n") != std::string::npos;
    EXPECT_EQ(added.ok(), is_there) << added.message() << " and " << log;
    EXPECT_EQ(added.code(), is_there ? Code::kOk : Code::kIo);
  });
}

TEST_F(StrangersOfASync, ALineOfTheirsIsKeptWhenASyncOfAnotherWriterFails) {
  expect_theirs_at_each_moment(true, false, [&] {
    ASSERT_TRUE(storage_->append(Stream::kEntries, 8, "buffered\n", false, 2).ok());
    const Status added = storage_->append(Stream::kEntries, 17, "three\n", true, 3);
    EXPECT_TRUE(added.ok() || added.code() == Code::kConflict) << added.message();
    EXPECT_NE(disk_->read_file("s/memory.jsonl")->find("buffered\n"), std::string::npos);
  });
}

TEST_F(StrangersOfASync, ALineOfTheirsIsKeptWhenASyncOfACutFails) {
  expect_theirs_at_each_moment(true, false, [&] {
    ASSERT_TRUE(storage_->append(Stream::kEntries, 8, "torn", false, 2).ok());
    EXPECT_TRUE(storage_->truncate(Stream::kEntries, 12, 8).ok());
  });
}

TEST_F(StrangersOfASync, ALineOfTheirsIsKeptWhenTheLogIsCopiedBecauseItIsSuspect) {
  expect_theirs_at_each_moment(false, true, [&] {
    storage_->unlock();
    EXPECT_TRUE(lock().ok());
    EXPECT_EQ(storage_->locked_tail()->entries_bytes, disk_->read_file("s/memory.jsonl")->size());
  });
}

// While the disk refuses our line, theirs came behind it: the copy that heals the log takes both.
TEST_F(StrangersOfASync, WhatCameWhileASyncFailedIsKept) {
  begin(false);
  bool is_done = false;
  disk_->set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (is_done || operation.kind != OperationKind::kSyncData || operation.name != "memory.jsonl") {
      return std::nullopt;
    }
    is_done = true;
    append_theirs();
    return io::Fault{EIO};
  });
  EXPECT_TRUE(storage_->append(Stream::kEntries, 8, "three\n", true, 2).ok());
  disk_->set_fault_hook(nullptr);
  EXPECT_EQ(disk_->crash()->read_file("s/memory.jsonl"), "one\ntwo\nthree\ntheirs\n");
}

TEST_F(StrangersOfASync, SomebodyWhoAppendsOverAndOverStopsWritingAndLosesNothing) {
  begin(false);
  int count = 0;
  disk_->set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.process_id == kTheirs || operation.kind != OperationKind::kSyncData) {
      return std::nullopt;
    }
    append_theirs();
    count += 1;
    return operation.name == "memory.jsonl" ? std::optional(io::Fault{EIO}) : std::nullopt;
  });
  const Status added = storage_->append(Stream::kEntries, 8, "three\n", true, 2);
  disk_->set_fault_hook(nullptr);
  EXPECT_NE(added.message().find("outcome is unknown"), std::string::npos) << added.message();
  EXPECT_EQ(storage_->append(Stream::kEntries, 8, "four\n", true, 2).code(), Code::kReadOnly);
  EXPECT_GT(count, 2);
  EXPECT_EQ(disk_->read_file("s/memory.jsonl")->size(), 14U + 7U * static_cast<unsigned>(count));
}

// A log of two lines, and a stranger who has it open.
struct BeforeAReplacement {
  BeforeAReplacement() {
    disk.write_file("s/metadata.json", "{}");
    disk.write_file("s/memory.jsonl", "one\ntwo\n");
    file = *(*theirs->open_root("s", false))->open("memory.jsonl", io::OpenMode::kAppend);
    storage = *DirectoryStorage::open(*disk.open_root("s", false), {&disk, &clock, &random});
  }
  test::ManualClock clock;
  test::SeededRandom random;
  io::SimulatedFileSystem disk;
  std::unique_ptr<io::SimulatedFileSystem> theirs = disk.process(kTheirs);
  std::unique_ptr<io::File> file;
  std::unique_ptr<DirectoryStorage> storage;
};

// The last look at the old log is before the rename.
TEST(StrangersOfAReplacement, WhatCameAfterTheLastLookAtTheOldLogIsInTheNewOne) {
  for (const auto kind : {OperationKind::kRename, OperationKind::kSyncDirectory}) {
    for (const std::string written : {"theirs\n", "theirs\nhal", "hal"}) {
      BeforeAReplacement before;
      io::SimulatedFileSystem& disk = before.disk;
      const auto& file = before.file;
      const auto& storage = before.storage;
      ASSERT_TRUE(storage->lock(before.clock.monotonic_us(), "compact", nullptr).ok());
      bool is_done = false;
      disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
        if (is_done || operation.kind != kind) return std::nullopt;
        is_done = true;
        EXPECT_TRUE(file->append(written).ok());
        return std::nullopt;
      });
      ASSERT_TRUE(
          storage->replace(Stream::kEntries, 8, [](Sink& sink) { return sink.append("two\n"); })
              .ok());
      EXPECT_TRUE(is_done);
      disk.set_fault_hook(nullptr);
      const std::string expected = written == "hal" ? "two\n" : "two\ntheirs\n";
      EXPECT_EQ(disk.read_file("s/memory.jsonl"), expected);
      EXPECT_EQ(disk.crash()->read_file("s/memory.jsonl"), expected);
      EXPECT_EQ(storage->tail()->entries_bytes, expected.size());
      EXPECT_TRUE(storage->append(Stream::kEntries, expected.size(), "three\n", true, 3).ok());
      EXPECT_EQ(disk.read_file("s/memory.jsonl"), expected + "three\n");
    }
  }
}

// A stream that was not there when we looked is one of no bytes.
TEST(StrangersOfAReplacement, AStreamThatTheyMakeMeanwhileIsAConflictAndKept) {
  test::ManualClock clock;
  test::SeededRandom random;
  io::SimulatedFileSystem disk;
  disk.write_file("s/metadata.json", "{}");
  auto storage = *DirectoryStorage::open(*disk.open_root("s", false), {&disk, &clock, &random});
  ASSERT_TRUE(storage->lock(clock.monotonic_us(), "repair", nullptr).ok());
  const auto replace = [&](uint64_t expected_bytes) {
    return storage->replace(Stream::kTombstones, expected_bytes,
                            [](Sink& sink) { return sink.append("ours\n"); });
  };
  disk.set_fault_hook(
      io::FailNth(1, EIO, false, {OperationKind::kInfo}).on_file("tombstones.jsonl"));
  EXPECT_EQ(replace(0).code(), Code::kIo) << "nobody can tell whether they made one";
  EXPECT_FALSE(disk.exists("s/tombstones.jsonl"));
  disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == OperationKind::kSyncData) disk.write_file("s/tombstones.jsonl", "1\n");
    return std::nullopt;
  });
  EXPECT_EQ(replace(0).code(), Code::kConflict);
  EXPECT_EQ(disk.read_file("s/tombstones.jsonl"), "1\n");
  disk.set_fault_hook(nullptr);
  EXPECT_EQ(storage->tail()->tombstones_bytes, 2U) << "it is known from now on";
  EXPECT_TRUE(replace(2).ok());
  EXPECT_EQ(disk.crash()->read_file("s/tombstones.jsonl"), "ours\n");
}

// The new log has its name by then: that it could not take theirs is no reason to say it has not.
TEST(StrangersOfAReplacement, WhatCannotBeTakenFromTheOldLogDoesNotMakeItFail) {
  for (const auto failing : {OperationKind::kRead, OperationKind::kInfo}) {
    BeforeAReplacement before;
    io::SimulatedFileSystem& disk = before.disk;
    const auto& file = before.file;
    const auto& storage = before.storage;
    ASSERT_TRUE(storage->lock(before.clock.monotonic_us(), "compact", nullptr).ok());
    bool is_renamed = false;
    bool is_read = false;
    bool has_failed = false;
    disk.set_fault_hook([&](const io::OperationInfo& operation) -> std::optional<io::Fault> {
      if (operation.kind == OperationKind::kRename && !std::exchange(is_renamed, true)) {
        EXPECT_TRUE(file->append("theirs\n").ok());
      }
      if (!is_renamed || has_failed || operation.name != "memory.jsonl") return std::nullopt;
      is_read = is_read || operation.kind == OperationKind::kRead;
      has_failed = is_read && operation.kind == failing;
      return has_failed ? std::optional(io::Fault{EIO}) : std::nullopt;
    });
    const Status replaced =
        storage->replace(Stream::kEntries, 8, [](Sink& sink) { return sink.append("two\n"); });
    disk.set_fault_hook(nullptr);
    ASSERT_TRUE(has_failed) << "or nothing is tested";
    EXPECT_TRUE(replaced.ok()) << replaced.message();
    EXPECT_EQ(disk.crash()->read_file("s/memory.jsonl"), "two\n");
    EXPECT_EQ(storage->tail()->entries_bytes, 4U);
    EXPECT_TRUE(storage->append(Stream::kEntries, 4, "three\n", true, 3).ok());
    EXPECT_EQ(disk.crash()->read_file("s/memory.jsonl"), "two\nthree\n");
  }
}

}  // namespace
}  // namespace varve::log
