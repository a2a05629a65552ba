// What of an index.bin is read late: rows, facets and words.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "decode_snapshot.h"
#include "index/snapshot.h"
#include "index_fixture.h"
#include "json/document.h"
#include "posting_fixture.h"
#include "snapshot_editor.h"
#include "text_view.h"

namespace varve::index {
namespace {

using Editor = SnapshotEditor;

void add_row(Index& index, uint32_t row) {
  const std::string number = std::to_string(row);
  entry::EntryFacts facts = facts_of("e" + number, row + 1);
  facts.timestamp_ms = int64_t{row} * 1000;
  facts.tags = {"all.own" + number};
  facts.trace_id = "trace" + std::to_string(row / 4);
  if (row > 0) facts.references = {"e" + std::to_string(row - 1)};
  if (row > 1) facts.relations = {{"about", {"e0"}}};
  index.add(facts, {uint64_t{row} * 100, 99, uint64_t{row} * 7919}, 0);
  index.coverage.entries_bytes = (uint64_t{row} + 1) * 100;
}

void add_words(Index& index, uint32_t row) {
  json::Document document;
  const std::string text = "{\"content\":\"running own" + std::to_string(row) +
                           (row % 2 == 0 ? " dogs?\"}" : " the cat\"}");
  ASSERT_TRUE(document.parse(text).ok());
  const json::Value root = document.root();
  index.text_to_extend().add(&root);
}

// Rows with facets, of which the first `text_count` have their words.
Index full_index_of(uint32_t count, uint32_t text_count, const text::Settings& settings = {}) {
  Index index(settings);
  for (uint32_t row = 0; row < count; ++row) add_row(index, row);
  for (uint32_t row = 0; row < text_count; ++row) add_words(index, row);
  return index;
}

void expect_same_facets(const Facets& a, const Facets& b, uint32_t count) {
  ASSERT_EQ(rows_of(a.tag("all")).size(), count);
  ASSERT_EQ(rows_of(b.tag("all")).size(), count);
  for (uint32_t row = 0; row < count; ++row) {
    const std::string number = std::to_string(row);
    ASSERT_EQ(rows_of(b.tag("all.own" + number)), Rows({row}));
    ASSERT_EQ(rows_of(a.trace("trace" + number)), rows_of(b.trace("trace" + number)));
    ASSERT_EQ(rows_of(a.referring("e" + number)), rows_of(b.referring("e" + number)));
    std::vector<std::pair<std::string, std::string>> arrows;
    b.references_of(row, "e" + number,
                    [&](const Reference& one) { arrows.emplace_back(one.relation, one.target); });
    ASSERT_EQ(arrows.size(), row == 0 ? 0u : row == 1 ? 1u : 2u);
  }
  ASSERT_EQ(rows_of(a.referring("e0", "about")), rows_of(b.referring("e0", "about")));
}

void expect_same_text(const TextIndex& a, const TextIndex& b) {
  ASSERT_EQ(a.row_count(), b.row_count());
  ASSERT_EQ(a.lengths(), b.lengths());
  ASSERT_EQ(a.total_length(a.row_count()), b.total_length(b.row_count()));
  for (const auto term : {"run", "dog", "cat", "the", "own3", "own11", "nothing"}) {
    ASSERT_EQ(rows_of(a.rows_of(term)), rows_of(b.rows_of(term))) << term;
  }
}

// An index with all of these bytes pending, which must be kept.
Index pending_of(std::string_view bytes, const text::Settings& settings = {}) {
  auto file = SnapshotFile::open(std::make_unique<TextView>(bytes));
  EXPECT_TRUE(file.ok());
  auto index = open_snapshot(*std::move(file), settings);
  EXPECT_TRUE(index.ok());
  return *std::move(index);
}

TEST(SnapshotSections, OpenedAllIsPending) {
  const std::string bytes = encode_snapshot(full_index_of(300, 300));
  Index index = pending_of(bytes);
  EXPECT_FALSE(index.has_rows());
  EXPECT_FALSE(index.has_facets());
  EXPECT_FALSE(index.has_text());
  EXPECT_EQ(index.text_row_count(), 300u) << "also of what is pending";
  EXPECT_EQ(index.coverage.last_seq, 300u);
  ASSERT_TRUE(load_rows(&index).ok());
  EXPECT_TRUE(index.has_rows());
  EXPECT_EQ(index.size(), 300u);
  EXPECT_EQ(index.find("e299"), 299u);
  EXPECT_TRUE(index.pending().facets);
  EXPECT_TRUE(index.pending().text);
  ASSERT_TRUE(load_facets(&index).ok());
  ASSERT_TRUE(load_text(&index).ok());
  EXPECT_EQ(index.pending().file, nullptr) << "it is not kept open";
}

TEST(SnapshotSections, TombstonesReadBeforeTheRowsHideThem) {
  const std::string bytes = encode_snapshot(full_index_of(12, 12));
  Index index = pending_of(bytes);
  index.add_tombstone("e3");
  index.add_tombstone("unknown");
  index.coverage.tombstones_bytes = 77;
  ASSERT_TRUE(load_rows(&index).ok());
  EXPECT_TRUE(index.was_deleted("e3"));
  EXPECT_TRUE(index.is_deleted(3));
  EXPECT_FALSE(index.is_deleted(4));
  EXPECT_EQ(index.deleted_count(), 1u);
  EXPECT_EQ(index.tombstone_count(), 2u);
  EXPECT_EQ(index.coverage.tombstones_bytes, 77u);
  uint64_t live = 0;
  for (const auto& [type, count] : index.type_counts()) live += count;
  EXPECT_EQ(live, 11u);
}

TEST(SnapshotSections, LoadedTheyAnswerAsTheOriginal) {
  for (const uint32_t count : {0u, 1u, 12u, 128u, 500u}) {
    const Index original = full_index_of(count, count);
    const std::string bytes = encode_snapshot(original);
    Index decoded = pending_of(bytes);
    ASSERT_TRUE(load_rows(&decoded).ok());
    ASSERT_TRUE(load_facets(&decoded).ok());
    EXPECT_TRUE(decoded.has_facets());
    expect_same_facets(original.facets(), decoded.facets(), count);
    if (count > 0) {
      ASSERT_TRUE(decoded.pending().text);
      ASSERT_TRUE(load_text(&decoded).ok());
      EXPECT_TRUE(decoded.has_text());
      expect_same_text(original.text(), decoded.text());
    }
    EXPECT_TRUE(encode_snapshot(decoded) == bytes);
  }
}

TEST(SnapshotSections, RowsAddedBeforeTheyAreLoadedAreBehindThem) {
  const Index whole = full_index_of(400, 400);
  const std::string bytes = encode_snapshot(full_index_of(250, 250));
  Index grown = pending_of(bytes);
  ASSERT_TRUE(load_rows(&grown).ok());
  for (uint32_t row = 250; row < 400; ++row) {
    add_row(grown, row);
    add_words(grown, row);
  }
  EXPECT_FALSE(grown.has_text());
  EXPECT_EQ(grown.text_row_count(), 400u);
  grown.compress();
  ASSERT_TRUE(load_facets(&grown).ok());
  ASSERT_TRUE(load_text(&grown).ok());
  expect_same_facets(whole.facets(), grown.facets(), 400);
  expect_same_text(whole.text(), grown.text());
  expect_same_text(whole.text(), decode_snapshot(encode_snapshot(grown))->text());
}

TEST(SnapshotSections, WordsMayBeBehindTheRows) {
  const Index original = full_index_of(50, 30);
  const std::string bytes = encode_snapshot(original);
  auto decoded = decode_snapshot(bytes);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->size(), 50u);
  EXPECT_EQ(decoded->text_row_count(), 30u);
  for (uint32_t row = 30; row < 50; ++row) add_words(*decoded, row);
  expect_same_text(full_index_of(50, 50).text(), decoded->text());
}

TEST(SnapshotSections, WithoutWordsNoneArePending) {
  const std::string bytes = encode_snapshot(full_index_of(20, 0));
  const auto decoded = decode_snapshot(bytes);
  ASSERT_TRUE(decoded.ok());
  EXPECT_FALSE(decoded->pending().text);
  EXPECT_FALSE(decoded->has_text());
  EXPECT_EQ(decoded->text_row_count(), 0u);
  EXPECT_TRUE(Editor(bytes).sections[Editor::kTextLengths].empty());
}

TEST(SnapshotSections, WordsThatItHasNotAreAddedByTheSettingsGiven) {
  const text::Settings settings{"none", {}, false};
  const std::string bytes = encode_snapshot(full_index_of(20, 0));
  auto decoded = decode_snapshot(bytes, settings);
  ASSERT_TRUE(decoded.ok());
  for (uint32_t row = 0; row < 20; ++row) add_words(*decoded, row);
  expect_same_text(full_index_of(20, 20, settings).text(), decoded->text());
}

TEST(SnapshotSections, WordsOfOtherSettingsAreFoundAnew) {
  const std::string bytes = encode_snapshot(full_index_of(30, 30));
  for (const text::Settings& other :
       {text::Settings{"none", {}, false}, text::Settings{"en", {"dogs"}, true}}) {
    auto decoded = decode_snapshot(bytes, other);
    ASSERT_TRUE(decoded.ok());
    EXPECT_FALSE(decoded->pending().text);
    EXPECT_EQ(decoded->text_row_count(), 0u);
    EXPECT_TRUE(decoded->has_facets()) << "they are the same for all settings";
    for (uint32_t row = 0; row < 30; ++row) add_words(*decoded, row);
    const Index anew = full_index_of(30, 30, other);
    expect_same_text(anew.text(), decoded->text());
    EXPECT_TRUE(encode_snapshot(*decoded) == encode_snapshot(anew));
  }
}

// --- damage --------------------------------------------------------------------------------------

TEST(SnapshotSections, AnyFlippedBitIsRefusedByTheLoadOfItsSection) {
  const std::string right = encode_snapshot(full_index_of(12, 12));
  const Editor editor(right);
  size_t offset = Editor::kHeaderBytes;
  for (size_t section = 0; section < Editor::kSectionCount; ++section) {
    for (size_t bit = 0; bit < editor.sections[section].size() * 8; ++bit) {
      std::string bytes = right;
      char& byte = bytes[offset + bit / 8];
      byte = static_cast<char>(byte ^ (1 << (bit % 8)));
      Index index = pending_of(bytes);
      const bool of_rows = section < Editor::kFacets;
      ASSERT_EQ(load_rows(&index).ok(), !of_rows) << section << " " << bit;
      ASSERT_EQ(load_facets(&index).ok(), section != Editor::kFacets);
      ASSERT_EQ(load_text(&index).ok(), of_rows || section == Editor::kFacets);
      ASSERT_EQ(index.pending().rows, of_rows) << "as it was";
      ASSERT_EQ(index.pending().facets, section == Editor::kFacets);
    }
    offset += editor.sections[section].size();
  }
}

TEST(SnapshotSections, AnyFlippedBitOfTheWholeIsRefused) {
  const std::string right = encode_snapshot(full_index_of(6, 6));
  ASSERT_TRUE(decode_snapshot(right).ok());
  for (size_t bit = 0; bit < right.size() * 8; ++bit) {
    std::string flipped = right;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_FALSE(decode_snapshot(flipped).ok()) << "bit " << bit;
  }
}

TEST(SnapshotSections, UnderRightHashesTheyAreCheckedAllTheSame) {
  Editor editor(encode_snapshot(full_index_of(20, 20)));
  ASSERT_TRUE(decode_snapshot(editor.assembled()).ok());
  for (const Editor::Section section : {Editor::kFacets, Editor::kTextTerms}) {
    const std::string before = editor.sections[section];
    for (const std::string& wrong :
         {std::string("x"), before + "x", before.substr(1), before.substr(0, before.size() - 1),
          std::string(before.size(), '\xFF')}) {
      editor.sections[section] = wrong;
      const auto decoded = decode_snapshot(editor.assembled());
      EXPECT_EQ(decoded.code(), Code::kCorruption) << section;
    }
    editor.sections[section] = before;
  }
}

TEST(SnapshotSections, LengthsThatAreNotOfTheRowsAreRefused) {
  Editor editor(encode_snapshot(full_index_of(20, 20)));
  const std::string before = editor.sections[Editor::kTextLengths];
  for (const std::string& wrong : {before.substr(4), before.substr(1), before + "x",
                                   std::string(20 * 5, 'x'), std::string(20 * 8, 'x')}) {
    editor.sections[Editor::kTextLengths] = wrong;
    EXPECT_EQ(decode_snapshot(editor.assembled()).code(), Code::kCorruption) << wrong.size();
  }
  editor.sections[Editor::kTextLengths] = before;
  for (const uint64_t count : {uint64_t{0}, uint64_t{19}, uint64_t{21}, uint64_t{1} << 62,
                               (uint64_t{1} << 62) + 20, UINT64_MAX}) {
    editor.set_word(Editor::kTextRowCount, count);
    EXPECT_EQ(decode_snapshot(editor.assembled()).code(), Code::kCorruption) << count;
  }
}

TEST(SnapshotSections, AnotherFingerprintMeansOtherSettings) {
  Editor editor(encode_snapshot(full_index_of(20, 20)));
  editor.set_word(Editor::kTextFingerprint, 12345);
  const auto decoded = decode_snapshot(editor.assembled());
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->text_row_count(), 0u);
  EXPECT_FALSE(decoded->pending().text);
}

}  // namespace
}  // namespace varve::index
