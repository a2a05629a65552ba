#include "index/short_word_table.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_map>

#include "hash_seed.h"

namespace varve::index {
namespace {

using text::ShortWord;
using Table = ShortWordTable<uint32_t>;

ShortWord word_of(const std::string& word) { return text::short_word_of(word); }

TEST(ShortWordTable, ThatIsEmptyHasNothing) {
  const Table table(kHashSeed);
  EXPECT_EQ(table.find(word_of("a")), nullptr);
  EXPECT_EQ(table.memory_bytes(), 0u);
  table.prefetch(table.hash_of(word_of("a")));
}

TEST(ShortWordTable, TellsWordsApartThatShareTheirFirstHalf) {
  Table table(kHashSeed);
  table.insert(word_of("remember"), 1);
  table.insert(word_of("remembered"), 2);
  table.insert(word_of("r"), 3);
  EXPECT_EQ(*table.find(word_of("remember")), 1u);
  EXPECT_EQ(*table.find(word_of("remembered")), 2u);
  EXPECT_EQ(*table.find(word_of("r")), 3u);
  EXPECT_EQ(table.find(word_of("remembers")), nullptr);
}

// As much as many times its first size, words of all lengths.
TEST(ShortWordTable, FindsWhatAMapFinds) {
  std::mt19937 random(7);
  Table table(kHashSeed);
  std::unordered_map<std::string, uint32_t> map;
  const auto draw = [&] {
    std::string word;
    for (size_t left = 1 + random() % text::kShortWordBytesMax; left > 0; --left) {
      word.push_back(static_cast<char>('a' + random() % 3));
    }
    return word;
  };
  for (uint32_t i = 0; i < 20'000; ++i) {
    const std::string word = draw();
    const auto known = map.find(word);
    const uint32_t* found = table.find(word_of(word), table.hash_of(word_of(word)));
    ASSERT_EQ(found != nullptr, known != map.end()) << word;
    if (found != nullptr) {
      ASSERT_EQ(*found, known->second) << word;
    } else {
      table.insert(word_of(word), i);
      map.emplace(word, i);
    }
  }
  for (const auto& [word, number] : map) ASSERT_EQ(*table.find(word_of(word)), number) << word;
  EXPECT_GE(table.memory_bytes(), map.size() * sizeof(ShortWord) * 4 / 3);
}

}  // namespace
}  // namespace varve::index
