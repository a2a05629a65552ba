#include "index/snapshot.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>

#include "decode_snapshot.h"
#include "index/row_lookup.h"
#include "index_fixture.h"
#include "log/line_reader.h"
#include "snapshot_editor.h"
#include "text_view.h"

namespace varve::index {
namespace {

using Editor = SnapshotEditor;

void expect_same_rows(const Index& a, const Index& b) {
  ASSERT_EQ(a.size(), b.size());
  for (uint32_t row = 0; row < a.size(); ++row) {
    ASSERT_EQ(a.id(row), b.id(row));
    ASSERT_EQ(a.type(row), b.type(row));
    ASSERT_EQ(a.timestamp_ms(row), b.timestamp_ms(row));
    ASSERT_EQ(a.importance(row), b.importance(row));
    ASSERT_EQ(a.seq(row), b.seq(row));
    ASSERT_EQ(a.location(row).offset, b.location(row).offset);
    ASSERT_EQ(a.location(row).length, b.location(row).length);
    ASSERT_EQ(a.location(row).line_hash, b.location(row).line_hash);
    for (const int64_t now_ms : {int64_t{0}, int64_t{row} * 2000, INT64_MAX}) {
      ASSERT_EQ(a.is_expired(row, now_ms), b.is_expired(row, now_ms));
    }
    ASSERT_EQ(b.find(a.id(row)), row);
  }
}

// Two ids whose hashes, half of hash64(), are the same.
std::pair<std::string, std::string> ids_of_one_hash() {
  std::unordered_map<uint32_t, std::string> seen;
  for (uint64_t i = 0;; ++i) {
    std::string id = "id" + std::to_string(i);
    const auto [there, is_new] = seen.emplace(id_hash(id), id);
    if (!is_new) return {there->second, id};
  }
}

std::string refused(std::string_view bytes) {
  const auto decoded = decode_snapshot(bytes);
  EXPECT_EQ(decoded.code(), Code::kCorruption);
  return decoded.ok() ? "" : decoded.status().message();
}

TEST(Snapshot, IdsOfOneHashAreTwoEntries) {
  const auto [first, second] = ids_of_one_hash();
  Index index;
  ASSERT_EQ(index.add(facts_of(first, 1), {0, 99, 1}, 0), Index::Added::kYes);
  EXPECT_FALSE(index.find(second).has_value());
  ASSERT_EQ(index.add(facts_of(second, 2), {100, 99, 2}, 0), Index::Added::kYes);
  index.coverage.entries_bytes = 200;
  const std::string bytes = encode_snapshot(index);
  auto decoded = decode_snapshot(bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  expect_same_rows(index, *decoded);
  const auto file = SnapshotFile::open(std::make_unique<TextView>(bytes));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ((*find_row(**file, first))->row, 0u);
  EXPECT_EQ((*find_row(**file, second))->row, 1u);
  decoded->add_tombstone(first);
  EXPECT_TRUE(decoded->was_deleted(first));
  EXPECT_FALSE(decoded->was_deleted(second));
  EXPECT_FALSE(decoded->is_live(0, 0));
  EXPECT_TRUE(decoded->is_live(1, 0));
}

TEST(Snapshot, RoundTripKeepsRowsAndCoverage) {
  for (const uint32_t count : {0u, 1u, 2u, 11u, 12u, 1000u}) {
    const Index index = index_of(count);
    const auto decoded = decode_snapshot(encode_snapshot(index));
    ASSERT_TRUE(decoded.ok()) << count << ": " << decoded.status().message();
    expect_same_rows(index, *decoded);
    EXPECT_EQ(decoded->coverage.entries_bytes, index.coverage.entries_bytes);
    EXPECT_EQ(decoded->coverage.last_line_offset, index.coverage.last_line_offset);
    EXPECT_EQ(decoded->coverage.last_line_hash, index.coverage.last_line_hash);
    EXPECT_EQ(decoded->coverage.last_seq, index.coverage.last_seq);
    EXPECT_EQ(decoded->type_counts(), index.type_counts());
  }
}

TEST(Snapshot, TheSameIndexGivesTheSameBytes) {
  const std::string bytes = encode_snapshot(index_of(100));
  EXPECT_EQ(encode_snapshot(index_of(100)), bytes);
  EXPECT_EQ(encode_snapshot(*decode_snapshot(bytes)), bytes);
}

TEST(Snapshot, DeletionsAreLeftOutAndRowsStartUnverified) {
  Index index = index_of(20);
  index.add_tombstone("e3");
  index.coverage.tombstones_bytes = 123;
  auto decoded = decode_snapshot(encode_snapshot(index));
  ASSERT_TRUE(decoded.ok());
  EXPECT_FALSE(decoded->is_deleted(3));
  EXPECT_EQ(decoded->deleted_count(), 0u);
  EXPECT_EQ(decoded->tombstone_count(), 0u);
  EXPECT_EQ(decoded->coverage.tombstones_bytes, 0u) << "they are all to be read again";
  EXPECT_FALSE(decoded->is_verified(3));
  decoded->add_tombstone("e3");
  EXPECT_TRUE(decoded->is_deleted(3));
  uint64_t types = 0;
  for (const auto& [type, count] : decoded->type_counts()) types += count;
  EXPECT_EQ(types, 19u);
}

TEST(Snapshot, ADecodedIndexTakesMoreRows) {
  auto decoded = decode_snapshot(encode_snapshot(index_of(700)));
  ASSERT_TRUE(decoded.ok());
  for (int i = 700; i < 1500; ++i) {
    ASSERT_EQ(decoded->add(facts_of("e" + std::to_string(i), static_cast<uint64_t>(i) + 1),
                           {static_cast<uint64_t>(i) * 100, 99, 1}, 0),
              Index::Added::kYes);
  }
  EXPECT_EQ(decoded->add(facts_of("e5", 9999), {}, 0), Index::Added::kIdTaken);
  EXPECT_EQ(decoded->find("e1499"), 1499u);
  EXPECT_EQ(decoded->find("e0"), 0u);
}

TEST(Snapshot, WrongFilesAreRefusedWithTheReason) {
  const std::string right = encode_snapshot(index_of(5));
  EXPECT_EQ(refused(""), "index.bin: shorter than its header");
  EXPECT_EQ(refused(right.substr(0, Editor::kHeaderBytes - 1)),
            "index.bin: shorter than its header");
  EXPECT_EQ(refused(std::string(1000, 'x')), "index.bin: not an index");
  std::string other = right;
  other[8] = 2;
  EXPECT_EQ(refused(other), "index.bin: of another version");
  EXPECT_EQ(refused(right + "x"), "index.bin: longer than its sections");
  EXPECT_EQ(refused(right.substr(0, right.size() - 1)), "index.bin: shorter than its hashes");
  EXPECT_EQ(refused(right.substr(0, Editor::kHeaderBytes + 8)),
            "index.bin: a section lies outside the file");
}

TEST(Snapshot, AnyFlippedBitAndAnyLengthAreRefused) {
  const std::string right = encode_snapshot(index_of(40));
  for (size_t bit = 0; bit < right.size() * 8; ++bit) {
    std::string flipped = right;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_FALSE(decode_snapshot(flipped).ok()) << "bit " << bit;
  }
  for (size_t length = 0; length < right.size(); ++length) {
    ASSERT_FALSE(decode_snapshot(std::string_view(right).substr(0, length)).ok()) << length;
  }
}

TEST(Snapshot, RandomBytesAreRefused) {
  std::mt19937_64 generator(3);
  const std::string header = encode_snapshot(index_of(1)).substr(0, 16);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes(generator() % 2000, '\0');
    for (char& byte : bytes) byte = static_cast<char>(generator());
    if (round % 2 == 0) bytes.replace(0, std::min<size_t>(16, bytes.size()), header);
    ASSERT_FALSE(decode_snapshot(bytes).ok());
  }
}

// --- right hashes over wrong values
// ------------------------------------------------------------------

class Crafted : public testing::Test {
 protected:
  std::string reason() { return refused(editor_.assembled()); }
  Editor editor_{encode_snapshot(index_of(20))};
};

TEST_F(Crafted, PutTogetherAgainItIsRight) {
  ASSERT_EQ(editor_.assembled(), encode_snapshot(index_of(20)));
  ASSERT_TRUE(decode_snapshot(editor_.assembled()).ok());
}

TEST_F(Crafted, RowsOutsideTheCoveredLog) {
  for (const uint64_t offset : {uint64_t{2000}, uint64_t{1902}, UINT64_MAX, UINT64_MAX - 99}) {
    editor_.set(Editor::kOffsets, 19, offset);
    EXPECT_NE(reason().find("outside the covered log"), std::string::npos) << offset;
  }
}

// Who gets an entry reads these as they stand.
TEST_F(Crafted, BasesAndStepsOfWhatIsNoColumn) {
  for (const SnapshotSection section :
       {kLineHashes, kIdHashes, kIds, kTypeNames, kTable, kFacets, kTextTerms}) {
    for (const size_t part : {3u, 4u}) {
      const std::string before = editor_.header;
      editor_.set_word(Editor::place_of(section) + part, 1);
      EXPECT_NE(reason().find("not a column"), std::string::npos) << section;
      editor_.header = before;
    }
  }
}

TEST_F(Crafted, RowsThatOverlapOrGoBack) {
  editor_.set<uint64_t>(Editor::kOffsets, 5, 450);
  EXPECT_NE(reason().find("outside the covered log"), std::string::npos);
}

TEST_F(Crafted, LengthsBehindTheEnd) {
  for (const uint32_t length : {100u, 200u, UINT32_MAX}) {
    editor_.set(Editor::kLengths, 19, length);
    EXPECT_NE(reason().find("outside the covered log"), std::string::npos) << length;
  }
}

TEST_F(Crafted, IdEndsThatGoBackOrOutside) {
  for (const uint64_t end : {uint64_t{0}, uint64_t{5000}, UINT64_MAX}) {
    editor_.set(Editor::kIdEnds, 10, end);
    EXPECT_NE(reason(), "") << end;
  }
}

TEST_F(Crafted, IdsOfNoRow) {
  editor_.sections[Editor::kIds] += "more";
  EXPECT_EQ(reason(), "index.bin: there are ids that belong to no row");
}

TEST_F(Crafted, TypesThatAreNone) {
  editor_.set<uint16_t>(Editor::kTypes, 3, 2);
  EXPECT_EQ(reason(), "index.bin: a row has impossible values");
}

TEST_F(Crafted, TypeNamesThatAreNone) {
  for (const std::string names :
       {"decision\nmessage", "decision\n\n", "Decision\nmessage\n", "a b\nmessage\n", "\n\n"}) {
    editor_.sections[Editor::kTypeNames] = names;
    EXPECT_EQ(reason(), "index.bin: a type's name is not valid") << names;
  }
}

TEST_F(Crafted, ImportancesThatAreNone) {
  for (const double importance : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN(),
                                  std::numeric_limits<double>::infinity()}) {
    editor_.set(Editor::kImportances, 7, importance);
    EXPECT_EQ(reason(), "index.bin: a row has impossible values") << importance;
  }
}

TEST_F(Crafted, TablesThatDoNotFitTheRows) {
  const std::string before = editor_.sections[Editor::kTable];
  for (const std::string& table :
       {std::string(), before.substr(4), before + before, std::string(before.size(), '\0')}) {
    editor_.sections[Editor::kTable] = table;
    EXPECT_NE(reason().find("id table"), std::string::npos);
  }
  editor_ = Editor(encode_snapshot(index_of(300)));  // its slots have two bytes
  editor_.sections[Editor::kTable].pop_back();
  EXPECT_EQ(reason(), "index.bin: a section ends inside a value");
}

TEST_F(Crafted, TablesThatHideARowFromItsDeletion) {
  // The row's number is moved to a slot where a search for its id never comes by.
  const size_t slots = editor_.slot_count();
  size_t from = 0;
  while (editor_.slot(from) != 1) from += 1;
  size_t to = from == 0 ? slots - 1 : from - 1;
  while (editor_.slot(to) != 0) to = to == 0 ? slots - 1 : to - 1;
  editor_.set_slot(to, 1);
  editor_.set_slot(from, 0);
  EXPECT_EQ(reason(), "index.bin: the id table does not find the rows");
}

TEST_F(Crafted, HashesOfOtherIds) {
  editor_.set<uint32_t>(Editor::kIdHashes, 4, 12345);
  EXPECT_EQ(reason(), "index.bin: an id has the wrong hash");
}

TEST_F(Crafted, TwoRowsOfOneId) {
  std::string& ids = editor_.sections[Editor::kIds];
  ids[1] = '0';  // "01" behind the "e" of all: e1 becomes e0
  editor_.set(Editor::kIdHashes, 1, editor_.get<uint32_t>(Editor::kIdHashes, 0));
  EXPECT_EQ(reason(), "index.bin: the id table does not find the rows");
}

TEST_F(Crafted, SequenceNumbersThatNoRowHas) {
  for (const uint64_t seq : {uint64_t{0}, uint64_t{21}, UINT64_MAX}) {
    editor_.set_word(Editor::kLastSeq, seq);
    EXPECT_EQ(reason(), "index.bin: the last sequence number belongs to no row") << seq;
  }
  editor_.set_word(Editor::kLastSeq, UINT64_MAX);
  editor_.set<uint64_t>(Editor::kSeqs, 19, UINT64_MAX);
  EXPECT_EQ(reason(), "index.bin: the last sequence number belongs to no row");
}

TEST_F(Crafted, ATombstoneCoverageIsNotBelieved) {
  editor_.set_word(Editor::kTombstonesBytes, 4096);
  const auto decoded = decode_snapshot(editor_.assembled());
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->coverage.tombstones_bytes, 0u);
}

TEST_F(Crafted, FlagsOfThisProcessAreNotBelieved) {
  for (size_t row = 0; row < 20; ++row) editor_.set<uint8_t>(Editor::kFlags, row, 0xff);
  const auto decoded = decode_snapshot(editor_.assembled());
  ASSERT_TRUE(decoded.ok());
  EXPECT_FALSE(decoded->is_verified(0));
  EXPECT_FALSE(decoded->is_deleted(0));
}

TEST_F(Crafted, ALastLineOutsideTheCoveredLog) {
  editor_.set_word(Editor::kLastLineOffset, 2001);
  EXPECT_EQ(reason(), "index.bin: the last line lies outside the covered log");
  editor_.set_word(Editor::kLastLineOffset, 1900);
  editor_.set_word(Editor::kLastLineLength, UINT64_MAX);
  EXPECT_EQ(reason(), "index.bin: the last line lies outside the covered log");
}

// Beside a log that is a hole of a terabyte.
TEST_F(Crafted, LinesLongerThanALineCanBe) {
  editor_.set_word(Editor::kEntriesBytes, uint64_t{1} << 40);
  ASSERT_TRUE(decode_snapshot(editor_.assembled()).ok());
  editor_.set_word(Editor::kLastLineLength, log::kLineBytesMax);
  ASSERT_TRUE(decode_snapshot(editor_.assembled()).ok());
  editor_.set_word(Editor::kLastLineLength, log::kLineBytesMax + 1);
  EXPECT_EQ(reason(), "index.bin: the last line lies outside the covered log");
  editor_.set_word(Editor::kLastLineLength, 99);
  editor_.set(Editor::kLengths, 19, static_cast<uint32_t>(log::kLineBytesMax + 1));
  EXPECT_NE(reason().find("outside the covered log"), std::string::npos);
}

TEST_F(Crafted, RowCountsThatOverflow) {
  for (const uint64_t rows : {uint64_t{19}, uint64_t{21}, uint64_t{UINT32_MAX}, uint64_t{1} << 61,
                              (uint64_t{1} << 61) + 20, (uint64_t{1} << 63) + 20, UINT64_MAX}) {
    editor_.set_word(Editor::kRowCount, rows);
    EXPECT_NE(reason(), "") << rows;
  }
}

TEST_F(Crafted, SectionsThatOverlapOrLieElsewhere) {
  const std::string before = editor_.header;
  for (size_t section = 0; section < Editor::kSectionCount; ++section) {
    for (const uint64_t value :
         {uint64_t{0}, uint64_t{8}, UINT64_MAX, UINT64_MAX - 7, uint64_t{1} << 63}) {
      for (const size_t part : {0u, 1u}) {
        if (editor_.word(Editor::place_of(section) + part) == value) continue;  // empty
        editor_.set_word(Editor::place_of(section) + part, value);
        EXPECT_NE(refused(editor_.as_it_is()), "") << section << " " << value;
        editor_.header = before;
      }
    }
  }
}

TEST(Snapshot, MoreTypesThanSixteenBitsTellComeBack) {
  constexpr uint32_t kCount = 66'000;
  Index index;
  for (uint32_t i = 0; i < kCount; ++i) {
    entry::EntryFacts facts = facts_of("e" + std::to_string(i), i + 1);
    facts.type = "t" + std::to_string((i * 7919) % kCount);
    index.add(facts, {uint64_t{i} * 100, 99, i}, 0);
    index.coverage.entries_bytes = (uint64_t{i} + 1) * 100;
  }
  const auto decoded = decode_snapshot(encode_snapshot(index));
  ASSERT_TRUE(decoded.ok()) << decoded.status().message();
  expect_same_rows(index, *decoded);
  EXPECT_EQ(decoded->find_type("t65999"), index.find_type("t65999"));
}

}  // namespace
}  // namespace varve::index
