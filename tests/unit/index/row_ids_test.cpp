#include "index/row_ids.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text_view.h"

namespace varve::index {
namespace {

using Ids = std::vector<std::string>;

RowIds ids_of(const Ids& ids) {
  RowIds made;
  for (const std::string& id : ids) made.add(id);
  return made;
}

// An index.bin with these ids.
std::string file_with(const EncodedIds& ids, uint64_t row_count) {
  SnapshotHeader header;
  header.row_count = row_count;
  header.id_start_length = ids.start.size();
  std::copy(ids.start.begin(), ids.start.end(), header.id_start.begin());
  const std::string hashes(row_count * 8, 'h');
  std::array<SectionContent, kSectionCount> sections;
  sections[kLineHashes] = {hashes};
  sections[kIdHashes] = {std::string_view(hashes).substr(0, hashes.size() / 2)};
  sections[kIdEnds] = {ids.ends.bytes, ids.ends.rule.base, ids.ends.rule.step};
  sections[kIds] = {ids.rests};
  return assemble_snapshot(header, sections);
}

// Of bytes that live on.
RowIds opened_ids(std::string_view bytes) {
  auto file = SnapshotFile::open(std::make_unique<TextView>(bytes));
  EXPECT_TRUE(file.ok()) << file.status().message();
  auto ids = RowIds::open(*file);
  EXPECT_TRUE(ids.ok());
  return *std::move(ids);
}

void expect_ids(const RowIds& ids, const Ids& expected) {
  for (uint32_t row = 0; row < expected.size(); ++row) {
    EXPECT_EQ(ids.at(row), expected[row]) << row;
    EXPECT_TRUE(ids.is(row, expected[row]));
    EXPECT_FALSE(ids.is(row, expected[row] + "x"));
    EXPECT_FALSE(ids.is(row, ""));
    EXPECT_FALSE(ids.is(row, expected[row].substr(1)));
    if (expected[row].size() > 1) {
      EXPECT_FALSE(ids.is(row, expected[row].substr(0, 1)));
    }
  }
}

TEST(RowIds, WhatAllStartWithIsWrittenOnce) {
  const EncodedIds encoded = ids_of({"mem_01a", "mem_01b", "mem_0", "mem_2x"}).encode();
  EXPECT_EQ(encoded.start, "mem_");
  EXPECT_EQ(encoded.rests, "01a01b02x");
  EXPECT_EQ(ids_of({"a", "b"}).encode().start, "");
  EXPECT_EQ(ids_of({"one"}).encode().start, "one");
  EXPECT_EQ(ids_of({"one"}).encode().rests, "");
  EXPECT_EQ(ids_of({"on", "one", "once"}).encode().start, "on") << "all of one";
  EXPECT_EQ(ids_of({}).encode().start, "");
}

TEST(RowIds, OutOfAFileTheyAreWhatTheyWere) {
  for (const Ids& ids : {Ids{"mem_01a", "mem_01b", "mem_0", "mem_2x"}, Ids{"a", "bcd"},
                         Ids{"only-one"}, Ids{"on", "one", "once"}, Ids{}}) {
    const std::string bytes = file_with(ids_of(ids).encode(), ids.size());
    expect_ids(opened_ids(bytes), ids);
    RowIds loaded = opened_ids(bytes);
    ASSERT_TRUE(loaded.load().ok());
    EXPECT_TRUE(loaded.are_places_right());
    expect_ids(loaded, ids);
  }
}

// Rows that are added may start otherwise, in memory and in the next file.
TEST(RowIds, AnyIdsComeBehindThoseOfAFile) {
  const Ids first = {"mem_01a", "mem_01b"};
  const std::string bytes = file_with(ids_of(first).encode(), first.size());
  for (const Ids& added : {Ids{"mem_01c"}, Ids{"mem_2", "mem_01"}, Ids{"other"}, Ids{"mem_01"}}) {
    RowIds ids = opened_ids(bytes);
    Ids all = first;
    for (const std::string& id : added) {
      ids.add(id);
      all.push_back(id);
    }
    expect_ids(ids, all);
    ASSERT_TRUE(ids.load().ok());
    expect_ids(ids, all);
    const std::string next = file_with(ids.encode(), all.size());
    expect_ids(opened_ids(next), all);
    RowIds copy;
    for (uint32_t row = 0; row < all.size(); ++row) copy.add(ids, row);
    expect_ids(copy, all);
  }
}

TEST(RowIds, OfAnyLengthTheyFitTheHeader) {
  EncodedIds encoded;
  encoded.start = std::string(kIdBytesMax, 's');
  encoded.rests = "same-asame-b";
  encoded.ends = encode_column(std::span<const uint64_t>(std::vector<uint64_t>{6, 12}));
  const std::string bytes = file_with(encoded, 2);
  RowIds ids = opened_ids(bytes);
  ASSERT_TRUE(ids.load().ok());
  const EncodedIds again = ids.encode();
  EXPECT_EQ(again.start, encoded.start);
  EXPECT_EQ(again.rests, encoded.rests);
}

// Where the entries that differed early are gone.
TEST(RowIds, WhatTheyStartWithMayGrow) {
  EncodedIds encoded;
  encoded.start = "m";
  encoded.rests = "em_1em_2";
  encoded.ends = encode_column(std::span<const uint64_t>(std::vector<uint64_t>{4, 8}));
  const std::string bytes = file_with(encoded, 2);
  RowIds ids = opened_ids(bytes);
  ASSERT_TRUE(ids.load().ok());
  EXPECT_EQ(ids.encode().start, "mem_");
  EXPECT_EQ(ids.encode().rests, "12");
}

TEST(RowIds, EndsThatCannotBeAreTold) {
  EncodedIds encoded = ids_of({"abc", "abd", "ab"}).encode();
  for (const std::vector<uint64_t>& ends :
       {std::vector<uint64_t>{2, 1, 2}, std::vector<uint64_t>{0, 1, 1}}) {
    encoded.ends = encode_column(std::span<const uint64_t>(ends));
    const std::string bytes = file_with(encoded, 3);
    RowIds ids = opened_ids(bytes);
    for (uint32_t row = 0; row < 3; ++row) EXPECT_LE(ids.at(row).size(), 4U);
    ids.add("behind-them");
    ASSERT_TRUE(ids.load().ok());
    EXPECT_FALSE(ids.are_places_right()) << "whatever comes behind";
  }
  // Many rows of one long piece would be many times the file's size.
  encoded.rests.assign(1000, 'x');
  const std::vector<uint64_t> far_apart = {0, 1000, 1000};
  encoded.ends = encode_column(std::span<const uint64_t>(far_apart));
  const std::string long_ids = file_with(encoded, 3);
  const RowIds ids = opened_ids(long_ids);
  EXPECT_LE(ids.at(1).size(), kIdBytesMax);
  SnapshotHeader header;
  header.id_start_length = kIdBytesMax + 1;
  const std::string bytes = assemble_snapshot(header, {});
  EXPECT_EQ(SnapshotFile::open(std::make_unique<TextView>(bytes)).code(), Code::kCorruption);
}

}  // namespace
}  // namespace varve::index
