#include "index/row_lookup.h"

#include <gtest/gtest.h>

#include <string>

#include "index/snapshot.h"
#include "index_fixture.h"
#include "log/line_reader.h"
#include "snapshot_editor.h"
#include "text_view.h"

namespace varve::index {
namespace {

using Editor = SnapshotEditor;

std::shared_ptr<SnapshotFile> snapshot_with(std::string_view bytes,
                                            uint64_t* read_bytes = nullptr) {
  auto open = SnapshotFile::open(std::make_unique<TextView>(bytes, read_bytes));
  EXPECT_TRUE(open.ok());
  return *open;
}

TEST(RowLookup, FindsWhatTheIndexFinds) {
  for (const uint32_t count : {0u, 1u, 2u, 11u, 12u, 300u, 3000u}) {
    const Index index = index_of(count);
    const std::string bytes = encode_snapshot(index);
    const auto file = snapshot_with(bytes);
    for (uint32_t row = 0; row < count; ++row) {
      const auto found = find_row(*file, index.id(row));
      ASSERT_TRUE(found.ok() && found->has_value()) << row;
      ASSERT_EQ((*found)->row, row);
      ASSERT_EQ((*found)->location, index.location(row));
      ASSERT_EQ((*found)->expires_at_ms, index.expires_at_ms(row));
    }
    for (const std::string id : {"", "e", "E0", "e00", "unknown", "e1000000"}) {
      const auto found = find_row(*file, id);
      ASSERT_TRUE(found.ok());
      EXPECT_FALSE(found->has_value()) << id;
    }
  }
}

TEST(RowLookup, CostsNoMoreInALargeFile) {
  const std::string bytes = encode_snapshot(index_of(100'000));
  uint64_t read_bytes = 0;
  const auto file = snapshot_with(bytes, &read_bytes);
  ASSERT_TRUE(find_row(*file, "e31234")->has_value());
  EXPECT_LT(read_bytes, 20 * kSnapshotBlockBytes);
  EXPECT_GT(bytes.size(), 400 * kSnapshotBlockBytes);
}

TEST(RowLookup, AnyFlippedBitIsFoundOrOfNoConcern) {
  const Index index = index_of(12);
  const std::string right = encode_snapshot(index);
  for (size_t bit = kSnapshotHeaderBytes * 8; bit < right.size() * 8; ++bit) {
    std::string bytes = right;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    const auto found = find_row(*snapshot_with(bytes), "e7");
    if (!found.ok()) {
      ASSERT_EQ(found.code(), Code::kCorruption);
      continue;
    }
    ASSERT_TRUE(found->has_value()) << bit;
    ASSERT_EQ((*found)->location, index.location(7));
  }
}

// --- right hashes over wrong values --------------------------------------------------------------

class RowLookupOfCrafted : public testing::Test {
 protected:
  std::string bytes_ = encode_snapshot(index_of(20));
  Editor editor_{bytes_};
  Result<std::optional<StoredRow>> find(std::string_view id) {
    bytes_ = editor_.assembled();
    VARVE_TRY_ASSIGN(const auto file, SnapshotFile::open(std::make_unique<TextView>(bytes_)));
    return find_row(*file, id);
  }
};

TEST_F(RowLookupOfCrafted, TablesWithoutAFreeSlotEnd) {
  for (size_t slot = 0; slot < editor_.slot_count(); ++slot) {
    editor_.set_slot(slot, 1);
  }
  EXPECT_EQ(find("e5").code(), Code::kCorruption);
}

TEST_F(RowLookupOfCrafted, TablesThatDoNotFitTheRows) {
  const std::string before = editor_.sections[Editor::kTable];
  for (const std::string& table : {std::string(), before.substr(4), before.substr(0, 5)}) {
    editor_.sections[Editor::kTable] = table;
    EXPECT_EQ(find("e5").code(), Code::kCorruption);
  }
  editor_.sections[Editor::kTable] = std::string(before.size(), '\xFF');
  EXPECT_EQ(find("e5").code(), Code::kCorruption);
}

TEST_F(RowLookupOfCrafted, ColumnsOfAnotherLengthThanTheirRows) {
  for (const Editor::Section section : {Editor::kOffsets, Editor::kLengths, Editor::kLineHashes,
                                        Editor::kIdHashes, Editor::kIdEnds, Editor::kExpiries}) {
    const std::string before = editor_.sections[section];
    editor_.sections[section] = before.substr(0, before.size() / 2) + "x";
    EXPECT_EQ(find("e5").code(), Code::kCorruption) << section;
    editor_.sections[section] = before;
  }
  editor_.sections[Editor::kIds].clear();
  EXPECT_EQ(find("e5").code(), Code::kCorruption);
}

TEST_F(RowLookupOfCrafted, RowsOutsideTheCoveredLog) {
  for (const uint64_t offset : {uint64_t{1901}, uint64_t{2000}, UINT64_MAX, UINT64_MAX - 99}) {
    editor_.set(Editor::kOffsets, 5, offset);
    EXPECT_EQ(find("e5").code(), Code::kCorruption) << offset;
  }
}

TEST_F(RowLookupOfCrafted, LinesLongerThanALineCanBe) {
  editor_.set_word(Editor::kEntriesBytes, uint64_t{1} << 40);
  editor_.set(Editor::kLengths, 5, static_cast<uint32_t>(log::kLineBytesMax));
  EXPECT_TRUE(find("e5").ok());
  editor_.set(Editor::kLengths, 5, static_cast<uint32_t>(log::kLineBytesMax + 1));
  EXPECT_EQ(find("e5").code(), Code::kCorruption);
}

TEST_F(RowLookupOfCrafted, IdsThatGoBackOrOutside) {
  for (const uint64_t end : {uint64_t{0}, uint64_t{5000}, UINT64_MAX}) {
    editor_.set(Editor::kIdEnds, 5, end);
    const auto found = find("e5");
    EXPECT_TRUE(!found.ok() || !found->has_value()) << end;
  }
  editor_.set<uint64_t>(Editor::kIdEnds, 4, UINT64_MAX - 1);
  editor_.set<uint64_t>(Editor::kIdEnds, 5, UINT64_MAX);
  const auto found = find("e5");
  EXPECT_TRUE(!found.ok() || !found->has_value());
}

}  // namespace
}  // namespace varve::index
