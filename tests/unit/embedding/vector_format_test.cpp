#include "embedding/vector_format.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "base/hash.h"

namespace varve::embedding {
namespace {

const std::vector<float> kValues{1.5F, -2, 0};

// A header with these bytes and a hash that fits.
std::string sealed_header(std::string bytes) {
  const uint64_t hash = hash64(std::string_view(bytes).substr(0, 24));
  std::memcpy(bytes.data() + 24, &hash, sizeof hash);
  return bytes;
}

// A record with these bytes and a hash that fits.
std::string sealed(std::string bytes) {
  const uint64_t hash = hash64(std::string_view(bytes).substr(8));
  std::memcpy(bytes.data(), &hash, sizeof hash);
  return bytes;
}

TEST(VectorFormat, AHeaderIsThirtyTwoBytesAndReadBack) {
  const std::string header = encode_header(768);
  ASSERT_EQ(header.size(), 32U);
  EXPECT_EQ(header.substr(0, 8), "VARVEVEC");
  EXPECT_EQ(header.substr(8, 8), std::string("\x01\0\0\0\0\x03\0\0", 8));
  const auto dimension = parse_header(header);
  ASSERT_TRUE(dimension.ok());
  EXPECT_EQ(*dimension, 768U);
}

TEST(VectorFormat, AHeaderWithAnyByteChangedIsDamaged) {
  for (size_t at = 0; at < kHeaderBytes; ++at) {
    std::string header = encode_header(768);
    header[at] = static_cast<char>(header[at] ^ 0x40);
    EXPECT_EQ(parse_header(header).code(), Code::kCorruption) << at;
  }
  EXPECT_EQ(parse_header(encode_header(3).substr(0, 31)).code(), Code::kCorruption);
  EXPECT_EQ(parse_header("").code(), Code::kCorruption);
  EXPECT_EQ(parse_header(encode_header(0)).code(), Code::kCorruption);
  EXPECT_EQ(parse_header(encode_header(kDimensionMax + 1)).code(), Code::kCorruption);
}

TEST(VectorFormat, AHeaderOfANewerVersionIsRefusedAsThat) {
  std::string header = encode_header(768);
  header[8] = 2;
  EXPECT_EQ(parse_header(sealed_header(header)).code(), Code::kFormatVersion);
}

TEST(VectorFormat, ARightHashDoesNotMakeNonsenseAHeader) {
  ASSERT_TRUE(parse_header(sealed_header(encode_header(3))).ok());
  for (const auto& [at, value] : {std::pair(0, 'W'), std::pair(8, '\0'), std::pair(16, '\1')}) {
    std::string header = encode_header(3);
    header[static_cast<size_t>(at)] = value;
    EXPECT_EQ(parse_header(sealed_header(header)).code(), Code::kCorruption) << at;
  }
}

TEST(VectorFormat, ARecordIsReadBack) {
  const std::string bytes = encode_record("mem_1", kValues);
  ASSERT_EQ(bytes.size(), 144U + 12U);
  EXPECT_EQ(bytes.size(), record_bytes(3));
  EXPECT_EQ(bytes.substr(16, 6), std::string("mem_1\0", 6));
  const auto record = parse_record(bytes, 3);
  ASSERT_TRUE(record.has_value());
  EXPECT_EQ(record->id, "mem_1");
  EXPECT_EQ(std::memcmp(record->values, kValues.data(), 12), 0);
  const std::string longest(128, 'x');
  const std::string wide = encode_record(longest, kValues);
  ASSERT_TRUE(parse_record(wide, 3).has_value());
  EXPECT_EQ(parse_record(wide, 3)->id, longest);
}

TEST(VectorFormat, ARecordWithAnyByteChangedOrMissingIsDamaged) {
  const std::string bytes = encode_record("mem_1", kValues);
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 0x01);
    EXPECT_FALSE(parse_record(changed, 3).has_value()) << at;
    EXPECT_FALSE(parse_record(bytes.substr(0, at), 3).has_value()) << at;
  }
  EXPECT_FALSE(parse_record(std::string(bytes.size(), '\0'), 3).has_value());
}

TEST(VectorFormat, ARightHashDoesNotMakeNonsenseARecord) {
  ASSERT_TRUE(parse_record(sealed(encode_record("a", kValues)), 3).has_value());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(parse_record(encode_record("a", std::vector<float>{1, nan, 1}), 3).has_value());
  EXPECT_FALSE(parse_record(encode_record("a", std::vector<float>{0, 0, 0}), 3).has_value());
  EXPECT_FALSE(parse_record(encode_record("", kValues), 3).has_value());
  EXPECT_FALSE(parse_record(encode_record("-a", kValues), 3).has_value());
  std::string too_long = encode_record("a", kValues);
  too_long[8] = static_cast<char>(129);
  EXPECT_FALSE(parse_record(sealed(too_long), 3).has_value());
  for (const size_t at : {9U, 15U, 17U, 100U, 143U}) {
    std::string dirty = encode_record("a", kValues);
    dirty[at] = 'x';
    EXPECT_FALSE(parse_record(sealed(dirty), 3).has_value()) << at;
  }
}

TEST(VectorFormat, WhatIsNoVectorIsRefusedWithTheReason) {
  const float infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(refusal_of(kValues), "");
  EXPECT_EQ(refusal_of({}), "has 0 numbers; a vector has 1 to 16384");
  EXPECT_EQ(refusal_of(std::vector<float>(16385, 1)), "has 16385 numbers; a vector has 1 to 16384");
  EXPECT_EQ(refusal_of(std::vector<float>(16384, 1)), "");
  EXPECT_EQ(refusal_of(std::vector<float>{1, -infinite}),
            "has a number that is not finite in float32, at index 1");
  EXPECT_EQ(refusal_of(std::vector<float>{0, -0.0F}),
            "is all zeros: it has no direction to compare");
}

}  // namespace
}  // namespace varve::embedding
