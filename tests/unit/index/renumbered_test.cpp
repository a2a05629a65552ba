// An index of the rows that stay is, to the byte, the one of a log that has their lines alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "decode_snapshot.h"
#include "index_fixture.h"

namespace varve::index {
namespace {

constexpr uint32_t kRows = 900;
constexpr uint32_t kFrozenRows = 600;  // as they come out of an index.bin
constexpr uint32_t kWordsRows = 850;   // the others' words are not indexed yet

// Entry `number` of a made-up log, with a bit of everything.
entry::EntryFacts numbered_facts(uint32_t number) {
  entry::EntryFacts facts = facts_of("e" + std::to_string(number), number + 1);
  facts.type = number % 3 == 0 ? "decision" : "message";
  facts.timestamp_ms = int64_t{number} * (number % 50 == 0 ? 7'200'000 : 1000);
  facts.importance = (number % 11) / 10.0;
  if (number % 5 == 0) facts.expires_at_ms = facts.timestamp_ms + 2000;
  facts.tags = {"all", "part.n" + std::to_string(number % 7)};
  if (number % 4 == 0) facts.trace_id = "trace" + std::to_string(number / 100);
  if (number > 0) facts.references = {"e" + std::to_string(number - 1)};
  if (number > 9) facts.relations = {{"follows", {"e" + std::to_string(number / 2)}}};
  facts.content_keys = {"role" + std::to_string(number % 2)};
  return facts;
}

void add_words(Index& index, uint32_t number) {
  json::Document scratch;
  const std::string own = "word" + std::to_string(number / 3);
  index.text_to_extend().add_line(
      R"({"content":"running tea )" + own + (number % 9 == 0 ? R"( asks?"})" : R"("})"), scratch);
}

void add_entry(Index& index, uint32_t number) {
  const uint64_t offset = index.coverage.entries_bytes;
  index.add(numbered_facts(number), {offset, 99, uint64_t{number} * 7919}, kRows);
  index.coverage.entries_bytes = offset + 100;
  if (number < kWordsRows) add_words(index, number);
}

Index index_of_entries(const std::vector<uint32_t>& numbers) {
  Index index;
  for (const uint32_t number : numbers) add_entry(index, number);
  index.text_to_extend().settle();
  return index;
}

std::vector<uint32_t> all_numbers(uint32_t count) {
  std::vector<uint32_t> numbers;
  for (uint32_t number = 0; number < count; ++number) numbers.push_back(number);
  return numbers;
}

// Most rows in its frozen part, the others added.
Index whole_index() {
  const std::string snapshot = encode_snapshot(index_of_entries(all_numbers(kFrozenRows)));
  auto index = decode_snapshot(snapshot);
  EXPECT_TRUE(index.ok()) << index.status().message();
  for (uint32_t number = kFrozenRows; number < kRows; ++number) add_entry(*index, number);
  index->text_to_extend().settle();
  return *std::move(index);
}

std::string renumbered_snapshot(const Index& index, const std::vector<uint32_t>& kept) {
  const Renumbering rows(kept, index.size());
  Index renumbered = index.renumbered(rows);
  renumbered.take_facets(index.facets().renumbered(rows));
  EXPECT_EQ(renumbered.size(), kept.size());
  for (uint32_t row = 0; row < renumbered.size(); ++row) {
    EXPECT_EQ(renumbered.is_verified(row), index.is_verified(kept[row])) << row;
  }
  return encode_snapshot(renumbered);
}

TEST(Renumbered, IsTheIndexOfTheLinesThatStay) {
  const Index whole = whole_index();
  std::vector<uint32_t> some;
  for (const uint32_t number : all_numbers(kRows)) {
    if (number % 3 != 1 && number / 100 != 4) some.push_back(number);
  }
  for (const std::vector<uint32_t>& kept : {some, all_numbers(kRows), all_numbers(100)}) {
    SCOPED_TRACE(kept.size());
    const Index expected = index_of_entries(kept);
    EXPECT_TRUE(renumbered_snapshot(whole, kept) == encode_snapshot(expected));
    const Index renumbered = whole.renumbered(Renumbering(kept, whole.size()));
    EXPECT_EQ(renumbered.type_counts(), expected.type_counts());
  }
}

TEST(Renumbered, WordsAreLeftOutWithTheLastRowThatHasThem) {
  const Index whole = whole_index();
  const std::vector<uint32_t> kept = {0, 1, 2, 700};
  const Renumbering rows(kept, whole.size());
  const Index renumbered = whole.renumbered(rows);
  std::vector<std::string> words;
  renumbered.text().for_each_word("word", [&](std::string_view word, std::string_view) {
    words.emplace_back(word);
    return true;
  });
  std::sort(words.begin(), words.end());
  EXPECT_EQ(words, (std::vector<std::string>{"word0", "word233"}));
  EXPECT_EQ(renumbered.text().rows_of("word0").count(), 3u);
  EXPECT_EQ(renumbered.text().total_length(4), whole.text().length(0) + whole.text().length(1) +
                                                   whole.text().length(2) +
                                                   whole.text().length(700));
}

// Beside its stem, index.bin has every form that a word was written in: a purge must not leave it.
TEST(Renumbered, TheFormsOfAWordAreLeftOutWithIt) {
  Index whole;
  json::Document scratch;
  for (uint32_t number = 0; number < 2; ++number) {
    whole.add(numbered_facts(number), {number * 100, 99, number}, kRows);
    whole.text_to_extend().add_line(
        number == 0 ? R"({"content":"jumping"})" : R"({"content":"walking"})", scratch);
  }
  whole.text_to_extend().settle();
  const std::vector<uint32_t> kept = {0};
  const Index renumbered = whole.renumbered(Renumbering(kept, whole.size()));
  std::vector<std::string> words;
  renumbered.text().for_each_word("", [&](std::string_view word, std::string_view) {
    words.emplace_back(word);
    return true;
  });
  EXPECT_EQ(words, std::vector<std::string>{"jumping"});
}

// Where types come and go, index.bin would else grow with each that there ever was.
TEST(Renumbered, TypesAreLeftOutWithTheLastRowThatHasThem) {
  Index whole;
  for (uint32_t number = 0; number < 4; ++number) {
    entry::EntryFacts facts = numbered_facts(number);
    facts.type = "type" + std::to_string(number / 2 * 2);
    whole.add(facts, {number * 100, 99, number}, kRows);
  }
  const std::vector<uint32_t> kept = {2, 3};
  const Index renumbered = whole.renumbered(Renumbering(kept, whole.size()));
  EXPECT_EQ(renumbered.type_names(), std::vector<std::string>{"type2"});
  EXPECT_EQ(renumbered.type(1), "type2");
  EXPECT_EQ(renumbered.find_type("type0"), std::nullopt);
}

// What was indexed of one log is not taken for another's, whose rows stand elsewhere.
TEST(TakenWords, AreThoseOfTheSameLinesOnly) {
  const auto index_at = [](uint64_t offset, uint32_t rows, uint32_t rows_with_words) {
    Index index;
    json::Document scratch;
    for (uint32_t row = 0; row < rows; ++row) {
      index.add(numbered_facts(row), {offset + row * 100, 99, row}, kRows);
      if (row < rows_with_words) {
        index.text_to_extend().add_line(R"({"content":"tea"})", scratch);
      }
    }
    if (rows_with_words > 0) index.text_to_extend().settle();
    return index;
  };
  Index words = index_at(0, 2, 2);
  Index others[] = {index_at(100, 2, 0), index_at(0, 1, 0)};
  for (Index& other : others) {
    EXPECT_FALSE(other.take_words(words, Index::SameRows::kByLine));
    EXPECT_FALSE(other.has_text());
  }
  Index same = index_at(0, 3, 0);
  EXPECT_TRUE(same.take_words(words, Index::SameRows::kByLine));
  EXPECT_EQ(same.text().rows_of("tea").count(), 2u);
}

}  // namespace
}  // namespace varve::index
