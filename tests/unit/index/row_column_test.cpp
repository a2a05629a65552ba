#include "index/row_column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "text_view.h"

namespace varve::index {
namespace {

constexpr uint64_t kCount = 20'000;

// An index.bin of which only a column of numbers is of interest.
class RowColumns : public testing::Test {
 protected:
  void SetUp() override {
    std::mt19937_64 random(5);
    for (uint64_t i = 0; i < kCount; ++i) values_.push_back(1'000'000 + random() % 100'000);
    write();
  }

  void write() {
    const EncodedColumn written = encode_column(std::span<const uint64_t>(values_));
    const std::string hashes(values_.size() * 8, 'h');
    std::array<SectionContent, kSectionCount> sections;
    sections[kLineHashes] = {hashes};
    sections[kIdHashes] = {std::string_view(hashes).substr(0, hashes.size() / 2)};
    sections[kSeqs] = {written.bytes, written.rule.base, written.rule.step};
    SnapshotHeader header;
    header.row_count = values_.size();
    bytes_ = assemble_snapshot(header, sections);
  }

  RowColumn<uint64_t> opened(const RowColumn<uint64_t>::Possible& possible = {}) {
    auto file = SnapshotFile::open(std::make_unique<TextView>(bytes_));
    EXPECT_TRUE(file.ok());
    file_ = *std::move(file);
    auto column = RowColumn<uint64_t>::open(file_, kSeqs, values_.size(), possible);
    EXPECT_TRUE(column.ok());
    return *std::move(column);
  }

  // Of the numbers as they are written.
  void flip_byte(uint64_t at) {
    char& byte = bytes_[file_->header().sections[kSeqs].offset + at];
    byte = static_cast<char>(byte ^ 1);
  }

  std::vector<uint64_t> values_;
  std::string bytes_;
  std::shared_ptr<SnapshotFile> file_;
};

TEST_F(RowColumns, ReadsWhatIsAskedForAndNoMore) {
  const auto column = opened();
  EXPECT_EQ(column.size(), kCount);
  EXPECT_EQ(column.memory_bytes(), 0u);
  EXPECT_EQ(column[12'345], values_[12'345]);
  const uint64_t page_bytes = column.memory_bytes();
  EXPECT_GT(page_bytes, 0u);
  EXPECT_LE(page_bytes, 8192u);
  EXPECT_EQ(column[12'346], values_[12'346]);
  EXPECT_EQ(column.memory_bytes(), page_bytes) << "its neighbour came with it";
  EXPECT_EQ(column[0], values_[0]);
  EXPECT_EQ(column[kCount - 1], values_[kCount - 1]);
  EXPECT_EQ(column.memory_bytes(), 3 * page_bytes);
}

TEST_F(RowColumns, HasEachValueHoweverItIsAsked) {
  const auto one_by_one = opened();
  for (uint64_t row = kCount; row-- > 0;) ASSERT_EQ(one_by_one[row], values_[row]);
  std::mt19937_64 random(7);
  const auto by_parts = opened();
  for (int round = 0; round < 200; ++round) {
    const uint64_t begin = random() % kCount;
    const uint64_t count = random() % std::min<uint64_t>(5000, kCount - begin + 1);
    const auto part = by_parts.view(begin, count);
    ASSERT_TRUE(std::equal(part.begin(), part.end(),
                           values_.begin() + static_cast<std::ptrdiff_t>(begin),
                           values_.begin() + static_cast<std::ptrdiff_t>(begin + count)));
  }
  auto whole = opened();
  EXPECT_EQ(whole[5000], values_[5000]);
  ASSERT_TRUE(whole.load().ok());
  EXPECT_EQ(std::vector<uint64_t>(whole.values().begin(), whole.values().end()), values_);
}

// More than there is room for at first, so that it moves, too.
TEST_F(RowColumns, WhatIsAddedComesBehindWhatWasNotReadYet) {
  auto column = opened();
  for (uint64_t i = 0; i < kCount; ++i) {
    column.push_back(i);
    values_.push_back(i);
    if (i % 1000 != 0) continue;
    ASSERT_EQ(column[i / 3], values_[i / 3]);
  }
  for (uint64_t row = 0; row < 2 * kCount; ++row) ASSERT_EQ(column[row], values_[row]) << row;
}

TEST_F(RowColumns, WhatIsSetStaysWhenItsPageIsReadLater) {
  auto column = opened();
  column.set(10'000, 42);
  EXPECT_EQ(column[10'001], values_[10'001]);
  EXPECT_EQ(column[10'000], 42u);
  ASSERT_TRUE(column.load().ok());
  EXPECT_EQ(column[10'000], 42u);
}

TEST_F(RowColumns, ADamagedPageReadsAsZerosAndIsTold) {
  const size_t width = (opened(), file_->length(kSeqs) / kCount);
  flip_byte(15'000 * width);
  auto column = opened();
  EXPECT_EQ(column[100], values_[100]);
  EXPECT_FALSE(file_->is_damaged()) << "nobody has looked there";
  EXPECT_EQ(column[15'000], 0u);
  EXPECT_TRUE(file_->is_damaged());
  EXPECT_EQ(column[100], values_[100]);
  auto whole = opened();
  EXPECT_EQ(whole.load().code(), Code::kCorruption);
  EXPECT_TRUE(file_->is_damaged());
}

TEST_F(RowColumns, AValueThatCannotBeIsDamage) {
  auto right = opened({1'000'000, 1'099'999});
  EXPECT_TRUE(right.load().ok());
  EXPECT_FALSE(file_->is_damaged());
  for (const RowColumn<uint64_t>::Possible possible :
       {RowColumn<uint64_t>::Possible{1'000'001 + 50'000, UINT64_MAX}, {0, 1'050'000}}) {
    const auto wrong = opened(possible);
    EXPECT_EQ(wrong[1], 0u);
    EXPECT_TRUE(file_->is_damaged());
  }
}

TEST_F(RowColumns, ValuesThatAreAllTheSameTakeNoPlace) {
  values_.assign(kCount, 77);
  write();
  auto column = opened();
  EXPECT_EQ(file_->length(kSeqs), 0u);
  EXPECT_EQ(column[kCount - 1], 77u);
  EXPECT_EQ(column[0], 77u);
  EXPECT_EQ(column.memory_bytes(), 0u) << "nor of memory";
  column.push_back(79);
  EXPECT_EQ(column[kCount], 79u) << "in the page of others";
  EXPECT_EQ(column[kCount - 1], 77u);
  column.set(5, 78);
  EXPECT_EQ(column[5], 78u);
  EXPECT_EQ(column[4], 77u);
  const auto impossible = opened({0, 76});
  EXPECT_EQ(impossible[9], 0u);
  EXPECT_TRUE(file_->is_damaged());
}

TEST_F(RowColumns, ManyThreadsReadTheSameColumn) {
  const auto column = opened();
  std::atomic<uint64_t> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937_64 random(seed);
      for (int i = 0; i < 20'000; ++i) {
        const uint64_t row = random() % kCount;
        if (column[row] != values_[row]) wrong += 1;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0u);
}

TEST(RowColumnInMemory, IsWhatWasAdded) {
  RowColumn<uint16_t> column;
  EXPECT_EQ(column.size(), 0u);
  EXPECT_EQ(column.memory_bytes(), 0u);
  ASSERT_TRUE(column.load().ok());
  column.push_back(3);
  const std::array<uint16_t, 2> more{4, 5};
  column.append(more);
  EXPECT_EQ(column[2], 5);
  EXPECT_EQ(column.values().size(), 3u);
  EXPECT_GE(column.memory_bytes(), 6u);
}

}  // namespace
}  // namespace varve::index
