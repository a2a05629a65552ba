#include "embedding/vector_table.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace varve::embedding {
namespace {

void add(VectorTable& table, const std::string& id, const std::vector<float>& values) {
  // At an odd address, as in a file's bytes.
  std::string bytes(1 + values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data() + 1, values.data(), values.size() * sizeof(float));
  table.add(id, bytes.data() + 1);
}

TEST(VectorTable, GivesCosines) {
  VectorTable table(2);
  add(table, "same", {3, 4});
  add(table, "scaled", {0.0003F, 0.0004F});
  add(table, "across", {-4, 3});
  add(table, "against", {-3e30F, -4e30F});
  add(table, "half", {3, 0});
  const std::vector<float> query{3, 4};
  const auto found = table.similarities(query, table.size());
  ASSERT_EQ(found.size(), 5U);
  EXPECT_NEAR(found[0], 1, 1e-15);
  EXPECT_NEAR(found[1], 1, 1e-7);
  EXPECT_NEAR(found[2], 0, 1e-15);
  EXPECT_NEAR(found[3], -1, 1e-7);
  EXPECT_NEAR(found[4], 0.6, 1e-15);
  EXPECT_EQ(table.similarities(query, 2).size(), 2U);
  EXPECT_TRUE(table.similarities(query, 0).empty());
  EXPECT_EQ(table.id(0), "same");
  EXPECT_EQ(table.id(4), "half");
}

// Rounding makes more of many of them.
TEST(VectorTable, NothingIsMoreSimilarThanTheSame) {
  std::vector<float> values(3);
  for (int i = 0; i < 1000; ++i) {
    for (size_t k = 0; k < values.size(); ++k) {
      values[k] = std::sin(static_cast<float>(i) * 7 + static_cast<float>(k) * 3);
    }
    VectorTable table(3);
    add(table, "same", values);
    EXPECT_LE(table.similarities(values, 1)[0], 1) << i;
    for (float& value : values) value *= -1;
    EXPECT_GE(table.similarities(values, 1)[0], -1) << i;
  }
}

TEST(VectorTable, ChunksChangeNothing) {
  constexpr uint32_t kDimension = 16384;  // sixteen to a chunk
  VectorTable table(kDimension);
  for (uint32_t i = 0; i < 40; ++i) {
    std::vector<float> values(kDimension, 0);
    values[i] = 1;
    values[100] = 1;
    add(table, "v" + std::to_string(i), values);
  }
  std::vector<float> query(kDimension, 0);
  query[33] = 1;
  const auto found = table.similarities(query, table.size());
  for (uint32_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(found[i], i == 33 ? std::sqrt(0.5) : 0, 1e-15) << i;
  }
  EXPECT_GE(table.memory_bytes(), uint64_t{40} * kDimension * sizeof(float));
}

// docs/vectors.md: 4 bytes for each number, about 30 for each record, and its id.
TEST(VectorTable, TakesWhatTheManualSays) {
  constexpr uint32_t kCount = 3000;
  for (const uint32_t dimension : {384U, 768U, 1536U, 3072U}) {
    VectorTable table(dimension);
    const std::vector<float> values(dimension, 1);
    for (uint32_t i = 0; i < kCount; ++i) add(table, "an id", values);
    const uint64_t numbers = uint64_t{kCount} * dimension * sizeof(float);
    const uint64_t last_chunk = uint64_t{1} << 20;
    EXPECT_LT(table.memory_bytes(), numbers + kCount * 48 + last_chunk) << dimension;
  }
  VectorTable small(384);
  add(small, "only", std::vector<float>(384, 1));
  EXPECT_LT(small.memory_bytes(), 4096U);
}

TEST(VectorTable, EveryKernelGivesTheSame) {
  std::vector<std::vector<double>> answers;
  for (const Kernel& kernel : available_kernels()) {
    VectorTable table(37, kernel);
    std::vector<float> values(37);
    for (int i = 0; i < 200; ++i) {
      for (size_t k = 0; k < values.size(); ++k) {
        values[k] = std::sin(static_cast<float>(i) * 7 + static_cast<float>(k) * 3);
      }
      add(table, "v" + std::to_string(i), values);
    }
    answers.push_back(table.similarities(values, table.size()));
  }
  for (const auto& answer : answers) EXPECT_EQ(answer, answers.front());
}

}  // namespace
}  // namespace varve::embedding
