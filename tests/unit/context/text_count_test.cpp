#include "context/text_count.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "text/token_estimate.h"

namespace varve::context {
namespace {

int32_t count_all_bytes(void* asked, const char*, size_t len, uint64_t* tokens_out) {
  *static_cast<size_t*>(asked) = len;
  *tokens_out = len;
  return 0;
}

std::string random_text(std::mt19937& random) {
  static constexpr std::string_view kParts[] = {
      "word", " ", "\n", "\t", "\x01", "`````", "====", "é", "京", "17", "A", ".", "\r", "\u2028"};
  std::string text;
  for (size_t n = random() % 20; n > 0; --n) text += kParts[random() % std::size(kParts)];
  return text;
}

// As a window makes them: with a label of any kind, and counted alone.
std::vector<Item> random_items(Format format, std::mt19937& random) {
  std::vector<Item> items(random() % 8);
  for (Item& item : items) {
    item.source = random() % 4 == 0 ? Source::kPinned : Source::kRecalled;
    item.timestamp_ms = static_cast<int64_t>(random() % 3) * 24 * 3'600'000;
    EntryText entry;
    entry.label = random() % 6 == 0 ? "\t" : "user";
    entry.text = random_text(random);
    write_piece(format, entry, &item);
    item.tokens = text::estimate_tokens(item.piece);
  }
  return items;
}

TEST(TextCount, OfPartsIsThatOfTheWhole) {
  std::mt19937 random(6);
  CountCache cache;
  const Counter counter(nullptr, nullptr, 0, &cache);
  for (int round = 0; round < 4000; ++round) {
    const Format format = static_cast<Format>(random() % 4);
    const std::vector<Item> made = random_items(format, random);
    std::vector<const Item*> items;
    for (const Item& item : made) items.push_back(&item);
    const std::string text = put_together(format, items);
    const auto tokens = count_text(counter, format, items, text);
    ASSERT_TRUE(tokens.ok());
    ASSERT_EQ(*tokens, text::estimate_tokens(text)) << text;
  }
}

TEST(TextCount, AsksTheHostForTheWhole) {
  std::mt19937 random(7);
  CountCache cache;
  size_t asked = 0;
  const Counter counter(count_all_bytes, &asked, 1, &cache);
  const std::vector<Item> made = random_items(Format::kMarkdown, random);
  std::vector<const Item*> items;
  for (const Item& item : made) items.push_back(&item);
  const std::string text = put_together(Format::kMarkdown, items);
  const auto tokens = count_text(counter, Format::kMarkdown, items, text);
  ASSERT_TRUE(tokens.ok());
  EXPECT_EQ(*tokens, text.size());
  EXPECT_EQ(asked, text.size());
}

}  // namespace
}  // namespace varve::context
