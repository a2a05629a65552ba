// FailureBuffer over a storage whose answers a test gives; over a directory:
// failure_buffer_test.cpp.
#include "log/failure_buffer.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "log/memory_storage.h"
#include "support/environment.h"

namespace varve::log {
namespace {

// A storage in memory that fails where it is told to.
class Below final : public MemoryStorage {
 public:
  using MemoryStorage::MemoryStorage;

  Result<Tail> tail() override {
    if (tail_fails) return Status(Code::kIo, "no tail");
    auto seen = MemoryStorage::tail();
    if (after_look) std::exchange(after_look, nullptr)();
    return seen;
  }
  Result<size_t> read(Stream stream, uint64_t generation, uint64_t offset,
                      std::span<char> out) override {
    if (read_fails) return Status(Code::kIo, "no read");
    auto got = MemoryStorage::read(stream, generation, offset, out);
    if (after_look) std::exchange(after_look, nullptr)();
    return got;
  }
  Status append(Stream stream, uint64_t expected_bytes, std::string_view lines, bool durable,
                uint64_t last_seq, const Meanwhile& meanwhile) override {
    if (append_fails != Code::kOk) return {append_fails, "no append"};
    last_durable = durable;
    return MemoryStorage::append(stream, expected_bytes, lines, durable, last_seq, meanwhile);
  }
  void unlock() noexcept override {
    unlock_count += 1;
    MemoryStorage::unlock();
  }

  bool tail_fails = false;
  bool read_fails = false;
  Code append_fails = Code::kOk;
  bool last_durable = false;
  int unlock_count = 0;
  std::function<void()> after_look;  // once
};

class Buffering : public testing::Test {
 protected:
  void SetUp() override {
    auto below = std::make_unique<Below>(session_, clock_);
    below_ = below.get();
    buffer_ = std::make_unique<FailureBuffer>(std::move(below), 100);
    session_->entries = "one\n";
    session_->tombstones = "gone\n";
    ASSERT_TRUE(buffer_->lock(clock_.monotonic_us(), "write", nullptr).ok());
  }
  Status add(std::string_view lines, bool durable = true) {
    return buffer_->append(Stream::kEntries, buffer_->tail()->entries_bytes, lines, durable, 1);
  }
  void fill_up() { below_->append_fails = Code::kNoSpace; }
  void mend() { below_->append_fails = Code::kOk; }
  std::string read(Stream stream, uint64_t offset, size_t size) {
    std::string bytes(size, ' ');
    const auto got = buffer_->read(stream, 1, offset, bytes);
    return got.ok() ? bytes.substr(0, *got) : got.status().message();
  }

  test::ManualClock clock_;
  std::shared_ptr<MemorySession> session_ = std::make_shared<MemorySession>();
  Below* below_ = nullptr;
  std::unique_ptr<FailureBuffer> buffer_;
};

TEST_F(Buffering, WhatIsKeptIsReadBehindWhatIsOnTheDisk) {
  fill_up();
  ASSERT_TRUE(add("two\n").ok());
  ASSERT_TRUE(add("three\n").ok());
  EXPECT_EQ(session_->entries, "one\n");
  struct Case {
    uint64_t offset;
    size_t size;
    std::string bytes;
  };
  const Case cases[] = {
      {0, 4, "one\n"}, {0, 99, "one\ntwo\nthree\n"}, {2, 4, "e\ntw"},
      {4, 4, "two\n"}, {6, 99, "o\nthree\n"},        {14, 9, ""},
      {99, 9, ""},
  };
  for (const auto& row : cases) {
    EXPECT_EQ(read(Stream::kEntries, row.offset, row.size), row.bytes) << row.offset;
  }
  EXPECT_EQ(read(Stream::kTombstones, 0, 99), "gone\n") << "only entries are kept";
  EXPECT_EQ(buffer_->locked_tail()->entries_bytes, 14u);
}

// A write that failed half-way and was not undone: its part below is shorter than what is kept.
TEST_F(Buffering, APartThatIsBelowAlreadyIsNotReadTwice) {
  fill_up();
  ASSERT_TRUE(add("two\n").ok());
  session_->entries += "two\nthr";
  EXPECT_EQ(read(Stream::kEntries, 0, 99), "one\ntwo\nthr");
  EXPECT_EQ(buffer_->tail()->entries_bytes, 11u);
}

// Kept, they could be written behind a part of themselves.
TEST_F(Buffering, WhatTheDiskTookAPartOfIsNotKept) {
  fill_up();
  session_->entries += "tw";
  const Status failed = buffer_->append(Stream::kEntries, 4, "two\n", true, 1);
  EXPECT_EQ(failed.code(), Code::kNoSpace);
  EXPECT_EQ(failed.message(), "no append");
  EXPECT_EQ(buffer_->undurable().bytes, 0u);
  mend();
  session_->entries = "one\n";
  ASSERT_TRUE(add("three\n").ok());
  EXPECT_EQ(session_->entries, "one\nthree\n");
}

TEST_F(Buffering, BytesBeforeWhatIsKeptThatAreMissingBelowAreMissing) {
  fill_up();
  ASSERT_TRUE(add("two\n").ok());
  session_->entries = "o";
  EXPECT_EQ(read(Stream::kEntries, 0, 99), "o");
}

TEST_F(Buffering, TheLockStaysUntilTheDiskHasTakenThem) {
  fill_up();
  ASSERT_TRUE(add("two\n").ok());
  buffer_->unlock();
  EXPECT_EQ(below_->unlock_count, 0);
  ASSERT_TRUE(buffer_->lock(clock_.monotonic_us(), "write", nullptr).ok()) << "it is held already";
  EXPECT_GT(buffer_->undurable().bytes, 0u);
  mend();
  ASSERT_TRUE(buffer_->lock(clock_.monotonic_us(), "write", nullptr).ok());
  EXPECT_EQ(buffer_->undurable().bytes, 0u);
  EXPECT_EQ(session_->entries, "one\ntwo\n");
  buffer_->unlock();
  EXPECT_EQ(below_->unlock_count, 1);
  buffer_->unlock();
  EXPECT_EQ(below_->unlock_count, 1) << "it is not held any more";
}

TEST_F(Buffering, TheyAreWrittenAsDurablyAsAnyOfThemWasAskedFor) {
  struct Case {
    bool first;
    bool second;
    bool expected;
  };
  for (const Case& row :
       {Case{false, false, false}, Case{false, true, true}, Case{true, false, true}}) {
    fill_up();
    ASSERT_TRUE(add("two\n", row.first).ok());
    ASSERT_TRUE(add("three\n", row.second).ok());
    mend();
    ASSERT_TRUE(buffer_->lock(clock_.monotonic_us(), "write", nullptr).ok());
    EXPECT_EQ(below_->last_durable, row.expected);
  }
}

TEST_F(Buffering, OnlyAFailureOfTheDiskIsKept) {
  for (const Code code : {Code::kReadOnly, Code::kConflict, Code::kNoMemory}) {
    below_->append_fails = code;
    EXPECT_EQ(add("two\n").code(), code);
    EXPECT_EQ(buffer_->undurable().bytes, 0u);
  }
  fill_up();
  EXPECT_EQ(buffer_->append(Stream::kTombstones, 5, "too\n", true, 0).code(), Code::kNoSpace);
}

// Between a look at the disk and one at what is kept, another thread's write may take that along.
TEST_F(Buffering, WhatTheDiskTakesWhileSomebodyLooksIsMissedByNobody) {
  const auto keep_and_write_during_the_next_look = [this] {
    session_->entries = "one\n";
    fill_up();
    ASSERT_TRUE(add("two\n").ok());
    mend();
    below_->after_look = [this] { EXPECT_TRUE(buffer_->sync(1).ok()); };
  };
  keep_and_write_during_the_next_look();
  EXPECT_EQ(read(Stream::kEntries, 0, 99), "one\ntwo\n");
  EXPECT_EQ(session_->entries, "one\ntwo\n");
  keep_and_write_during_the_next_look();
  EXPECT_EQ(buffer_->tail()->entries_bytes, 8u);
  EXPECT_EQ(session_->entries, "one\ntwo\n");
}

// Whether a part of it was written is not known: nothing may be kept.
TEST_F(Buffering, WithoutATailNothingIsKept) {
  const uint64_t end = buffer_->tail()->entries_bytes;
  fill_up();
  below_->tail_fails = true;
  const Status refused = buffer_->append(Stream::kEntries, end, "two\n", true, 1);
  EXPECT_EQ(refused.code(), Code::kIo);
  EXPECT_EQ(buffer_->tail().code(), Code::kIo);
  below_->tail_fails = false;
  EXPECT_EQ(buffer_->undurable().bytes, 0u);
  EXPECT_EQ(buffer_->tail()->entries_bytes, 4u);
}

TEST_F(Buffering, AReadThatFailsBelowFails) {
  fill_up();
  ASSERT_TRUE(add("two\n").ok());
  below_->read_fails = true;
  std::string bytes(9, ' ');
  EXPECT_EQ(buffer_->read(Stream::kEntries, 1, 4, bytes).code(), Code::kIo);
}

TEST_F(Buffering, WhateverChangesAFileWaitsForThem) {
  fill_up();
  ASSERT_TRUE(add("two\n").ok());
  const auto nothing = [](Sink&) { return Status(); };
  const auto changes = [&] {
    std::vector<Status> answers;
    answers.push_back(buffer_->sync(1));
    answers.push_back(buffer_->truncate(Stream::kTombstones, 5, 0));
    answers.push_back(buffer_->replace(Stream::kTombstones, nothing));
    answers.push_back(buffer_->remove_residue({}));
    return answers;
  };
  session_->quarantine = "bad\n";
  for (const Status& answer : changes()) EXPECT_EQ(answer.code(), Code::kNoSpace);
  const Status put = buffer_->put_document("d", "text", DocumentDurability::kNone);
  EXPECT_EQ(put.code(), Code::kIo);
  EXPECT_NE(put.message().find("still wait for the disk: "), std::string::npos) << put.message();
  EXPECT_TRUE(put.message().ends_with(buffer_->undurable().reason)) << put.message();
  EXPECT_EQ(buffer_->get_document("d").code(), Code::kNotFound);
  EXPECT_EQ(session_->tombstones, "gone\n");
  EXPECT_EQ(session_->quarantine, "bad\n");
  mend();
  for (const Status& answer : changes()) EXPECT_TRUE(answer.ok()) << answer.message();
  EXPECT_EQ(session_->entries, "one\ntwo\n");
  EXPECT_EQ(session_->tombstones, "");
  EXPECT_EQ(session_->quarantine, "");
}

TEST_F(Buffering, WhatTheDiskNeverTookIsLostAndTheLockIsGivenBack) {
  fill_up();
  ASSERT_TRUE(add("two\n").ok());
  buffer_.reset();
  EXPECT_EQ(session_->entries, "one\n");
  EXPECT_FALSE(session_->is_locked);
}

TEST_F(Buffering, WithoutALockNoneIsGivenBack) {
  buffer_->unlock();
  buffer_.reset();
  EXPECT_FALSE(session_->is_locked);
}

}  // namespace
}  // namespace varve::log
