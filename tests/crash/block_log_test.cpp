// The states that for_each_block_state gives, on small books made by hand; no disk is mounted.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "block_log.h"

namespace varve::crash {
namespace {

using BookKind = BlockEvent::Kind;

BlockEvent write_of(uint64_t block, char letter, size_t blocks = 1) {
  return {BookKind::kWrite, block * kBlockBytes, std::string(blocks * kBlockBytes, letter)};
}
BlockEvent flush() { return {BookKind::kFlush, 0, {}}; }
BlockEvent asked() { return {BookKind::kAsked, 0, {}}; }
BlockEvent answered() { return {BookKind::kAnswered, 0, {}}; }

// The first letters of the blocks of a state, "." where there are zeros.
std::string letters(const BlockState& state, size_t blocks) {
  DiskImage image = state.flushed;
  for (const KeptWrite& write : state.kept) image.write(write.offset, write.bytes);
  std::string text(blocks, '.');
  for (const auto& [number, block] : image.blocks()) {
    if (number < blocks) text[number] = block[0];
  }
  return text;
}

struct Seen {
  std::vector<std::string> letters;
  std::vector<size_t> marks;
};

Seen seen_of(const std::vector<BlockEvent>& events, const StateChoice& choice, size_t blocks) {
  Seen seen;
  for_each_block_state({}, events, choice, [&](const BlockState& state) {
    seen.letters.push_back(letters(state, blocks));
    for (const KeptWrite& write : state.kept) EXPECT_EQ(write.bytes.size() % kBlockBytes, 0U);
    seen.marks.push_back(state.marks);
  });
  return seen;
}

bool has(const Seen& seen, const std::string& state) {
  return std::find(seen.letters.begin(), seen.letters.end(), state) != seen.letters.end();
}

constexpr StateChoice kMany{1000};

TEST(BlockLog, WhatWasFlushedIsInEveryLaterState) {
  const Seen seen =
      seen_of({write_of(0, 'a'), write_of(1, 'b'), flush(), write_of(2, 'c')}, kMany, 3);
  EXPECT_TRUE(has(seen, "a.."));  // after the first write
  EXPECT_TRUE(has(seen, ".b."));  // a part of the two
  EXPECT_TRUE(has(seen, "..."));  // nothing of them
  const auto flushed = std::find(seen.letters.rbegin(), seen.letters.rend(), "ab.");
  ASSERT_NE(flushed, seen.letters.rend());
  EXPECT_EQ(seen.letters.back(), "abc");
}

TEST(BlockLog, EveryPartOfWhatIsPendingIsMetWithTime) {
  const Seen seen = seen_of({write_of(0, 'a'), write_of(1, 'b'), write_of(2, 'c')}, kMany, 3);
  const std::set<std::string> different(seen.letters.begin(), seen.letters.end());
  EXPECT_EQ(different.size(), 8U);
}

TEST(BlockLog, ALaterWriteToTheSamePlaceCoversTheEarlierOne) {
  const Seen seen = seen_of({write_of(0, 'a'), write_of(0, 'b')}, kMany, 1);
  EXPECT_TRUE(has(seen, "a"));
  EXPECT_TRUE(has(seen, "b"));
  EXPECT_TRUE(has(seen, "."));
}

TEST(BlockLog, TheLastWriteIsTornBetweenBlocksOnly) {
  const Seen seen = seen_of({write_of(0, 'a', 3)}, {2, 2, 5}, 3);
  ASSERT_EQ(seen.letters.size(), 2U);
  EXPECT_EQ(seen.letters[0], "aaa");
  EXPECT_TRUE(seen.letters[1] == "a.." || seen.letters[1] == "aa.");
}

TEST(BlockLog, AnAnswerIsLookedAtWithAndWithoutWhatWasNotFlushed) {
  const Seen seen = seen_of({asked(), write_of(0, 'a'), answered()}, {3}, 1);
  EXPECT_EQ(seen.letters, (std::vector<std::string>{"a", ".", "a"}));
  EXPECT_EQ(seen.marks, (std::vector<size_t>{1, 2, 2}));
}

TEST(BlockLog, AnAnswerAfterAFlushIsLookedAtOnce) {
  const Seen seen = seen_of({write_of(0, 'a'), flush(), answered()}, {3}, 1);
  EXPECT_EQ(seen.letters, (std::vector<std::string>{"a", "a", "a"}));
  EXPECT_EQ(seen.marks, (std::vector<size_t>{0, 0, 1}));
}

TEST(BlockLog, AboutAsManyStatesAsWereAskedFor) {
  std::vector<BlockEvent> events;
  for (uint64_t number = 0; number < 200; ++number) {
    events.push_back(write_of(number, 'a'));
    if (number % 5 == 4) events.push_back(flush());
  }
  for (const size_t asked_for : {100U, 500U, 5000U}) {
    size_t given = 0;
    for_each_block_state({}, events, {asked_for}, [&](const BlockState&) { given += 1; });
    EXPECT_GT(given, asked_for * 7 / 10);
    EXPECT_LT(given, asked_for * 13 / 10);
  }
}

TEST(BlockLog, TheSameSeedGivesTheSameStates) {
  const std::vector<BlockEvent> events{write_of(0, 'a'), write_of(1, 'b'), write_of(2, 'c'),
                                       write_of(3, 'd')};
  EXPECT_EQ(seen_of(events, {50, 2, 7}, 4).letters, seen_of(events, {50, 2, 7}, 4).letters);
  EXPECT_NE(seen_of(events, {50, 2, 7}, 4).letters, seen_of(events, {50, 2, 8}, 4).letters);
}

TEST(BlockLog, AWriteMayBeginAndEndWithinBlocks) {
  DiskImage image;
  image.write(kBlockBytes - 2, "abcd");
  ASSERT_EQ(image.blocks().size(), 2U);
  EXPECT_EQ(image.blocks().at(0)[kBlockBytes - 1], 'b');
  EXPECT_EQ(image.blocks().at(1)[1], 'd');
  EXPECT_EQ(image.blocks().at(1)[2], '\0');
}

}  // namespace
}  // namespace varve::crash
