#include "index/text_index.h"
#include "hash_seed.h"
#include "segment_fixture.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace varve::index {
namespace {

using Found = std::vector<std::pair<uint32_t, uint32_t>>;  // rows and frequencies

void add(TextIndex& index, std::string_view entry) {
  json::Document document;
  ASSERT_TRUE(document.parse(entry).ok()) << entry;
  const json::Value root = document.root();
  index.add(&root);
}

void add_text(TextIndex& index, const std::string& text) {
  add(index, "{\"content\":{\"text\":\"" + text + "\"}}");
}

Found rows_of(const TextIndex& index, std::string_view term) {
  Found rows;
  PostingCursor cursor(index.rows_of(term));
  for (uint32_t row = cursor.seek(0); row != kNoRow; row = cursor.next()) {
    rows.emplace_back(row, cursor.frequency());
  }
  EXPECT_FALSE(cursor.is_damaged());
  return rows;
}

std::map<std::string, std::string> words_of(const TextIndex& index, std::string_view prefix) {
  std::map<std::string, std::string> words;
  index.for_each_word(prefix, [&](std::string_view word, std::string_view stem) {
    EXPECT_TRUE(words.emplace(word, stem).second) << word << " twice";
    return true;
  });
  return words;
}

TEST(TextIndex, StringsOfContentAndTagsAreItsText) {
  json::Document document;
  ASSERT_TRUE(document
                  .parse(R"({"type":"message","content":{"b":["x",{"c":"y"},1],"a":"z","n":2},)"
                         R"("tags":["t.u","v"],"trace_id":"no","metadata":{"d":"no"}})")
                  .ok());
  std::vector<std::string> texts;
  for_each_text(document.root(), [&](std::string_view text) { texts.emplace_back(text); });
  EXPECT_EQ(texts, (std::vector<std::string>{"z", "x", "y", "t.u", "v"}));
}

TEST(TextIndex, ContentOfAnyKindMayHaveText) {
  for (const auto& [entry, expected] :
       std::vector<std::pair<std::string, size_t>>{{R"({"content":"text"})", 1},
                                                   {R"({"content":["a","b"]})", 2},
                                                   {R"({"content":12})", 0},
                                                   {R"({"content":null})", 0},
                                                   {R"({"tags":"text"})", 1},
                                                   {"{}", 0},
                                                   {"[]", 0}}) {
    json::Document document;
    ASSERT_TRUE(document.parse(entry).ok());
    size_t count = 0;
    for_each_text(document.root(), [&](std::string_view) { count += 1; });
    EXPECT_EQ(count, expected) << entry;
  }
}

TEST(TextIndex, FrequenciesAndLengths) {
  TextIndex index{text::Settings{}, kHashSeed};
  add_text(index, "The dog runs and another dog ran");  // dog run anoth dog run
  add_text(index, "Nothing to see");                    // nothing see
  add(index, R"({"content":{"a":"dogs","b":{"c":["dog"]}},"tags":["dog.house"]})");
  add(index, "{}");
  ASSERT_EQ(index.row_count(), 4u);
  EXPECT_EQ(rows_of(index, "dog"), Found({{0, 2}, {2, 3}}));
  EXPECT_EQ(rows_of(index, "run"), Found({{0, 2}}));
  EXPECT_EQ(rows_of(index, "the"), Found({{0, 1}})) << "stop words are indexed";
  EXPECT_EQ(rows_of(index, "see"), Found({{1, 1}}));
  EXPECT_EQ(rows_of(index, "dog.house"), Found({{2, 1}}));
  EXPECT_EQ(rows_of(index, "dogs"), Found()) << "a word, not a term";
  EXPECT_EQ(rows_of(index, ""), Found());
  EXPECT_EQ(index.length(0), 5u);
  EXPECT_EQ(index.length(1), 2u);
  EXPECT_EQ(index.length(2), 4u);
  EXPECT_EQ(index.length(3), 0u);
}

TEST(TextIndex, CompoundsCountEachTimeAndHaveNoLength) {
  TextIndex index{text::Settings{}, kHashSeed};
  add_text(index, "PR-12 and PR-12 in src/main.py");
  EXPECT_EQ(rows_of(index, "pr-12"), Found({{0, 2}}));
  EXPECT_EQ(rows_of(index, "pr"), Found({{0, 2}}));
  EXPECT_EQ(rows_of(index, "src/main.py"), Found({{0, 1}}));
  EXPECT_EQ(rows_of(index, "main.py"), Found({{0, 1}}));
  EXPECT_EQ(index.length(0), 7u);
}

TEST(TextIndex, NothingReachesAcrossTwoStrings) {
  TextIndex index{text::Settings{}, kHashSeed};
  add(index, R"({"content":["pr-","12","東","京"]})");
  EXPECT_EQ(rows_of(index, "pr-12"), Found());
  EXPECT_EQ(rows_of(index, "東京"), Found());
  EXPECT_EQ(rows_of(index, "東"), Found({{0, 1}}));
}

TEST(TextIndex, EntriesThatCouldNotBeReadHaveNoWords) {
  TextIndex index{text::Settings{}, kHashSeed};
  index.add(nullptr);
  add_text(index, "words?");
  index.add(nullptr);
  add_text(index, "words");
  ASSERT_EQ(index.row_count(), 4u);
  EXPECT_EQ(rows_of(index, "word"), Found({{1, 1}, {3, 1}}));
  EXPECT_EQ(index.length(0) + index.length(2), 0u);
  EXPECT_FALSE(index.asks(0));
  EXPECT_TRUE(index.asks(1));
  EXPECT_FALSE(index.asks(2)) << "nothing of the row before";
}

TEST(TextIndex, AsksWhereAQuestionMarkEndsAWord) {
  const std::vector<std::pair<std::string, bool>> cases = {{"Who?", true},
                                                           {"Who? Me.", true},
                                                           {"Who?\\nMe.", true},
                                                           {"a\\t?\\tb", true},
                                                           {"?", true},
                                                           {"これ？", true},
                                                           {"これ？ はい", true},
                                                           {"ما؟", true},
                                                           {"http://x/?q=1", false},
                                                           {"what?!", false},
                                                           {"(why?)", false},
                                                           {"no question", false},
                                                           {"", false},
                                                           {"x?y and then?", true},
                                                           {"これ？はい", true},
                                                           {"ما؟نعم", true},
                                                           {"why?\u00A0Well", true}};
  TextIndex index{text::Settings{}, kHashSeed};
  for (const auto& [text, asks] : cases) add_text(index, text);
  for (uint32_t row = 0; row < cases.size(); ++row) {
    EXPECT_EQ(index.asks(row), cases[row].second) << cases[row].first;
    EXPECT_LT(index.length(row), 10u) << "the mark is not part of the length";
  }
  add(index, R"({"content":["No.","Sure?","Yes."]})");
  EXPECT_TRUE(index.asks(static_cast<uint32_t>(cases.size())));
}

TEST(TextIndex, TotalLengthIsOfTheFirstRows) {
  TextIndex index{text::Settings{}, kHashSeed};
  EXPECT_EQ(index.total_length(0), 0u);
  for (const std::string text : {"one two three?", "", "four", "five six?", "seven"}) {
    add_text(index, text);
  }
  const std::vector<uint64_t> expected = {0, 3, 3, 4, 6, 7};
  for (uint32_t rows = 0; rows <= 5; ++rows) EXPECT_EQ(index.total_length(rows), expected[rows]);
  EXPECT_EQ(index.total_length(1000), 7u);
}

TEST(TextIndex, WordsWithTheirStems) {
  TextIndex index{text::Settings{}, kHashSeed};
  add_text(index, "Running runs run went C++ Café pr-12 running");
  const std::map<std::string, std::string> expected = {
      {"running", "run"}, {"runs", "run"},  {"run", "run"}, {"went", "go"}, {"c", "c"},
      {"c++", "c++"},     {"cafe", "cafe"}, {"pr", "pr"},   {"12", "12"},   {"pr-12", "pr-12"}};
  EXPECT_EQ(words_of(index, ""), expected);
  EXPECT_EQ(words_of(index, "run").size(), 3u);
  EXPECT_EQ(words_of(index, "c").size(), 3u);
  EXPECT_EQ(words_of(index, "x").size(), 0u);
  int visits = 0;
  index.for_each_word("", [&](std::string_view, std::string_view) { return ++visits < 4; });
  EXPECT_EQ(visits, 4);
}

TEST(TextIndex, SettingsDecideStemsAndLengths) {
  TextIndex plain{text::Settings{"none", {"dogs"}, true}, kHashSeed};
  add_text(plain, "the dogs ran");
  EXPECT_EQ(rows_of(plain, "dogs"), Found({{0, 1}}));
  EXPECT_EQ(rows_of(plain, "dog"), Found());
  EXPECT_EQ(plain.length(0), 2u);
  EXPECT_NE(plain.fingerprint(), TextIndex(text::Settings{}, kHashSeed).fingerprint());
}

// --- frozen --------------------------------------------------------------------------------------

// A text of some words out of a few, and of one that no other row has.
std::string text_of_row(uint32_t row) {
  static const std::vector<std::string> words = {"runs",  "running", "dog",          "house",
                                                 "the",   "went",    "certificates", "don't",
                                                 "pr-12", "hobbies"};
  std::mt19937 generator(row);
  std::string text = "own" + std::to_string(row);
  for (auto i = generator() % 12; i > 0; --i) text += " " + words[generator() % words.size()];
  return text + (row % 5 == 0 ? "?" : "");
}

void add_rows(TextIndex& index, uint32_t first, uint32_t end) {
  for (uint32_t row = first; row < end; ++row) {
    if (row % 17 == 3) {
      index.add(nullptr);
    } else {
      add_text(index, text_of_row(row));
    }
  }
}

void expect_same(const TextIndex& a, const TextIndex& b) {
  ASSERT_EQ(a.row_count(), b.row_count());
  for (const auto term : {"run", "dog", "hous", "the", "go", "certif", "don't", "pr-12", "hobbi",
                          "own7", "own99", "nothing"}) {
    ASSERT_EQ(rows_of(a, term), rows_of(b, term)) << term;
  }
  ASSERT_EQ(words_of(a, ""), words_of(b, ""));
  for (uint32_t row = 0; row < a.row_count(); ++row) {
    ASSERT_EQ(a.length(row), b.length(row)) << row;
    ASSERT_EQ(a.asks(row), b.asks(row)) << row;
  }
  for (uint32_t rows = 0; rows <= a.row_count(); rows += 1 + a.row_count() / 10) {
    ASSERT_EQ(a.total_length(rows), b.total_length(rows)) << rows;
  }
}

Segment frozen_of(const TextIndex& index) {
  auto segment = open_whole(index.encode_terms());
  EXPECT_TRUE(segment.ok());
  return segment.ok() ? *std::move(segment) : Segment();
}

TEST(TextIndex, WhatComesLateIsAsIfIndexedAtOnce) {
  TextIndex whole{text::Settings{}, kHashSeed};
  add_rows(whole, 0, 600);
  for (const uint32_t cut : {1u, 128u, 300u, 600u}) {
    TextIndex start{text::Settings{}, kHashSeed};
    add_rows(start, 0, cut);
    for (const bool late : {true, false}) {
      TextIndex rest{text::Settings{}, kHashSeed};
      rest.start_at(cut);
      ASSERT_EQ(rest.row_count(), cut);
      if (late) add_rows(rest, cut, 600);
      rest.set_frozen(frozen_of(start), start.lengths());
      if (!late) add_rows(rest, cut, 600);
      expect_same(rest, whole);
      EXPECT_EQ(rest.lengths(), whole.lengths());
    }
  }
}

TEST(TextIndex, CompressingKeepsEveryAnswer) {
  constexpr uint32_t kRows = 24'000;  // enough that it pays
  TextIndex whole{text::Settings{}, kHashSeed};
  add_rows(whole, 0, kRows);
  TextIndex compressed{text::Settings{}, kHashSeed};
  add_rows(compressed, 0, kRows - 1000);
  const uint64_t before = compressed.memory_bytes();
  compressed.compress();
  EXPECT_LT(compressed.memory_bytes(), before / 2);
  add_rows(compressed, kRows - 1000, kRows);
  expect_same(compressed, whole);
  compressed.compress();
  expect_same(compressed, whole);
}

TEST(TextIndex, IsNotCompressedBeforeAllOfItIsThere) {
  constexpr uint32_t kRows = 24'000;
  TextIndex start{text::Settings{}, kHashSeed};
  add_rows(start, 0, 100);
  TextIndex rest{text::Settings{}, kHashSeed};
  rest.start_at(100);
  add_rows(rest, 100, kRows);
  rest.compress();
  rest.set_frozen(frozen_of(start), start.lengths());
  TextIndex whole{text::Settings{}, kHashSeed};
  add_rows(whole, 0, kRows);
  expect_same(rest, whole);
  rest.compress();
  expect_same(rest, whole);
}

std::string random_line(std::mt19937& random) {
  static constexpr std::string_view kPieces[] = {"Running",
                                                 " ",
                                                 "runs",
                                                 "c++",
                                                 "pr-12",
                                                 "1,200",
                                                 "don't",
                                                 "caf\xC3\xA9",
                                                 "\\n",
                                                 "\\\"",
                                                 "\\u0041b",
                                                 "\\u00e9t",
                                                 "\xE6\x9D\xB1",
                                                 ", ",
                                                 "?",
                                                 "aVeryLongWordIndeed",
                                                 "a/b.py",
                                                 "\\ud83d\\ude00",
                                                 "the"};
  const auto text = [&] {
    std::string made;
    for (size_t n = random() % 8; n > 0; --n) made += kPieces[random() % std::size(kPieces)];
    return "\"" + made + "\"";
  };
  std::string line = R"({"id":"x","metadata":)" + text() + R"(,"tags":[)" + text() + "," + text();
  line += R"(],"content":{"a":)" + text() + R"(,"b":[1,)" + text() + R"(,{"c":)" + text();
  line += random() % 50 == 0 ? R"(}]},"cont\u0065nts":)" + text() + "}" : "}]}}";
  return line;
}

// Lines, of which most are not parsed, many at once; and their documents, one by one.
TEST(TextIndex, RowsByLinesAreRowsByDocuments) {
  std::mt19937 random(4);
  TextIndex by_lines{text::Settings{}, kHashSeed};
  TextIndex by_documents{text::Settings{}, kHashSeed};
  json::Document scratch;
  for (int round = 0; round < 300; ++round) {
    for (size_t rows = random() % 9; rows > 0; --rows) {
      const std::string line = random_line(random);
      by_lines.add_line(line, scratch);
      add(by_documents, line);
    }
    if (random() % 20 == 0) {
      by_lines.add_unreadable();
      by_documents.add(nullptr);
    }
    by_lines.settle();
  }
  EXPECT_EQ(by_lines.lengths(), by_documents.lengths());
  EXPECT_EQ(by_lines.total_length(100), by_documents.total_length(100));
  EXPECT_EQ(by_lines.encode_terms(), by_documents.encode_terms());
}

TEST(TextIndex, WordsWithoutAStemAreFoundEachByItself) {
  text::Settings nepali;
  nepali.language = "ne";
  TextIndex index(nepali, kHashSeed);
  json::Document scratch;
  for (const auto* words : {"का कि का", "कि", "का को", "कि का"}) {
    index.add_line(R"({"content":")" + std::string(words) + R"("})", scratch);
  }
  index.settle();
  EXPECT_EQ(rows_of(index, "का"), Found({{0, 2}, {2, 1}, {3, 1}}));
  EXPECT_EQ(rows_of(index, "कि"), Found({{0, 1}, {1, 1}, {3, 1}}));
  EXPECT_EQ(rows_of(index, "को"), Found({{2, 1}}));
  EXPECT_EQ(rows_of(index, ""), Found());
  EXPECT_EQ(words_of(index, "क").size(), 3u);
}

TEST(TextIndex, ALineThatIsNoEntryHasNoWords) {
  TextIndex index{text::Settings{}, kHashSeed};
  json::Document scratch;
  for (const auto* line : {"", "[\"red\"]", R"({"content":"red)", R"({"content":"red","tags)"}) {
    index.add_line(line, scratch);
  }
  index.add_line(R"({"content":"red"})", scratch);
  index.settle();
  EXPECT_EQ(rows_of(index, "red"), Found({{4, 1}}));
  EXPECT_EQ(index.length(0), 0u);
}

// Blocks whose bound is too low would lose results of ranked queries.
TEST(TextIndex, BlocksBoundFrequenciesAndLengths) {
  TextIndex index{text::Settings{}, kHashSeed};
  add_rows(index, 0, 2000);
  const auto expect_bounds = [&] {
    for (const auto term : {"run", "the", "certif"}) {
      PostingCursor cursor(index.rows_of(term));
      PostingCursor blocks(index.rows_of(term));
      for (uint32_t row = cursor.seek(0); row != kNoRow; row = cursor.next()) {
        const BlockSummary* block = blocks.block_for(row);
        ASSERT_NE(block, nullptr);
        ASSERT_GE(block->frequency_max(), cursor.frequency());
        ASSERT_LE(block->length_min(), index.length(row));
      }
    }
  };
  expect_bounds();
  add_rows(index, 2000, 15'000);
  index.compress();
  expect_bounds();
}

}  // namespace
}  // namespace varve::index
