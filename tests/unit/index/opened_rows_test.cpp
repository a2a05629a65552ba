// Rows of an index.bin that are read where somebody looks, and what shows of wrong ones before all
// of them are checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "index/snapshot.h"
#include "index_fixture.h"
#include "log/line_reader.h"
#include "snapshot_editor.h"
#include "text_view.h"

namespace varve::index {
namespace {

using Editor = SnapshotEditor;

// An index of these bytes, which must be kept, whose rows can be asked for.
Index index_opened(std::string_view bytes) {
  auto file = SnapshotFile::open(std::make_unique<TextView>(bytes));
  EXPECT_TRUE(file.ok());
  auto index = open_snapshot(*std::move(file), {});
  EXPECT_TRUE(index.ok());
  const Status rows = open_rows(&*index);
  EXPECT_TRUE(rows.ok()) << rows.message();
  return *std::move(index);
}

void look_at_everything(const Index& index) {
  for (uint32_t row = 0; row < index.size(); ++row) {
    const Location place = index.location(row);
    ASSERT_LE(place.offset + place.length, index.coverage.entries_bytes);
    ASSERT_LE(index.id(row).size(), 100u);
    ASSERT_FALSE(index.type(row).empty());
    ASSERT_GE(index.importance(row), 0);
    ASSERT_LE(index.importance(row), 1);
    (void)index.timestamp_ms(row);
    (void)index.is_live(row, 0);
    (void)index.seq(row);
    (void)index.stretch(row);
    (void)index.find("e" + std::to_string(row));
  }
  (void)index.find("unknown");
}

void expect_same_answers(const Index& a, const Index& b) {
  ASSERT_EQ(a.size(), b.size());
  for (uint32_t row = 0; row < a.size(); ++row) {
    ASSERT_EQ(a.id(row), b.id(row));
    ASSERT_EQ(a.type(row), b.type(row));
    ASSERT_EQ(a.timestamp_ms(row), b.timestamp_ms(row));
    ASSERT_EQ(a.expires_at_ms(row), b.expires_at_ms(row));
    ASSERT_EQ(a.importance(row), b.importance(row));
    ASSERT_EQ(a.seq(row), b.seq(row));
    ASSERT_EQ(a.stretch(row), b.stretch(row));
    ASSERT_EQ(a.location(row), b.location(row));
    ASSERT_EQ(b.find(a.id(row)), row);
  }
  ASSERT_EQ(a.type_counts(), b.type_counts());
  ASSERT_EQ(a.is_in_time_order(), b.is_in_time_order());
}

TEST(OpenedRows, AnswerAsTheOriginalAndTakeTheMemoryOfWhatWasAsked) {
  const Index original = index_of(30'000);
  const std::string bytes = encode_snapshot(original);
  const Index index = index_opened(bytes);
  EXPECT_TRUE(index.has_rows());
  EXPECT_FALSE(index.has_all_rows());
  EXPECT_EQ(index.find("e12345"), 12'345u);
  EXPECT_EQ(index.timestamp_ms(12'345), original.timestamp_ms(12'345));
  EXPECT_LT(index.memory_bytes() * 5, original.memory_bytes());
  expect_same_answers(original, index);
  EXPECT_FALSE(index.is_damaged());
}

TEST(OpenedRows, TakeMoreRowsAndDeletionsAndAreLoadedLater) {
  Index original = index_of(3000);
  const std::string bytes = encode_snapshot(original);
  Index index = index_opened(bytes);
  for (Index* one : {&original, &index}) {
    one->add_tombstone("e7");
    for (uint32_t i = 3000; i < 9000; ++i) {
      entry::EntryFacts facts = facts_of("e" + std::to_string(i), i + 1);
      facts.timestamp_ms = int64_t{i} * 1000 * 3600;
      facts.type = "finding";
      ASSERT_EQ(one->add(facts, {uint64_t{i} * 100, 99, i}, 0), Index::Added::kYes);
      one->coverage.entries_bytes = (uint64_t{i} + 1) * 100;
    }
    ASSERT_EQ(one->add(facts_of("e2999", 1), {}, 0), Index::Added::kIdTaken);
  }
  EXPECT_TRUE(index.is_deleted(7));
  EXPECT_TRUE(index.hides_all_deleted());
  EXPECT_TRUE(index.is_unchecked(2999));
  EXPECT_FALSE(index.is_unchecked(3000));
  expect_same_answers(original, index);
  ASSERT_TRUE(load_rows(&index).ok());
  EXPECT_TRUE(index.has_all_rows());
  EXPECT_FALSE(index.is_unchecked(2999));
  expect_same_answers(original, index);
  index.arrange();
  original.arrange();
  for (uint16_t type = 0; type < 3; ++type) {
    ASSERT_EQ(index.time_order(type).size(), original.time_order(type).size());
  }
}

// As a compaction leaves them that removed all.
TEST(OpenedRows, OfNoEntriesTakeSomeAndAreNoDamage) {
  const std::string bytes = encode_snapshot(index_of(0));
  Index index = index_opened(bytes);
  EXPECT_FALSE(index.find("e0").has_value());
  ASSERT_EQ(index.add(facts_of("e0", 1), {0, 99, 1}, 0), Index::Added::kYes);
  index.coverage.entries_bytes = 100;
  EXPECT_EQ(index.find("e0"), 0u);
  EXPECT_FALSE(index.is_damaged());
  EXPECT_TRUE(load_rows(&index).ok());
}

TEST(OpenedRows, AnArrangedIndexReadTheTimesOfAllRows) {
  const std::string bytes = encode_snapshot(index_of(3000));
  Index index = index_opened(bytes);
  index.arrange();
  EXPECT_EQ(index.arranged_count(), 3000u);
  EXPECT_EQ(index.time_order(0).size() + index.time_order(1).size(), 3000u);
  EXPECT_FALSE(index.has_all_rows());
  ASSERT_TRUE(load_rows(&index).ok());
}

TEST(OpenedRows, AnyFlippedBitIsNoticedByWhoLooksThere) {
  const std::string right = encode_snapshot(index_of(40));
  const Editor editor(right);
  size_t offset = Editor::kHeaderBytes;
  for (size_t section = 0; section < Editor::kFacets; ++section) {
    for (size_t bit = 0; bit < editor.sections[section].size() * 8; ++bit) {
      std::string bytes = right;
      char& byte = bytes[offset + bit / 8];
      byte = static_cast<char>(byte ^ (1 << (bit % 8)));
      auto index = *open_snapshot(*SnapshotFile::open(std::make_unique<TextView>(bytes)), {});
      if (!open_rows(&index).ok()) {
        ASSERT_FALSE(index.has_rows()) << "as it was";
        continue;
      }
      ASSERT_FALSE(index.is_damaged());
      look_at_everything(index);
      // Nobody asks for a line's checksum; no entry's look-up ends in every slot.
      const bool is_looked_at = section != Editor::kFlags && section != Editor::kTable;
      ASSERT_TRUE(index.is_damaged() || !is_looked_at) << section << " " << bit;
      ASSERT_EQ(load_rows(&index).code(), Code::kCorruption) << section << " " << bit;
      ASSERT_FALSE(index.has_all_rows());
    }
    offset += editor.sections[section].size();
  }
}

TEST(OpenedRows, AreInTheTablesOfTheIndexThatOpensThem) {
  const std::string bytes = encode_snapshot(index_of(3));
  constexpr uint64_t kSeed = 42;
  for (const auto get_rows : {open_rows, load_rows}) {
    auto index = *open_snapshot(*SnapshotFile::open(std::make_unique<TextView>(bytes)), {}, kSeed);
    ASSERT_TRUE(get_rows(&index).ok());
    EXPECT_EQ(index.hash_seed(), kSeed);
    EXPECT_EQ(index.text_to_extend().hash_seed(), kSeed);
  }
}

// --- right hashes over wrong values --------------------------------------------------------------

class CraftedRows : public testing::Test {
 protected:
  // Asked, they keep within bounds; loaded, they are refused.
  void expect_found_out_at_the_latest_when_loaded() {
    const std::string bytes = editor_.assembled();
    Index index = index_opened(bytes);
    look_at_everything(index);
    index.arrange();
    EXPECT_EQ(load_rows(&index).code(), Code::kCorruption);
  }
  Editor editor_{encode_snapshot(index_of(20))};
};

TEST_F(CraftedRows, PlacesOutsideTheLogAreNone) {
  for (const uint64_t offset : {uint64_t{1950}, uint64_t{2001}, UINT64_MAX, UINT64_MAX - 50}) {
    editor_.set(Editor::kOffsets, 19, offset);
    const std::string bytes = editor_.assembled();
    const Index index = index_opened(bytes);
    EXPECT_EQ(index.location(19), Location()) << offset;
    EXPECT_TRUE(index.is_damaged());
  }
  editor_.set(Editor::kOffsets, 19, uint64_t{1900});
  editor_.set(Editor::kLengths, 19, UINT32_MAX);
  expect_found_out_at_the_latest_when_loaded();
}

// Nobody makes room for a line that is longer than any can be.
TEST_F(CraftedRows, PlacesOfImpossibleLinesAreNone) {
  editor_.set_word(Editor::kEntriesBytes, uint64_t{1} << 40);
  editor_.set(Editor::kLengths, 19, static_cast<uint32_t>(log::kLineBytesMax + 1));
  const std::string bytes = editor_.assembled();
  const Index index = index_opened(bytes);
  EXPECT_EQ(index.location(19), Location());
  EXPECT_TRUE(index.is_damaged());
}

TEST_F(CraftedRows, IdsThatEndBeforeTheyBeginAreEmpty) {
  for (const uint64_t end : {uint64_t{0}, uint64_t{49}, UINT64_MAX}) {
    editor_.set(Editor::kIdEnds, 10, end);
    expect_found_out_at_the_latest_when_loaded();
  }
}

TEST_F(CraftedRows, ImportancesThatAreNoneAreDamage) {
  for (const double importance : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    editor_.set(Editor::kImportances, 7, importance);
    const std::string bytes = editor_.assembled();
    const Index index = index_opened(bytes);
    EXPECT_EQ(index.importance(7), 0);
    EXPECT_TRUE(index.is_damaged());
  }
}

TEST_F(CraftedRows, TypesThatAreNoneAreRefusedAtOnce) {
  editor_.set<uint16_t>(Editor::kTypes, 3, 2);
  const std::string bytes = editor_.assembled();
  auto index = *open_snapshot(*SnapshotFile::open(std::make_unique<TextView>(bytes)), {});
  EXPECT_EQ(open_rows(&index).message(), "index.bin: a row has impossible values");
  EXPECT_FALSE(index.has_rows());
}

TEST_F(CraftedRows, ATableThatHidesARowDoesNotHideItFromItsDeletion) {
  const size_t slots = editor_.slot_count();
  size_t slot = 0;
  while (editor_.slot(slot) != 4) slot = (slot + 1) % slots;
  editor_.set_slot(slot, 0);
  const std::string bytes = editor_.assembled();
  Index index = index_opened(bytes);
  EXPECT_TRUE(index.hides_all_deleted());
  index.add_tombstone("e3");
  EXPECT_FALSE(index.hides_all_deleted()) << "all rows are to be loaded, which finds it out";
  EXPECT_EQ(load_rows(&index).message(), "index.bin: the id table does not find the rows");
}

TEST_F(CraftedRows, StretchesAndAnOrderOfTimeThatAreNot) {
  editor_.set<uint32_t>(Editor::kStretches, 10, 1);
  expect_found_out_at_the_latest_when_loaded();
  editor_.set<uint32_t>(Editor::kStretches, 10, 0);
  editor_.set<int64_t>(Editor::kTimestamps, 10, 0);
  expect_found_out_at_the_latest_when_loaded();
  editor_.set_word(Editor::kInTimeOrder, 0);
  const std::string bytes = editor_.assembled();
  Index index = index_opened(bytes);
  EXPECT_FALSE(index.is_in_time_order());
  EXPECT_TRUE(load_rows(&index).ok());
}

TEST_F(CraftedRows, SlotsOfRowsThatAreNotThereEndNoSearchElsewhere) {
  for (size_t slot = 0; slot < editor_.slot_count(); ++slot) {
    editor_.set_slot(slot, 21);
  }
  expect_found_out_at_the_latest_when_loaded();
  const std::string bytes = editor_.assembled();
  Index index = index_opened(bytes);
  EXPECT_EQ(index.add(facts_of("more", 21), {2000, 9, 1}, 0), Index::Added::kYes);
  EXPECT_TRUE(index.is_damaged());
}

}  // namespace
}  // namespace varve::index
