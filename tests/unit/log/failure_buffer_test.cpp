// FailureBuffer over a directory whose disk fails: nothing goes before what is kept, and what is
// kept is neither told twice nor elsewhere. The sessions' view of it is failing_disk_test.cpp.
#include "log/failure_buffer.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string>

#include "io/simulated.h"
#include "log/directory_storage.h"
#include "support/environment.h"

namespace varve::log {
namespace {

class KeptLines : public testing::Test {
 protected:
  void SetUp() override {
    disk_.write_file("s/metadata.json", "{}");
    disk_.write_file("s/memory.jsonl", "one\n");
    auto below = DirectoryStorage::open(*disk_.open_root("s", false), {&disk_, &clock_, &random_});
    ASSERT_TRUE(below.ok());
    buffer_ = std::make_unique<FailureBuffer>(*std::move(below), 1000);
    ASSERT_TRUE(lock().ok());
  }
  Status lock() { return buffer_->lock(clock_.monotonic_us(), "write", nullptr); }
  Status add(std::string_view lines, bool durable = true, uint64_t last_seq = 0) {
    return buffer_->append(Stream::kEntries, buffer_->tail()->entries_bytes, lines, durable,
                           last_seq);
  }
  void fill_up() {
    disk_.set_fault_hook(
        io::FailNth(1, ENOSPC, true, {io::OperationKind::kAppend}).on_file("memory.jsonl"));
  }
  void mend() { disk_.set_fault_hook(nullptr); }
  void keep(std::string_view lines, bool durable = true, uint64_t last_seq = 0) {
    fill_up();
    ASSERT_TRUE(add(lines, durable, last_seq).ok());
    ASSERT_EQ(buffer_->undurable().bytes, lines.size());
  }
  std::string log() { return disk_.read_file("s/memory.jsonl").value_or("(none)"); }
  std::string log_after_power_loss() {
    return disk_.crash()->read_file("s/memory.jsonl").value_or("(none)");
  }
  std::string read(Stream stream, uint64_t offset, size_t length) {
    std::string bytes(length, ' ');
    const auto got = buffer_->read(stream, buffer_->tail()->generation, offset, bytes);
    EXPECT_TRUE(got.ok()) << got.status().message();
    return got.ok() ? bytes.substr(0, *got) : "failed";
  }

  test::ManualClock clock_;
  test::SeededRandom random_;
  io::SimulatedFileSystem disk_;
  std::unique_ptr<FailureBuffer> buffer_;
};

TEST_F(KeptLines, AreReadBehindThoseOnTheDisk) {
  keep("two\nthree\n");
  EXPECT_EQ(read(Stream::kEntries, 0, 100), "one\ntwo\nthree\n");
  EXPECT_EQ(read(Stream::kEntries, 2, 4), "e\ntw");
  EXPECT_EQ(read(Stream::kEntries, 8, 5), "three");
  EXPECT_EQ(read(Stream::kEntries, 0, 4), "one\n");
  EXPECT_EQ(read(Stream::kEntries, 14, 10), "");
  EXPECT_EQ(read(Stream::kEntries, 99, 10), "");
}

TEST_F(KeptLines, AreInNoOtherStream) {
  ASSERT_TRUE(buffer_->append(Stream::kTombstones, 0, "gone\n", true, 0).ok());
  keep("two\nthree\n");
  EXPECT_EQ(read(Stream::kTombstones, 0, 100), "gone\n");
  EXPECT_EQ(read(Stream::kTombstones, 6, 100), "");
}

TEST_F(KeptLines, AreBesideAFileThatIsKeptOpenAsWithoutThem) {
  keep("two\n");
  EXPECT_NE(buffer_->keep_open(Stream::kEntries), nullptr);
}

TEST_F(KeptLines, AreWrittenBeforeASyncAnswers) {
  keep("two\n");
  EXPECT_EQ(buffer_->sync(1).code(), Code::kNoSpace);
  mend();
  ASSERT_TRUE(buffer_->sync(1).ok());
  EXPECT_EQ(log_after_power_loss(), "one\ntwo\n");
}

TEST_F(KeptLines, AreNotPassedByWhatReplacesOrCutsTheLog) {
  keep("two\n");
  const auto produce = [](Sink& sink) { return sink.append("new\n"); };
  constexpr std::array<std::string_view, 1> kDerived = {"index.bin"};
  EXPECT_EQ(buffer_->truncate(Stream::kEntries, 8, 0).code(), Code::kNoSpace);
  EXPECT_EQ(buffer_->replace(Stream::kEntries, produce).code(), Code::kNoSpace);
  EXPECT_EQ(buffer_->remove_residue(kDerived).code(), Code::kNoSpace);
  EXPECT_EQ(log(), "one\n");
  mend();
  ASSERT_TRUE(buffer_->truncate(Stream::kEntries, 8, 8).ok());
  EXPECT_EQ(log(), "one\ntwo\n");
  ASSERT_TRUE(buffer_->replace(Stream::kEntries, produce).ok());
  EXPECT_EQ(log(), "new\n");
  EXPECT_EQ(buffer_->tail()->entries_bytes, 4u);
}

TEST_F(KeptLines, AreAsDurableAsWasAskedWithTheNextLock) {
  keep("two\n", true, 7);
  mend();
  ASSERT_TRUE(lock().ok());
  EXPECT_EQ(buffer_->undurable().bytes, 0u);
  EXPECT_EQ(log_after_power_loss(), "one\ntwo\n");
  EXPECT_EQ(buffer_->durable_mark().last_seq, 7u);
  EXPECT_EQ(buffer_->durable_mark().entries_bytes, 8u);
}

TEST_F(KeptLines, AreOverWhenTheDiskTookThem) {
  keep("two\n");
  mend();
  ASSERT_TRUE(add("three\n").ok());
  EXPECT_EQ(buffer_->tail()->entries_bytes, 14u);
  EXPECT_EQ(read(Stream::kEntries, 0, 100), "one\ntwo\nthree\n");
  keep("four\n");
  EXPECT_EQ(read(Stream::kEntries, 0, 100), "one\ntwo\nthree\nfour\n");
}

// No later write would bring them to the disk.
TEST_F(KeptLines, AreNoneWhereTheStorageBelowStopsWriting) {
  ASSERT_TRUE(add("two\n").ok());
  disk_.set_fault_hook([](const io::OperationInfo& operation) -> std::optional<io::Fault> {
    if (operation.kind == io::OperationKind::kAppend) return io::Fault{ENOSPC, 2};
    if (operation.kind == io::OperationKind::kSyncData) return io::Fault{EIO};
    return std::nullopt;
  });
  const Status failed = add("three\n");
  EXPECT_NE(failed.message().find("the outcome is unknown"), std::string::npos) << failed.message();
  EXPECT_EQ(buffer_->undurable().bytes, 0u);
  mend();
  EXPECT_EQ(add("four\n").code(), Code::kReadOnly);
}

TEST_F(KeptLines, KeepOthersOutUntilTheyAreWrittenOrLost) {
  const auto process = disk_.process(4711);
  const auto other =
      *DirectoryStorage::open(*process->open_root("s", false), {process.get(), &clock_, &random_});
  keep("two\n");
  buffer_->unlock();
  EXPECT_EQ(other->lock(clock_.monotonic_us(), "write", nullptr).code(), Code::kBusy);
  buffer_.reset();
  EXPECT_TRUE(other->lock(clock_.monotonic_us(), "write", nullptr).ok());
}

}  // namespace
}  // namespace varve::log
