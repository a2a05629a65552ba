#include "log/line_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "log_text.h"
#include "long_line.h"
#include "support/build_kind.h"

namespace varve::log {
namespace {

constexpr size_t kChunk = size_t{256} << 10;

struct Copy {
  std::string bytes;
  uint64_t offset;
  uint64_t length;
  bool terminated;
};

std::vector<Copy> lines_of(std::string_view text, uint64_t from, uint64_t to) {
  LogText log(text);
  LineReader reader(log.storage(), Stream::kEntries, {1, from, to});
  std::vector<Copy> lines;
  Line line;
  for (;;) {
    const auto more = reader.next(&line);
    EXPECT_TRUE(more.ok());
    if (!more.ok() || !*more) return lines;
    EXPECT_FALSE(line.oversized);
    lines.push_back({std::string(line.bytes), line.offset, line.length, line.terminated});
  }
}

TEST(LineReader, GivesEachLineWithItsPlace) {
  const auto lines = lines_of("one\n\ntwo\r\nlast", 0, 14);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_EQ(lines[0].bytes, "one");
  EXPECT_EQ(lines[1].bytes, "");
  EXPECT_EQ(lines[1].offset, 4u);
  EXPECT_EQ(lines[1].length, 1u);
  EXPECT_EQ(lines[2].bytes, "two\r");
  EXPECT_EQ(lines[2].length, 5u);
  EXPECT_TRUE(lines[2].terminated);
  EXPECT_EQ(lines[3].bytes, "last");
  EXPECT_EQ(lines[3].offset, 10u);
  EXPECT_EQ(lines[3].length, 4u);
  EXPECT_FALSE(lines[3].terminated);
}

TEST(LineReader, ReadsItsRangeOnly) {
  EXPECT_TRUE(lines_of("one\ntwo\n", 4, 4).empty());
  EXPECT_TRUE(lines_of("", 0, 0).empty());
  const auto lines = lines_of("one\ntwo\nthree\n", 4, 10);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].bytes, "two");
  EXPECT_EQ(lines[0].offset, 4u);
  EXPECT_EQ(lines[1].bytes, "th");
  EXPECT_FALSE(lines[1].terminated);
}

TEST(LineReader, AStreamThatIsShorterThanItWasEnds) {
  const auto lines = lines_of("one\ntwo", 0, 1'000'000);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].bytes, "two");
  EXPECT_FALSE(lines[1].terminated);
}

TEST(LineReader, LinesAroundTheSizeOfAChunk) {
  for (const size_t size : {kChunk - 2, kChunk - 1, kChunk, kChunk + 1, 2 * kChunk - 1, 2 * kChunk,
                            2 * kChunk + 1, 3 * kChunk}) {
    for (const size_t before : {size_t{0}, size_t{1}, size_t{17}}) {
      const std::string first(before, 'a');
      const std::string long_line(size, 'b');
      const std::string text = first + "\n" + long_line + "\n\nend\n";
      const auto lines = lines_of(text, 0, text.size());
      ASSERT_EQ(lines.size(), 4u) << size << " " << before;
      EXPECT_EQ(lines[0].bytes, first);
      EXPECT_TRUE(lines[1].bytes == long_line) << size << " " << before;
      EXPECT_EQ(lines[1].offset, before + 1);
      EXPECT_EQ(lines[1].length, size + 1);
      EXPECT_EQ(lines[2].bytes, "");
      EXPECT_EQ(lines[3].bytes, "end");
      EXPECT_EQ(lines[3].offset, text.size() - 4);
    }
  }
}

TEST(LineReader, LineEndsAtEveryPlaceAroundAChunkBorder) {
  for (size_t end = kChunk - 3; end <= kChunk + 3; ++end) {
    std::string text(kChunk + 100, 'x');
    text[end] = '\n';
    text.back() = '\n';
    const auto lines = lines_of(text, 0, text.size());
    ASSERT_EQ(lines.size(), 2u);
    EXPECT_EQ(lines[0].length, end + 1);
    EXPECT_EQ(lines[1].offset, end + 1);
    EXPECT_EQ(lines[0].length + lines[1].length, text.size());
  }
}

TEST(LineReader, ManyShortLinesAcrossManyChunks) {
  std::string text;
  size_t count = 0;
  for (; text.size() < 3 * kChunk; ++count) text += std::to_string(count) + "\n";
  const auto lines = lines_of(text, 0, text.size());
  ASSERT_EQ(lines.size(), count);
  uint64_t offset = 0;
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(lines[i].bytes, std::to_string(i));
    ASSERT_EQ(lines[i].offset, offset);
    offset += lines[i].length;
  }
}

TEST(LineReader, AnOversizedLineIsPassedOver) {
  if (!test::kFastBuild) GTEST_SKIP() << "a gigabyte of bytes";
  test::ManualClock clock;
  for (const uint64_t too_much : {uint64_t{1}, uint64_t{kChunk}, uint64_t{64} << 20}) {
    LongLine storage(7 + kLineBytesMax + too_much, clock);
    Line line;
    LineReader reader(storage, Stream::kEntries, {1, 0, storage.size()});
    ASSERT_TRUE(*reader.next(&line));
    ASSERT_TRUE(*reader.next(&line));
    EXPECT_TRUE(line.oversized);
    EXPECT_TRUE(line.terminated);
    EXPECT_EQ(line.offset, 7u);
    EXPECT_EQ(line.length, kLineBytesMax + too_much + 1);
    EXPECT_TRUE(line.bytes.empty());
    ASSERT_TRUE(*reader.next(&line));
    EXPECT_EQ(line.bytes, "after");
    EXPECT_EQ(line.offset, storage.size() - 6);
    EXPECT_FALSE(line.oversized);
    EXPECT_FALSE(*reader.next(&line));
    EXPECT_LE(storage.largest_read, kLineBytesMax) << "memory for what is thrown away";
  }
}

TEST(LineReader, AnOversizedTailIsATailAndTheLongestLineIsALine) {
  if (!test::kFastBuild) GTEST_SKIP() << "a gigabyte of bytes";
  test::ManualClock clock;
  LongLine storage(7 + kLineBytesMax + 10, clock);
  Line line;
  LineReader torn(storage, Stream::kEntries, {1, 0, storage.size() - 7});
  ASSERT_TRUE(*torn.next(&line));
  ASSERT_TRUE(*torn.next(&line));
  EXPECT_TRUE(line.oversized);
  EXPECT_FALSE(line.terminated);
  EXPECT_EQ(line.length, kLineBytesMax + 10);
  EXPECT_FALSE(*torn.next(&line));

  LongLine longest(7 + kLineBytesMax, clock);
  LineReader reader(longest, Stream::kEntries, {1, 7, longest.size()});
  ASSERT_TRUE(*reader.next(&line));
  EXPECT_FALSE(line.oversized);
  EXPECT_EQ(line.bytes.size(), kLineBytesMax);
}

TEST(LineReader, AReadThatFailsWithinAnOversizedLineIsTold) {
  if (!test::kFastBuild) GTEST_SKIP() << "a gigabyte of bytes";
  test::ManualClock clock;
  LongLine storage(7 + kLineBytesMax + (uint64_t{64} << 20), clock);
  storage.fails_from = kLineBytesMax + (uint64_t{1} << 20);
  Line line;
  LineReader reader(storage, Stream::kEntries, {1, 0, storage.size()});
  ASSERT_TRUE(*reader.next(&line));
  EXPECT_EQ(reader.next(&line).code(), Code::kIo);
}

// The second read fails, once.
class FailingOnce final : public log::MemoryStorage {
 public:
  FailingOnce(std::shared_ptr<MemorySession> session, test::ManualClock& clock)
      : MemoryStorage(std::move(session), clock) {}

  Result<size_t> read(Stream stream, uint64_t generation, uint64_t offset,
                      std::span<char> out) override {
    reads_ += 1;
    if (reads_ == 2) return Status(Code::kIo, "this once");
    return MemoryStorage::read(stream, generation, offset, out);
  }

 private:
  int reads_ = 0;
};

TEST(LineReader, WhatAFailedReadWouldHaveGivenIsGivenByTheNext) {
  test::ManualClock clock;
  auto session = std::make_shared<MemorySession>();
  const std::string longer = std::string(kChunk + 10, 'a') + "\n";
  session->entries = longer + "last\n";
  FailingOnce storage(session, clock);
  LineReader reader(storage, Stream::kEntries, {1, 0, session->entries.size()});
  Line line;
  EXPECT_EQ(reader.next(&line).code(), Code::kIo);
  ASSERT_TRUE(*reader.next(&line));
  EXPECT_EQ(line.length, longer.size());
  EXPECT_EQ(std::string(line.bytes) + "\n", longer);
  ASSERT_TRUE(*reader.next(&line));
  EXPECT_EQ(line.bytes, "last");
}

TEST(LineReader, AnotherGenerationIsGone) {
  LogText log("one\n");
  LineReader reader(log.storage(), Stream::kEntries, {2, 0, 4});
  Line line;
  EXPECT_EQ(reader.next(&line).code(), Code::kGone);
}

}  // namespace
}  // namespace varve::log
