#include "index/column.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/row_column.h"
#include "text_view.h"

namespace varve::index {
namespace {

// An index.bin whose section kSeqs is this, with so many rows.
std::string file_with(const EncodedColumn& column, uint64_t row_count) {
  SnapshotHeader header;
  header.row_count = row_count;
  const std::string hashes(row_count * 8, 'h');
  std::array<SectionContent, kSectionCount> sections;
  sections[kLineHashes] = {hashes};
  sections[kIdHashes] = {std::string_view(hashes).substr(0, hashes.size() / 2)};
  sections[kSeqs] = {column.bytes, column.rule.base, column.rule.step};
  return assemble_snapshot(header, sections);
}

std::shared_ptr<SnapshotFile> opened_file(std::string_view bytes) {
  auto file = SnapshotFile::open(std::make_unique<TextView>(bytes));
  EXPECT_TRUE(file.ok()) << file.status().message();
  return file.ok() ? *std::move(file) : nullptr;
}

// Read as a whole and row by row it is what it was; answers the bytes a row.
template <typename T>
size_t width_of(const std::vector<T>& values) {
  const EncodedColumn column = encode_column(std::span<const T>(values));
  const std::string bytes = file_with(column, values.size());
  const auto file = opened_file(bytes);
  auto read = RowColumn<T>::open(file, kSeqs, values.size());
  EXPECT_TRUE(read.ok()) << read.status().message();
  EXPECT_TRUE(read->load().ok());
  EXPECT_EQ(std::vector<T>(read->values().begin(), read->values().end()), values);
  for (size_t row = 0; row < values.size(); ++row) {
    T value{};
    EXPECT_TRUE(read_row_value(*file, kSeqs, row, &value).ok());
    EXPECT_EQ(column_bits(value), column_bits(values[row])) << row;
  }
  EXPECT_EQ(column.bytes.size() % std::max<size_t>(values.size(), 1), 0U);
  return values.empty() ? column.bytes.size() : column.bytes.size() / values.size();
}

TEST(Column, TakesAsManyBytesAsItsWidestDifference) {
  EXPECT_EQ(width_of<uint64_t>({}), 0U);
  EXPECT_EQ(width_of<uint64_t>({7}), 0U);
  EXPECT_EQ(width_of<uint64_t>({7, 7, 7}), 0U);
  for (int bits = 0; bits < 64; ++bits) {
    const uint64_t difference = uint64_t{1} << bits;
    EXPECT_EQ(width_of<uint64_t>({1000, 1000 + difference, 1001}),
              static_cast<size_t>(bits / 8 + 1))
        << bits;
  }
  EXPECT_EQ(width_of<uint64_t>({0, uint64_t{1} << 63, 1}), 8U);
  EXPECT_EQ(width_of<uint64_t>({UINT64_MAX, UINT64_MAX - 255, UINT64_MAX}), 1U);
}

TEST(Column, TakesEveryKindOfNumber) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(width_of<int64_t>({-3, 5, -200}), 1U);
  EXPECT_EQ(width_of<int64_t>({kMin, kMax, 0}), 8U);
  EXPECT_EQ(width_of<int64_t>({kMax, kMax}), 0U);
  EXPECT_EQ(width_of<int64_t>({1'767'603'600'000, 1'767'603'660'000, 1'767'603'600'000}), 2U);
  EXPECT_EQ(width_of<double>({0.5, 0.5}), 0U);
  EXPECT_EQ(width_of<double>({0.0, 1.0, 0.3, -0.0}), 8U);
  EXPECT_EQ(width_of<uint32_t>({400, 70'000, 400}), 3U);
  EXPECT_EQ(width_of<uint32_t>({0, UINT32_MAX, 0}), 4U);
  EXPECT_EQ(width_of<uint16_t>({0, 5, 0}), 1U);
  EXPECT_EQ(width_of<uint8_t>({4, 4}), 0U);
  EXPECT_EQ(width_of<uint8_t>({0, 255, 0}), 1U);
}

TEST(Column, WhereNothingIsSavedItIsAsInMemory) {
  const std::vector<uint64_t> values = {5, uint64_t{1} << 63, 7};
  const EncodedColumn column = encode_column(std::span<const uint64_t>(values));
  EXPECT_EQ(column.rule.base, 0U);
  EXPECT_EQ(column.rule.step, 0U);
  EXPECT_EQ(column.bytes, std::string(reinterpret_cast<const char*>(values.data()), 24));
}

TEST(Column, WhatRisesEvenlyTakesNothing) {
  EXPECT_EQ(width_of<uint64_t>({1, 2, 3, 4, 5}), 0U) << "numbers";
  EXPECT_EQ(width_of<int64_t>({100, 40, -20, -80}), 0U) << "backwards";
  EXPECT_EQ(width_of<uint64_t>({0, UINT64_MAX}), 0U) << "by -1";
  std::mt19937_64 random(3);
  std::vector<uint64_t> offsets = {0};
  for (int i = 0; i < 5000; ++i) offsets.push_back(offsets.back() + 1000 + random() % 100);
  EXPECT_EQ(width_of(offsets), 2U) << "lines of a log; it would be 3";
  std::vector<int64_t> times;
  for (int i = 0; i < 5000; ++i) times.push_back(i * 60'000 - 1'000'000 + i % 7);
  EXPECT_EQ(width_of(times), 1U);
}

TEST(Column, NumbersOfAllSizesComeBackWithAnyStep) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint64_t> values(1 + random() % 20);
    const uint64_t step = random() >> random() % 64;
    const uint64_t start = random();
    const uint64_t noise = (uint64_t{1} << random() % 64) - 1;
    for (size_t i = 0; i < values.size(); ++i) values[i] = start + step * i + (random() & noise);
    width_of(values);
    ASSERT_FALSE(HasFailure()) << "round " << round;
  }
}

TEST(Column, DecimalsOfFewDigitsAreWholeNumbers) {
  EXPECT_EQ(width_of<double>({0.0, 1.0, 0.0}), 1U);
  EXPECT_EQ(width_of<double>({0.5, 0.25, 0.99, 1.0, 0.07, 0.29, 0.57, 0.58}), 1U);
  EXPECT_EQ(width_of<double>({0.123, 0.999, 0.5}), 2U);
  EXPECT_EQ(width_of<double>({0.1234, 0.5, 0.25}), 7U);
  EXPECT_EQ(width_of<double>({0.1 + 0.2, 0.5, 0.25}), 7U) << "not 0.3";
  EXPECT_EQ(width_of<double>({-0.5, 0.5, 0.25}), 8U);
  EXPECT_EQ(width_of<double>({1e300, 1e12, 0.5}), 8U);
  EXPECT_EQ(width_of<double>({1e12, 0.5, 0.25}), 8U) << "too large, though six bytes would do";
  std::vector<double> hundredths;
  for (int i = 0; i <= 100; ++i) hundredths.push_back(i / 100.0);
  EXPECT_EQ(width_of(hundredths), 1U);
}

// Values of many blocks, of which one row is asked.
TEST(Column, ARowOfManyIsFound) {
  std::mt19937_64 random(5);
  std::vector<uint64_t> values(20'000);
  for (uint64_t& value : values) value = 1'000'000 + random() % 100'000;
  EXPECT_EQ(width_of(values), 3U);
}

TEST(Column, OfAnotherLengthThanItsRowsIsRefused) {
  for (const size_t length : {1U, 2U, 4U, 27U, 100U}) {
    const std::string bytes = file_with({{}, std::string(length, 'x')}, 3);
    const auto file = opened_file(bytes);
    uint64_t value = 0;
    EXPECT_EQ(RowColumn<uint64_t>::open(file, kSeqs, 3).code(), Code::kCorruption) << length;
    EXPECT_EQ(read_row_value(*file, kSeqs, 0, &value).code(), Code::kCorruption) << length;
  }
  const std::string bytes = file_with({{}, "xyz"}, 3);
  const auto file = opened_file(bytes);
  uint64_t value = 0;
  EXPECT_TRUE(read_row_value(*file, kSeqs, 2, &value).ok());
  EXPECT_EQ(read_row_value(*file, kSeqs, 3, &value).code(), Code::kCorruption) << "behind the last";
}

// A base takes no place: rows that differ in nothing must not be any number of them.
TEST(Column, RowsWithoutHashesAreRefused) {
  SnapshotHeader header;
  header.row_count = UINT32_MAX - 1;
  const std::string bytes = assemble_snapshot(header, {});
  const auto file = SnapshotFile::open(std::make_unique<TextView>(bytes));
  EXPECT_EQ(file.status().message(), "index.bin: a row without a hash");
}

}  // namespace
}  // namespace varve::index
