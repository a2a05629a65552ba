#include "session/entry/entry_line.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace varve::session {
namespace {

TEST(EntryLine, HoldsACopyWithANulBehindIt) {
  std::string text = "{\"id\":\"a\"}";
  const EntryLine line{text};
  text.assign(text.size(), 'x');
  ASSERT_TRUE(line);
  EXPECT_EQ(*line, "{\"id\":\"a\"}");
  EXPECT_EQ(line.size(), text.size());
  EXPECT_EQ((*line).data()[line.size()], '\0');
  EXPECT_GT(line.memory_bytes(), line.size());
}

TEST(EntryLine, OfNoBytesIsNotNone) {
  EXPECT_FALSE(EntryLine());
  EXPECT_TRUE(EntryLine(""));
  EXPECT_EQ(*EntryLine(""), "");
}

// Which of them is the last holder must not matter; the address sanitizer sees when it does.
TEST(EntryLine, LivesAsLongAsAnyHolder) {
  EntryLine first{std::string(100, 'x')};
  EntryLine second = first;
  EntryLine third = std::move(first);
  EXPECT_EQ((*second).data(), (*third).data()) << "one line, not two";
  second = EntryLine("other");
  EXPECT_EQ(*third, std::string(100, 'x'));
  third = std::as_const(third);
  EXPECT_EQ(*third, std::string(100, 'x'));
  second = std::move(third);
  EXPECT_EQ(*second, std::string(100, 'x'));
  second = EntryLine();
  EXPECT_FALSE(second);
}

TEST(EntryLine, MayBeDroppedByManyThreadsAtOnce) {
  EntryLine line{std::string(1000, 'x')};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([copy = line] {
      for (int round = 0; round < 1000; ++round) {
        const EntryLine mine = copy;
        EXPECT_EQ(mine.size(), 1000u);
      }
    });
  }
  line = EntryLine();
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace varve::session
