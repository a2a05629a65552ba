#include "index/posting_block.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/varint.h"

namespace varve::index {
namespace {

struct Block {
  uint32_t row_before = kNoRow;
  std::vector<uint32_t> rows;
  std::vector<uint32_t> frequencies;
  friend bool operator==(const Block&, const Block&) = default;
};

// Distances less one and frequencies less one of `bits` bits at most, `longer_count` of each with
// as many as `longer_bits`.
Block block_of(uint32_t count, uint32_t bits, uint32_t longer_count, uint32_t longer_bits,
               uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto number = [&](uint32_t i) {
    const uint32_t wide = (i * 7 + seed) % count < longer_count ? longer_bits : bits;
    return random() & ((uint64_t{1} << wide) - 1);
  };
  Block block;
  block.row_before = seed % 2 == 0 ? kNoRow : 9;
  uint64_t row = block.row_before == kNoRow ? UINT64_MAX : block.row_before;
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t distance = number(i) + 1;
    if (row + distance + count >= kNoRow && row != UINT64_MAX) distance = 1;
    row += distance;
    block.rows.push_back(static_cast<uint32_t>(row));
    block.frequencies.push_back(
        static_cast<uint32_t>(std::min<uint64_t>(number(i) + 1, UINT32_MAX)));
  }
  return block;
}

std::string packed(const Block& block) {
  std::string bytes;
  append_packed(block.row_before, block.rows, block.frequencies, &bytes);
  return bytes;
}

std::string plain(const Block& block) {
  std::string bytes(block.rows.size() * kPlainPostingBytesMax, '\0');
  char* at = bytes.data();
  uint32_t before = block.row_before;
  for (size_t i = 0; i < block.rows.size(); ++i) {
    at = write_plain(at, block.rows[i] - before, block.frequencies[i]);
    before = block.rows[i];
  }
  bytes.resize(static_cast<size_t>(at - bytes.data()));
  return bytes;
}

using Decode = uint32_t (*)(std::string_view bytes, uint32_t row_before, uint32_t count,
                            DecodedBlock* out);

// What was decoded, on the heap and exact, so that a sanitizer sees a read behind it.
Block decoded(Decode decode, const std::string& bytes, uint32_t row_before, uint32_t count) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  DecodedBlock out;
  const uint32_t got = decode({exact.data(), exact.size()}, row_before, count, &out);
  EXPECT_LE(got, count);
  return {row_before,
          {out.rows.begin(), out.rows.begin() + got},
          {out.frequencies.begin(), out.frequencies.begin() + got}};
}

bool rises(const Block& block) {
  uint64_t before = block.row_before == kNoRow ? UINT64_MAX : block.row_before;
  return std::all_of(block.rows.begin(), block.rows.end(), [&](uint32_t row) {
    const bool is_above = row != kNoRow && (before == UINT64_MAX || row > before);
    before = row;
    return is_above;
  });
}

TEST(PostingBlock, EitherFormGivesBackWhatWasWritten) {
  uint64_t seed = 0;
  for (uint32_t count : {1u, 2u, 7u, 8u, 9u, 31u, 64u, 127u, 128u}) {
    for (uint32_t bits = 0; bits <= 32; ++bits) {
      for (uint32_t longer_count : {0u, 1u, 3u, 4u}) {
        const Block block = block_of(count, bits, longer_count, std::min(bits + 9, 32u), ++seed);
        ASSERT_TRUE(decoded(decode_packed, packed(block), block.row_before, count) == block)
            << count << " of " << bits << " bits, longer " << longer_count;
        ASSERT_TRUE(decoded(decode_plain, plain(block), block.row_before, count) == block)
            << count << " of " << bits << " bits, longer " << longer_count;
      }
    }
  }
}

TEST(PostingBlock, IsPackedAsDocumented) {
  const Block neighbours = {kNoRow, {0, 1, 2, 3, 4, 5, 6, 7}, std::vector<uint32_t>(8, 1)};
  EXPECT_EQ(packed(neighbours), std::string(2, '\0'));
  // Distances less one 1 2 3 0 1 2 3 300, of which the last has bits 0 and 1 there; frequencies
  // less one 0 and 1.
  const Block block = {4, {6, 9, 13, 14, 16, 19, 23, 324}, {1, 2, 1, 2, 1, 2, 1, 2}};
  EXPECT_EQ(packed(block), std::string("\x42\x01\x39\x39\xAA\x07\x4B", 7));
}

// How many bytes the numbers take with so many bits; SIZE_MAX where more than three need more.
size_t bytes_with(std::span<const uint32_t> numbers, uint32_t bits) {
  size_t bytes = (numbers.size() * bits + 7) / 8;
  uint32_t exception_count = 0;
  for (const uint32_t number : numbers) {
    const auto above = static_cast<uint32_t>(uint64_t{number} >> bits);
    if (above == 0) continue;
    exception_count += 1;
    bytes += 1 + (static_cast<size_t>(std::bit_width(above)) + 6) / 7;
  }
  return exception_count > 3 ? SIZE_MAX : bytes;
}

TEST(PostingBlock, NoNumberOfBitsTakesFewerBytes) {
  for (uint32_t seed = 1; seed < 3000; ++seed) {
    const uint32_t count = 1 + seed % kBlockRows;
    const uint32_t bits = seed / 7 % 18;
    const Block block = block_of(count, bits, seed / 3 % 5, bits + seed / 5 % 14, seed);
    std::vector<uint32_t> distances;
    std::vector<uint32_t> more;
    for (uint32_t i = 0; i < count; ++i) {
      distances.push_back(block.rows[i] - (i == 0 ? block.row_before : block.rows[i - 1]) - 1);
      more.push_back(block.frequencies[i] - 1);
    }
    size_t least_bytes = 2;
    for (const auto& numbers : {distances, more}) {
      size_t least = SIZE_MAX;
      for (uint32_t width = 0; width <= 32; ++width) {
        least = std::min(least, bytes_with(numbers, width));
      }
      least_bytes += least;
    }
    ASSERT_EQ(packed(block).size(), least_bytes) << count << " of " << bits << ", seed " << seed;
  }
}

// --- bytes that are not right --------------------------------------------------------------------

TEST(PostingBlock, PackedBytesOfAnotherLengthAreNone) {
  for (const uint32_t count : {1u, 8u, 60u, 128u}) {
    const Block block = block_of(count, 5, 2, 20, count);
    const std::string right = packed(block);
    for (size_t size = 0; size < right.size(); ++size) {
      ASSERT_TRUE(
          decoded(decode_packed, right.substr(0, size), block.row_before, count).rows.empty())
          << count << " cut to " << size;
    }
    EXPECT_TRUE(decoded(decode_packed, right + '\0', block.row_before, count).rows.empty());
  }
}

TEST(PostingBlock, WhateverTheBytesAreRowsRise) {
  std::mt19937_64 random(4);
  size_t decoded_count = 0;
  for (uint32_t round = 0; round < 100'000; ++round) {
    const auto count = static_cast<uint32_t>(1 + random() % kBlockRows);
    const auto bits = static_cast<uint32_t>(random() % 33);
    const Block block = block_of(count, bits, random() % 4, std::min(bits + 5, 32u), random());
    for (const Decode decode : {&decode_packed, &decode_plain}) {
      std::string bytes = decode == &decode_packed ? packed(block) : plain(block);
      for (size_t i = 1 + random() % 3; i > 0; --i) {
        bytes[random() % std::min<size_t>(bytes.size(), 12)] = static_cast<char>(random());
      }
      const Block found = decoded(decode, bytes, block.row_before, count);
      ASSERT_TRUE(rises(found)) << "round " << round;
      ASSERT_EQ(std::count(found.frequencies.begin(), found.frequencies.end(), 0u), 0);
      decoded_count += found.rows.size();
    }
  }
  EXPECT_GT(decoded_count, 100'000u);
}

uint32_t unpacked_count(std::string_view bytes, uint32_t count) {
  DecodedBlock out;
  return decode_packed(bytes, kNoRow, count, &out);
}

TEST(PostingBlock, ANumberThatCannotBeIsNone) {
  EXPECT_EQ(unpacked_count(std::string(2, '\0'), 3), 3u);
  EXPECT_EQ(unpacked_count(std::string("\x21\x00", 2) + std::string(20, '\0'), 3), 0u) << "33 bits";
  EXPECT_EQ(unpacked_count(std::string("\x40\x00\x02\x05", 4), 3), 3u);
  EXPECT_EQ(unpacked_count(std::string("\x40\x00\x03\x05", 4), 3), 0u) << "there is no fourth";
  std::string above("\x41\x00\x00\x02", 4);
  append_varint(&above, uint64_t{1} << 31);
  EXPECT_EQ(unpacked_count(above, 3), 0u) << "more than 32 bits";
  EXPECT_EQ(unpacked_count(std::string("\x00\x20\xFF\xFF\xFF\xFF", 6), 1), 0u)
      << "a frequency of 2^32";
  for (const auto& [rest, count] : {std::pair(0x7FFFFFFEU, 3U), std::pair(0x7FFFFFFFU, 0U)}) {
    std::string exception("\x00\x41\x01\x00", 4);
    append_varint(&exception, rest);
    EXPECT_EQ(unpacked_count(exception, 3), count) << "2^32, as one that needs more bits";
  }
  EXPECT_EQ(unpacked_count(std::string("\x20\x00\xFE\xFF\xFF\xFF", 6), 1), 1u);
  EXPECT_EQ(unpacked_count(std::string("\x20\x00\xFF\xFF\xFF\xFF", 6), 1), 0u) << "row kNoRow";
}

TEST(PostingBlock, PlainBytesAreThereUpToTheFirstThatIsNotRight) {
  const Block block = block_of(60, 4, 0, 0, 2);
  const std::string right = plain(block);
  for (size_t size = 0; size < right.size(); ++size) {
    const Block found = decoded(decode_plain, right.substr(0, size), block.row_before, 60);
    ASSERT_LT(found.rows.size(), 60u);
    ASSERT_TRUE(std::equal(found.rows.begin(), found.rows.end(), block.rows.begin()));
  }
  EXPECT_TRUE(decoded(decode_plain, right + "behind it", block.row_before, 60) == block);
}

}  // namespace
}  // namespace varve::index
