#include "index/word_indexer.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "hash_seed.h"

namespace varve::index {
namespace {

// Many words that no other line has, so that compressing is due again and again.
std::vector<std::string> make_lines(size_t count) {
  std::mt19937 random(11);
  std::vector<std::string> lines;
  for (size_t i = 0; i < count; ++i) {
    std::string text;
    for (int word = 0; word < 60; ++word) {
      text += " w" + std::to_string(random() % (word % 4 == 0 ? 1'000'000 : 500));
    }
    lines.push_back(R"({"id":"x","content":{"message":")" + text +
                    R"("},"tags":["t"],"metadata":")" + std::string(1000, 'x') + R"("})");
  }
  return lines;
}

constexpr uint64_t kMuch = uint64_t{1} << 30;

class WordIndexerTest : public testing::TestWithParam<bool> {
 protected:
  // What the lines make of an index that is compressed whenever so much was added.
  std::string terms_by(uint64_t added_bytes_max, const std::vector<std::string>& lines,
                       TextIndex* text) {
    WordIndexer words(*text, added_bytes_max, GetParam());
    for (const auto& line : lines) words.add(line);
    bool was_meanwhile = false;
    words.finish([&] { was_meanwhile = true; });
    EXPECT_TRUE(was_meanwhile);
    return text->encode_terms();
  }
};

TEST_P(WordIndexerTest, MakesTheIndexThatLinesMakeOneByOne) {
  const std::vector<std::string> lines = make_lines(4'000);  // five portions
  TextIndex expected{text::Settings{}, kHashSeed};
  json::Document scratch;
  for (const auto& line : lines) expected.add_line(line, scratch);
  expected.settle();
  for (const uint64_t added_bytes_max : {uint64_t{0}, kMuch}) {
    TextIndex text{text::Settings{}, kHashSeed};
    EXPECT_EQ(terms_by(added_bytes_max, lines, &text), expected.encode_terms());
    EXPECT_EQ(text.lengths(), expected.lengths());
    EXPECT_EQ(text.total_length(4'000), expected.total_length(4'000));
    EXPECT_FALSE(text.is_compression_due(0)) << "what was added waits uncompressed";
    if (added_bytes_max != kMuch) continue;  // what came last may wait uncompressed
    const uint64_t held_bytes = text.encode_terms().size() + text.lengths().capacity() * 4;
    EXPECT_LT(text.memory_bytes(), held_bytes + (uint64_t{64} << 10)) << "memory of the way";
  }
}

TEST_P(WordIndexerTest, OfNoLinesMakesNothing) {
  TextIndex text{text::Settings{}, kHashSeed};
  (void)terms_by(kMuch, {}, &text);
  EXPECT_EQ(text.row_count(), 0u);
}

TEST_P(WordIndexerTest, GoesOnBehindWhatIsThere) {
  TextIndex text{text::Settings{}, kHashSeed};
  (void)terms_by(kMuch, {R"({"content":"tea"})"}, &text);
  (void)terms_by(kMuch, {R"({"content":"box"})", R"({"content":"teas"})"}, &text);
  EXPECT_EQ(text.row_count(), 3u);
  PostingCursor cursor(text.rows_of("tea"));
  EXPECT_EQ(cursor.seek(0), 0u);
  EXPECT_EQ(cursor.next(), 2u);
  EXPECT_EQ(cursor.next(), kNoRow);
}

TEST_P(WordIndexerTest, EndsWhileItCounts) {
  const std::vector<std::string> lines = make_lines(2'000);  // two portions, and a half
  TextIndex text{text::Settings{}, kHashSeed};
  {
    WordIndexer words(text, kMuch, GetParam());
    for (const auto& line : lines) words.add(line);
  }
  EXPECT_GT(text.row_count(), 0u);
  EXPECT_LT(text.row_count(), lines.size()) << "nobody waited for the last portion";
}

INSTANTIATE_TEST_SUITE_P(Threads, WordIndexerTest, testing::Bool(),
                         [](const auto& threads) { return threads.param ? "Two" : "One"; });

}  // namespace
}  // namespace varve::index
