// Posting lists out of a file that is not right: never a crash, an endless walk, or rows that do
// not rise; and where a row is missing, the cursor says so.
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "index/posting_list.h"
#include "index/varint.h"
#include "posting_fixture.h"

namespace varve::index {
namespace {

struct Walked {
  uint32_t count = 0;
  bool damaged = false;
};

// All that a cursor can be asked of bytes that may be anything.
void exercise_run(const PostingRun& run, Walked* walked) {
  PostingList list;
  list.runs[0] = run;
  PostingCursor cursor(list);
  uint32_t before = kNoRow;
  for (uint32_t row = cursor.seek(0); row != kNoRow; row = cursor.next()) {
    ASSERT_TRUE(before == kNoRow || row > before) << row << " after " << before;
    ASSERT_LT(walked->count, list.count());
    before = row;
    walked->count += 1;
  }
  walked->damaged = cursor.is_damaged();
  ASSERT_TRUE(walked->damaged || walked->count == list.count());
  for (const uint32_t wanted : {0u, 1u, 100u, 500u, 1000u, 5000u, 1u << 31, kNoRow - 1}) {
    PostingCursor other(list);
    const uint32_t at = other.seek(wanted);
    ASSERT_TRUE(at == kNoRow || at >= wanted);
    const uint32_t back = other.seek_back(wanted);
    ASSERT_TRUE(back == kNoRow || back <= wanted);
    (void)other.count_from(wanted);
    const BlockSummary* block = other.block_for(wanted);
    ASSERT_TRUE(block == nullptr || block->last_row >= wanted);
  }
  // From each block to the next.
  PostingCursor blocks(list);
  uint32_t steps = 0;
  for (uint32_t row = 0; row != kNoRow && steps <= list.count(); ++steps) {
    const BlockSummary* block = blocks.block_for(row);
    if (block == nullptr) break;
    ASSERT_GE(block->last_row, row);
    row = block->last_row == kNoRow ? kNoRow : block->last_row + 1;
  }
  ASSERT_LE(steps, list.count());
}

void exercise(std::string_view bytes, Walked* walked) {
  Walked rows_alone;
  exercise_run(PostingRun::of_rows(bytes), &rows_alone);
  if (testing::Test::HasFatalFailure()) return;
  exercise_run(PostingRun(bytes), walked);
  ASSERT_EQ(rows_alone.count, walked->count);
  ASSERT_EQ(rows_alone.damaged, walked->damaged);
}

const std::vector<uint32_t> kDamagedCounts = {0, 1, 3, 127, 128, 129, 300, 513};

TEST(PostingDamage, EveryTruncationIsNoticed) {
  for (const uint32_t count : kDamagedCounts) {
    const std::string right = encoded(random_postings(count, 9, kNoRow, count));
    for (size_t size = 0; size < right.size(); ++size) {
      // On the heap and exact, so that a sanitizer sees a read behind it.
      const std::vector<char> bytes(right.begin(), right.begin() + static_cast<long>(size));
      Walked walked;
      exercise({bytes.data(), bytes.size()}, &walked);
      if (HasFatalFailure()) FAIL() << count << " rows cut to " << size;
      ASSERT_TRUE(walked.damaged) << count << " rows cut to " << size;
    }
  }
}

TEST(PostingDamage, AnyFlippedBitIsHarmless) {
  for (const uint32_t count : kDamagedCounts) {
    const std::string right = encoded(random_postings(count, 9, kNoRow, count));
    for (size_t bit = 0; bit < right.size() * 8; ++bit) {
      std::string flipped = right;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      Walked walked;
      exercise(flipped, &walked);
      if (HasFatalFailure()) FAIL() << count << " rows, bit " << bit;
    }
  }
}

// A list of rows alone has no summary to tell where it ends.
TEST(PostingDamage, BehindTheLastRowIsNoDamage) {
  const std::string bytes = encoded(random_postings(5, 9, kNoRow, 5));
  PostingList list;
  list.runs[0] = PostingRun::of_rows(bytes);
  PostingCursor cursor(list);
  EXPECT_EQ(cursor.seek(kNoRow - 1), kNoRow);
  EXPECT_FALSE(cursor.is_damaged());
  EXPECT_NE(cursor.seek_back(kNoRow - 1), kNoRow);
}

// Bytes behind the last posting, so that nothing else shows it.
TEST(PostingDamage, AShortDistanceBeyondTheLastRowIsNone) {
  std::string bytes;
  append_varint(&bytes, 2);
  append_varint(&bytes, uint64_t{kNoRow} << 1);  // the last row there may be
  append_varint(&bytes, uint64_t{1} << 1);
  bytes.append(4, '\0');
  EXPECT_TRUE(PostingRun(bytes).is_damaged());
}

TEST(PostingDamage, RandomBytesAreHarmless) {
  std::mt19937_64 generator(5);
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(generator() % 300, '\0');
    for (char& byte : bytes) byte = static_cast<char>(generator() % (round % 2 == 0 ? 256 : 4));
    Walked walked;
    exercise(bytes, &walked);
    if (HasFatalFailure()) FAIL() << "round " << round;
  }
}

// The encoded list of 300 rows with another summary of a block.
std::string with_summary(uint32_t block, const BlockSummary& summary) {
  std::string bytes = encoded(random_postings(300, 9, kNoRow, 1));
  std::memcpy(bytes.data() + 2 + block * sizeof(summary), &summary, sizeof(summary));
  return bytes;
}

BlockSummary summary_of(uint32_t block) {
  const std::string bytes = encoded(random_postings(300, 9, kNoRow, 1));
  return PostingRun(bytes).summary(block);
}

TEST(PostingDamage, ASummaryThatIsNotItsRowsIsNoticed) {
  for (const uint32_t block : {0u, 1u, 2u}) {
    const BlockSummary right = summary_of(block);
    for (const uint32_t last_row : {0u, 1u, right.last_row - 1, right.last_row + 1,
                                    right.last_row + 1000, kNoRow - 1, kNoRow}) {
      BlockSummary wrong = right;
      wrong.last_row = last_row;
      Walked walked;
      exercise(with_summary(block, wrong), &walked);
      if (HasFatalFailure()) FAIL() << block << " ends at " << last_row;
      EXPECT_TRUE(walked.damaged) << block << " ends at " << last_row;
    }
    for (const uint32_t end_bytes : {0u, 1u, 1u << 20, UINT32_MAX}) {
      BlockSummary wrong = right;
      wrong.end_bytes = end_bytes;
      Walked walked;
      exercise(with_summary(block, wrong), &walked);
      if (HasFatalFailure()) FAIL() << block << " has " << end_bytes;
      EXPECT_TRUE(walked.damaged) << block << " has " << end_bytes;
    }
  }
}

// The second block's rows, counted from 0 again, would be those its summary says.
TEST(PostingDamage, NothingCountsOnFromARowThatIsNone) {
  BlockSummary first = summary_of(0);
  BlockSummary second = summary_of(1);
  second.last_row -= first.last_row + 1;
  first.last_row = kNoRow;
  std::string bytes = with_summary(0, first);
  std::memcpy(bytes.data() + 2 + sizeof(second), &second, sizeof(second));
  const PostingRun run(bytes);
  DecodedBlock decoded;
  EXPECT_EQ(run.decode(0, &decoded), 0u);
  EXPECT_EQ(run.decode(1, &decoded), 0u);
}

TEST(PostingDamage, CountsThatCannotBe) {
  for (const uint64_t count : {uint64_t{5}, uint64_t{129}, uint64_t{kNoRow} - 1, uint64_t{kNoRow},
                               uint64_t{1} << 32, uint64_t{1} << 40, UINT64_MAX}) {
    std::string bytes;
    append_varint(&bytes, count);
    bytes += "\x02\x02";
    Walked walked;
    exercise(bytes, &walked);
    EXPECT_TRUE(walked.damaged) << count;
    EXPECT_EQ(walked.count, 0u) << count;
  }
}

TEST(PostingDamage, ADistanceOfNothingIsNone) {
  for (const std::string& bytes : {std::string("\x01\x00", 2), std::string("\x02\x02\x00", 3),
                                   std::string("\x02\x02\x01\x00", 4)}) {
    Walked walked;
    exercise(bytes, &walked);
    EXPECT_TRUE(walked.damaged);
  }
}

// Those before the wrong one are right all the same.
TEST(PostingDamage, ADistanceOfNothingIsFoundAmongOthers) {
  constexpr uint32_t kCount = kPackedRowsMin - 1;
  for (uint32_t wrong = 0; wrong < kCount; ++wrong) {
    for (const std::string& nothing : {std::string("\x01\x05"), std::string(1, '\0')}) {
      std::string bytes(1, char{kCount});
      for (uint32_t i = 0; i < kCount; ++i) bytes += i == wrong ? nothing : "\x03\x05";
      DecodedBlock decoded;
      ASSERT_EQ(PostingRun::of_rows(bytes).decode(0, &decoded), wrong);
      for (uint32_t i = 0; i < wrong; ++i) {
        EXPECT_EQ(decoded.rows[i], i);
        EXPECT_EQ(decoded.frequencies[i], 7u);
      }
    }
  }
}

TEST(PostingDamage, RowsAndFrequenciesOfMoreThan32BitsAreNone) {
  for (const auto& [distance, frequency] :
       std::vector<std::pair<uint64_t, uint64_t>>{{(uint64_t{1} << 32) << 1, 0},
                                                  {UINT64_MAX - 1, 0},
                                                  {3, uint64_t{UINT32_MAX} - 1},
                                                  {3, UINT64_MAX}}) {
    std::string bytes(1, '\x01');
    append_varint(&bytes, distance);
    if ((distance & 1) != 0) append_varint(&bytes, frequency);
    Walked walked;
    exercise(bytes, &walked);
    EXPECT_TRUE(walked.damaged) << distance << " " << frequency;
  }
}

// --- variable-length integers --------------------------------------------------------------------

TEST(Varint, RoundTrips) {
  for (uint32_t shift = 0; shift < 64; ++shift) {
    for (const uint64_t value :
         {uint64_t{1} << shift, (uint64_t{1} << shift) - 1, UINT64_MAX >> shift}) {
      std::string bytes;
      append_varint(&bytes, value);
      bytes += "rest";
      std::string_view view = bytes;
      uint64_t taken = 0;
      ASSERT_TRUE(take_varint(&view, &taken)) << value;
      ASSERT_EQ(taken, value);
      ASSERT_EQ(view, "rest");
    }
  }
}

TEST(Varint, Bytes) {
  const std::vector<std::pair<uint64_t, std::string>> cases = {
      {0, std::string(1, '\0')},
      {127, "\x7F"},
      {128, "\x80\x01"},
      {300, "\xAC\x02"},
      {UINT64_MAX, std::string(9, '\xFF') + "\x01"}};
  for (const auto& [value, expected] : cases) {
    std::string bytes;
    append_varint(&bytes, value);
    EXPECT_EQ(bytes, expected) << value;
  }
}

TEST(Varint, WhatEndsEarlyOrDoesNotFitIsNone) {
  const std::vector<std::string> cases = {"",
                                          "\x80",
                                          "\xFF\xFF",
                                          std::string(9, '\xFF'),
                                          std::string(10, '\xFF'),
                                          std::string(9, '\xFF') + "\x02",
                                          std::string(9, '\x80') + "\x7F",
                                          std::string(20, '\x80')};
  for (const std::string& bytes : cases) {
    std::string_view view = bytes;
    uint64_t value = 42;
    EXPECT_FALSE(take_varint(&view, &value)) << bytes.size();
    EXPECT_EQ(value, 42u);
    EXPECT_EQ(view.size(), bytes.size());
  }
}

}  // namespace
}  // namespace varve::index
