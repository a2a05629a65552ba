#include "index/posting_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "posting_fixture.h"

namespace varve::index {
namespace {

constexpr uint32_t kCounts[] = {0, 1, 2, 127, 128, 129, 255, 256, 257, 1000, 100'000};

// Rows and frequencies by next().
Postings walk(const PostingList& list) {
  Postings found;
  PostingCursor cursor(list);
  for (uint32_t row = cursor.seek(0); row != kNoRow; row = cursor.next()) {
    found.push_back({row, cursor.frequency(), 0});
  }
  EXPECT_FALSE(cursor.is_damaged());
  return found;
}

Postings without_lengths(Postings postings) {
  for (auto& one : postings) one.length = 0;
  return postings;
}

// --- round trips ---------------------------------------------------------------------------------

TEST(PostingList, GivesBackWhatWasAdded) {
  for (const uint32_t count : kCounts) {
    for (const uint32_t gap_max : {1u, 3u, 1000u, 40'000u}) {
      const Postings postings = random_postings(count, gap_max, kNoRow, count + gap_max);
      const PostingBuffer buffer = buffer_of(postings);
      EXPECT_EQ(buffer.count(), count);
      if (count > 0) {
        EXPECT_EQ(buffer.last_row(), postings.back().row);
      }
      PostingList added;
      added.runs[1] = PostingRun(buffer);
      const std::string bytes = encoded(buffer);
      PostingList frozen;
      frozen.runs[0] = PostingRun(bytes);
      for (const PostingList& list : {added, frozen}) {
        ASSERT_EQ(list.count(), count);
        ASSERT_EQ(list.is_empty(), count == 0);
        ASSERT_TRUE(walk(list) == without_lengths(postings)) << count << " by " << gap_max;
      }
    }
  }
}

// A walk by what is left of each block, in random parts, is the walk by next().
// In nearly every entry, often more than once, now and then more often than a byte says.
TEST(PostingList, OfAFrequentWordGivesBackWhatWasAdded) {
  std::mt19937 random(5);
  for (const uint32_t count : kCounts) {
    Postings postings;
    uint32_t row = 0;
    for (uint32_t i = 0; i < count; ++i) {
      row += random() % 20 == 0 ? 1 + static_cast<uint32_t>(random() % 200) : 1;
      const bool once = random() % 4 == 0;
      postings.push_back({row, once ? 1 : 1 + static_cast<uint32_t>(random() % 140), 0});
    }
    const std::string bytes = encoded(postings);
    PostingList list;
    list.runs[0] = PostingRun(bytes);
    ASSERT_TRUE(walk(list) == postings) << count;
  }
}

TEST(PostingList, TheRestOfABlockIsWhatNextGives) {
  std::mt19937 random(3);
  for (const uint32_t count : kCounts) {
    const Postings postings = random_postings(count, 300, kNoRow, count);
    const auto middle = postings.begin() + count / 3;
    const std::string frozen = encoded(Postings(postings.begin(), middle));
    const PostingBuffer added = buffer_of(Postings(middle, postings.end()));
    PostingList list;
    list.runs[0] = PostingRun(frozen);
    list.runs[1] = PostingRun(added);
    Postings found;
    PostingCursor cursor(list);
    for (uint32_t row = cursor.seek(0); row != kNoRow;) {
      const auto [rows, frequencies] = cursor.rest_of_block();
      ASSERT_EQ(rows.front(), row);
      ASSERT_EQ(rows.size(), frequencies.size());
      const size_t taken = 1 + random() % rows.size();
      for (size_t i = 0; i < taken; ++i) found.push_back({rows[i], frequencies[i], 0});
      row = cursor.skip(taken);
    }
    EXPECT_TRUE(found == without_lengths(postings)) << count;
  }
}

TEST(PostingList, ManyAtOnceAreAsOneByOne) {
  for (const uint32_t count : kCounts) {
    const Postings postings = random_postings(count, 300, kNoRow, count);
    for (const size_t at_once : {size_t{1}, size_t{7}, size_t{128}, size_t{300}}) {
      PostingBuffer buffer;
      for (size_t first = 0; first < postings.size(); first += at_once) {
        buffer.add(std::span(postings).subspan(first, std::min(at_once, postings.size() - first)));
      }
      EXPECT_EQ(buffer.count(), count);
      ASSERT_EQ(encoded(buffer), encoded(postings)) << count << " by " << at_once;
    }
  }
}

TEST(PostingList, AnEncodedListOfSeveralBlocksIsGoneOnWith) {
  const Postings all = random_postings(700, 5, kNoRow, 3);
  const std::string expected = encoded(all);
  PostingBuffer buffer;
  for (const size_t count : {129u, 255u, 256u, 257u, 511u, 699u, 700u}) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(count);
    ASSERT_TRUE(buffer.continue_from(encoded(Postings(all.begin(), first)))) << count;
    EXPECT_EQ(buffer.count(), count);
    EXPECT_EQ(buffer.last_row(), all[count - 1].row);
    buffer.add(std::span(all).subspan(count));
    EXPECT_EQ(encoded(buffer), expected) << count;
  }
}

TEST(PostingList, AShortListOrBytesThatAreNoneAreNotGoneOnWith) {
  const std::string list = encoded(random_postings(300, 5, kNoRow, 3));
  std::vector<std::string> others = {"",
                                     "\xFF",
                                     list + "x",
                                     list.substr(0, list.size() - 1),
                                     list.substr(0, 20),
                                     std::string(11, '\xFF')};
  for (const uint32_t count : {0u, 1u, kBlockRows}) {
    others.push_back(encoded(random_postings(count, 5, kNoRow, 3)));
  }
  for (const auto& other : others) {
    PostingBuffer buffer = buffer_of(random_postings(200, 5, kNoRow, 4));
    EXPECT_FALSE(buffer.continue_from(other));
    EXPECT_EQ(encoded(buffer), encoded(Postings())) << "it is not empty";
  }
}

TEST(PostingList, ExtremesFit) {
  const Postings postings = {{0, 1, 0},
                             {1, UINT32_MAX, UINT32_MAX},
                             {127, 2, 1},
                             {0x7FFF'FFFF, 3, 1},
                             {kNoRow - 1, 127, 1}};
  const std::string bytes = encoded(postings);
  PostingList list;
  list.runs[0] = PostingRun(bytes);
  EXPECT_EQ(walk(list), without_lengths(postings));
  PostingCursor cursor(list);
  EXPECT_EQ(cursor.seek(kNoRow - 1), kNoRow - 1);
  EXPECT_EQ(cursor.seek(kNoRow), kNoRow);
  EXPECT_EQ(cursor.seek_back(kNoRow), kNoRow - 1);
}

TEST(PostingList, AShortListIsSmall) {
  EXPECT_EQ(encoded(Postings{}).size(), 1u);
  EXPECT_EQ(encoded(Postings{{0, 1, 9}}), std::string("\x01\x02", 2)) << "count; distance 1";
  EXPECT_EQ(encoded(Postings{{0, 1, 9}, {3, 5, 9}}), std::string("\x02\x02\x07\x03", 4))
      << "distance 3 with a frequency; two less than 5";
  EXPECT_EQ(PostingBuffer().memory_bytes(), 0u);
}

TEST(PostingList, AddingToABufferShowsInALaterRun) {
  PostingBuffer buffer;
  for (uint32_t row = 0; row < 500; ++row) {
    buffer.add(row * 2, 1, 5);
    PostingList list;
    list.runs[1] = PostingRun(buffer);
    PostingCursor cursor(list);
    ASSERT_EQ(list.count(), row + 1);
    ASSERT_EQ(cursor.seek_back(kNoRow), row * 2);
    ASSERT_EQ(cursor.seek(row * 2), row * 2);
    ASSERT_EQ(cursor.next(), kNoRow);
  }
}

// --- a cursor against a plain vector -------------------------------------------------------------

class Oracle {
 public:
  Oracle(const Postings& frozen, const Postings& added) : all_(frozen) {
    all_.insert(all_.end(), added.begin(), added.end());
    add_blocks(frozen, frozen.size() > kBlockRows);
    add_blocks(added, true);
  }

  uint32_t seek(uint32_t row) {
    at_ = std::nullopt;
    const size_t found = first_not_below(row);
    return found == all_.size() ? kNoRow : move_to(found);
  }
  uint32_t seek_back(uint32_t row) {
    at_ = std::nullopt;
    size_t after = first_not_below(row);
    if (after < all_.size() && all_[after].row == row) after += 1;
    return after == 0 ? kNoRow : move_to(after - 1);
  }
  uint32_t next() {
    if (!at_ || *at_ + 1 == all_.size()) {
      at_ = std::nullopt;
      return kNoRow;
    }
    return move_to(*at_ + 1);
  }
  uint32_t count_from(uint32_t row) {
    (void)seek(row);
    return static_cast<uint32_t>(all_.size() - first_not_below(row));
  }
  struct Block {
    uint32_t last_row;
    uint32_t frequency_max;
    uint32_t length_min;
    bool knows_length;
  };
  [[nodiscard]] std::optional<Block> block_for(uint32_t row) const {
    for (const Block& block : blocks_) {
      if (block.last_row >= row) return block;
    }
    return std::nullopt;
  }
  [[nodiscard]] uint32_t frequency() const { return at_ ? all_[*at_].frequency : 0; }
  [[nodiscard]] const Postings& all() const { return all_; }

 private:
  [[nodiscard]] size_t first_not_below(uint32_t row) const {
    const auto found = std::lower_bound(all_.begin(), all_.end(), row,
                                        [](const Posting& a, uint32_t b) { return a.row < b; });
    return static_cast<size_t>(found - all_.begin());
  }
  uint32_t move_to(size_t at) {
    at_ = at;
    return all_[at].row;
  }
  void add_blocks(const Postings& part, bool knows_length) {
    for (size_t i = 0; i < part.size(); ++i) {
      if (i % kBlockRows == 0) blocks_.push_back({0, 0, UINT32_MAX, knows_length});
      Block& block = blocks_.back();
      block.last_row = part[i].row;
      block.frequency_max = std::max(block.frequency_max, part[i].frequency);
      block.length_min = std::min(block.length_min, part[i].length);
    }
  }

  Postings all_;
  std::vector<Block> blocks_;
  std::optional<size_t> at_;
};

void expect_same_block(const BlockSummary* found, const std::optional<Oracle::Block>& expected) {
  ASSERT_EQ(found != nullptr, expected.has_value());
  if (found == nullptr) return;
  EXPECT_EQ(found->last_row, expected->last_row);
  EXPECT_EQ(found->frequency_max(),
            expected->frequency_max < UINT16_MAX ? expected->frequency_max : UINT32_MAX);
  if (expected->knows_length) {
    EXPECT_EQ(found->length_min(), expected->length_min);
  } else {
    EXPECT_EQ(found->length_min(), 0u);  // says nothing, and bounds everything
  }
}

// One question of either, the same.
void ask(PostingCursor& cursor, Oracle& oracle, uint32_t question, uint32_t row) {
  switch (question) {
    case 0: ASSERT_EQ(cursor.seek(row), oracle.seek(row)); break;
    case 1: ASSERT_EQ(cursor.seek_back(row), oracle.seek_back(row)); break;
    case 2: ASSERT_EQ(cursor.contains(row), oracle.seek(row) == row); break;
    case 3: ASSERT_EQ(cursor.count_from(row), oracle.count_from(row)); break;
    case 4: expect_same_block(cursor.block_for(row), oracle.block_for(row)); return;
    default: ASSERT_EQ(cursor.next(), oracle.next());
  }
  if (oracle.frequency() != 0) {
    ASSERT_EQ(cursor.frequency(), oracle.frequency());
  }
}

void compare(const Postings& frozen, const Postings& added, uint64_t seed) {
  const std::string bytes = encoded(frozen);
  const PostingBuffer buffer = buffer_of(added);
  PostingList list;
  if (!frozen.empty()) list.runs[0] = PostingRun(bytes);
  if (!added.empty()) list.runs[1] = PostingRun(buffer);
  Oracle oracle(frozen, added);
  ASSERT_TRUE(walk(list) == without_lengths(oracle.all()));
  PostingCursor cursor(list);
  std::mt19937_64 generator(seed);
  const uint32_t end = oracle.all().empty() ? 10 : oracle.all().back().row + 10;
  uint32_t near = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto question = static_cast<uint32_t>(generator() % 8);
    uint32_t row = static_cast<uint32_t>(generator() % end);
    if (generator() % 2 == 0) row = near + static_cast<uint32_t>(generator() % 200);
    if (generator() % 4 == 0 && !oracle.all().empty()) {
      row = oracle.all()[generator() % oracle.all().size()].row;
    }
    if (generator() % 100 == 0) row = generator() % 2 == 0 ? 0 : kNoRow;
    if (row != kNoRow) near = row > 100 ? row - 100 : 0;
    ask(cursor, oracle, question, row);
    if (testing::Test::HasFatalFailure() || testing::Test::HasNonfatalFailure()) {
      FAIL() << frozen.size() << " frozen, " << added.size() << " added, question " << question
             << " of row " << row << ", number " << i;
    }
  }
  EXPECT_FALSE(cursor.is_damaged());
}

TEST(PostingCursor, AgreesWithAPlainVector) {
  uint64_t seed = 1;
  for (const uint32_t frozen_count : kCounts) {
    for (const uint32_t added_count : {0u, 1u, 127u, 128u, 129u, 1000u}) {
      for (const uint32_t gap_max : {1u, 2u, 100u}) {
        seed += 3;
        const Postings frozen = random_postings(frozen_count, gap_max, kNoRow, seed);
        const uint32_t after = frozen.empty() ? kNoRow : frozen.back().row;
        compare(frozen, random_postings(added_count, gap_max, after, seed + 1), seed + 2);
        if (HasFatalFailure() || HasNonfatalFailure()) return;
      }
    }
  }
}

TEST(PostingCursor, OfAnEmptyListFindsNothing) {
  PostingCursor cursor{PostingList{}};
  EXPECT_EQ(cursor.seek(0), kNoRow);
  EXPECT_EQ(cursor.seek_back(kNoRow), kNoRow);
  EXPECT_EQ(cursor.next(), kNoRow);
  EXPECT_FALSE(cursor.contains(0));
  EXPECT_FALSE(cursor.contains(kNoRow - 1));
  EXPECT_EQ(cursor.count_from(0), 0u);
  EXPECT_EQ(cursor.block_for(0), nullptr);
  EXPECT_EQ(cursor.count(), 0u);
  EXPECT_FALSE(cursor.is_damaged());
}

TEST(PostingCursor, ACopyGoesItsOwnWay) {
  const Postings postings = random_postings(1000, 5, kNoRow, 99);
  const std::string bytes = encoded(postings);
  PostingList list;
  list.runs[0] = PostingRun(bytes);
  PostingCursor first(list);
  first.seek(postings[500].row);
  PostingCursor second = first;
  EXPECT_EQ(second.next(), postings[501].row);
  EXPECT_EQ(second.seek(0), postings[0].row);
  EXPECT_EQ(first.next(), postings[501].row);
}

}  // namespace
}  // namespace varve::index
