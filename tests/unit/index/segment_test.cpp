#include "index/segment.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "segment_fixture.h"

namespace varve::index {
namespace {

using Map = std::map<std::string, std::string>;

std::string encoded(const Map& entries) {
  SegmentBuilder builder;
  for (const auto& [key, value] : entries) builder.add(key, value);
  return builder.encode();
}

Map random_entries(uint32_t count) {
  std::mt19937_64 generator(count + 1);
  const auto text = [&](size_t size_max, uint32_t letters) {
    std::string out(generator() % (size_max + 1), ' ');
    for (char& c : out) c = static_cast<char>(generator() % letters);
    return out;
  };
  Map entries;
  while (entries.size() < count) entries[text(12, 3) + text(3, 256)] = text(20, 256);
  return entries;
}

TEST(Segment, FindsWhatWasAddedAndNothingElse) {
  for (const uint32_t count : {0u, 1u, 2u, 3u, 100u, 3000u}) {
    const Map entries = random_entries(count);
    const auto segment = open_whole(encoded(entries));
    ASSERT_TRUE(segment.ok()) << segment.status().message();
    ASSERT_EQ(segment->size(), count);
    uint32_t number = 0;
    for (const auto& [key, value] : entries) {
      ASSERT_EQ(segment->key(number), key);
      ASSERT_EQ(segment->value(number), value);
      ASSERT_NE(segment->find(key).data(), nullptr) << "also an empty value is there";
      ASSERT_EQ(segment->find(key), value);
      ASSERT_EQ(segment->lower_bound(key), number);
      ASSERT_EQ(segment->lower_bound(key + '\0'), number + 1) << "nothing lies between";
      if (!entries.contains(key + '\0')) {
        ASSERT_EQ(segment->find(key + '\0').data(), nullptr);
      }
      number += 1;
    }
    EXPECT_EQ(segment->lower_bound(""), 0u);
    EXPECT_EQ(segment->lower_bound(std::string(20, '\xFF')), count);
  }
}

TEST(Segment, LowerBoundIsThatOfASortedMap) {
  const Map entries = random_entries(500);
  const auto segment = open_whole(encoded(entries));
  ASSERT_TRUE(segment.ok());
  for (const auto& [wanted, unused] : random_entries(777)) {
    const auto expected = std::distance(entries.begin(), entries.lower_bound(wanted));
    ASSERT_EQ(segment->lower_bound(wanted), static_cast<uint32_t>(expected));
  }
}

// Large enough for those found lately to be remembered.
TEST(Segment, AKeyIsFoundAgainAndAgain) {
  const Map entries = random_entries(3000);
  const auto segment = open_whole(encoded(entries));
  ASSERT_TRUE(segment.ok());
  EXPECT_GE(segment->memory_bytes(), segment->size_bytes() + 4096) << "what it remembers counts";
  for (int round = 0; round < 3; ++round) {
    for (const auto& [key, value] : entries) ASSERT_EQ(segment->find(key), value);
    for (const auto& [other, unused] : random_entries(778)) {
      const auto expected = entries.find(other);
      ASSERT_EQ(segment->find(other).data() != nullptr, expected != entries.end());
    }
  }
}

TEST(Segment, KeysAreComparedAsBytesWithoutASign) {
  const auto segment = open_whole(encoded({{"a", "1"}, {"\x7F", "2"}, {"\x80", "3"}}));
  ASSERT_TRUE(segment.ok());
  EXPECT_EQ(segment->key(2), "\x80");
  EXPECT_EQ(segment->find("\x80"), "3");
}

TEST(Segment, AnEmptyOneHasNothing) {
  for (const std::string& bytes : {std::string(), encoded({})}) {
    const auto segment = open_whole(bytes);
    ASSERT_TRUE(segment.ok());
    EXPECT_EQ(segment->size(), 0u);
    EXPECT_EQ(segment->lower_bound("x"), 0u);
    EXPECT_EQ(segment->find("x").data(), nullptr);
    EXPECT_EQ(segment->find("").data(), nullptr);
  }
  EXPECT_EQ(Segment().size(), 0u);
  EXPECT_EQ(Segment().find("").data(), nullptr);
  EXPECT_EQ(Segment().memory_bytes(), 0u);
}

TEST(Segment, ACopySharesItsBytes) {
  auto segment = open_whole(encoded(random_entries(50)));
  ASSERT_TRUE(segment.ok());
  const Segment copy = *segment;
  EXPECT_EQ(copy.bytes().data(), segment->bytes().data());
  *segment = Segment();
  EXPECT_EQ(copy.size(), 50u);
  EXPECT_NE(copy.find(copy.key(7)).data(), nullptr);
}

TEST(Segment, TheBytesAreTheDocumentedOnes) {
  std::string expected("\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0", 24);
  expected += std::string("\x01\0\0\0\x03\0\0\0", 8);
  expected += std::string("\x02\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0", 16);
  expected += "abcxy";
  EXPECT_EQ(encoded({{"a", "xy"}, {"bc", ""}}), expected);
}

// --- bytes that may be anything ------------------------------------------------------------------

// Whether it was refused; what was not is read as a whole.
bool refuses(std::string bytes) {
  const size_t size = bytes.size();
  const auto segment = open_whole(std::move(bytes));
  if (!segment.ok()) {
    EXPECT_EQ(segment.code(), Code::kCorruption);
    return true;
  }
  size_t sum = 0;
  for (uint32_t i = 0; i < segment->size(); ++i) {
    sum += segment->key(i).size() + segment->value(i).size() + 12;
    EXPECT_TRUE(i == 0 || segment->key(i - 1) < segment->key(i));
    EXPECT_EQ(segment->find(segment->key(i)).data(), segment->value(i).data());
  }
  EXPECT_TRUE(size == 0 || sum + 24 == size);
  return false;
}

TEST(Segment, AnyLengthButItsOwnIsRefused) {
  const std::string right = encoded(random_entries(40));
  for (size_t size = 1; size < right.size(); ++size) {
    ASSERT_TRUE(refuses(right.substr(0, size))) << size;
  }
  EXPECT_TRUE(refuses(right + "x"));
  EXPECT_FALSE(refuses(right));
}

TEST(Segment, AnyChangedByteIsRefusedOrHarmless) {
  const std::string right = encoded(random_entries(40));
  for (size_t at = 0; at < right.size(); ++at) {
    for (uint32_t change = 1; change < 256; change += at < 24 + 40 * 12 ? 1 : 17) {
      std::string wrong = right;
      wrong[at] = static_cast<char>(static_cast<uint8_t>(wrong[at]) ^ change);
      (void)refuses(std::move(wrong));
      if (HasFailure()) FAIL() << "byte " << at << " by " << change;
    }
  }
}

TEST(Segment, SizesThatOverflowAreRefused) {
  const std::string right = encoded(random_entries(3));
  for (const size_t at : {size_t{8}, size_t{16}}) {
    for (const uint64_t size : {UINT64_MAX, UINT64_MAX - 100, uint64_t{1} << 63}) {
      std::string wrong = right;
      std::memcpy(wrong.data() + at, &size, sizeof(size));
      EXPECT_TRUE(refuses(wrong)) << at << " " << size;
    }
  }
  for (const uint32_t count : {0u, 2u, 4u, 1000u, UINT32_MAX}) {
    std::string wrong = right;
    std::memcpy(wrong.data(), &count, sizeof(count));
    EXPECT_TRUE(refuses(wrong)) << count;
  }
}

// All sizes agree, modulo 2^64.
TEST(Segment, KeysBehindTheBytesAreRefused) {
  std::string wrong = encoded({{"key", "value"}});
  const uint64_t keys_bytes = wrong.size() + 1000;
  const uint64_t values_bytes = wrong.size() - (24 + 12 + keys_bytes);
  const auto key_end = static_cast<uint32_t>(keys_bytes);
  std::memcpy(wrong.data() + 8, &keys_bytes, sizeof(keys_bytes));
  std::memcpy(wrong.data() + 16, &values_bytes, sizeof(values_bytes));
  std::memcpy(wrong.data() + 24, &key_end, sizeof(key_end));
  std::memcpy(wrong.data() + 28, &values_bytes, sizeof(values_bytes));
  EXPECT_FALSE(open_whole(wrong).ok());
}

TEST(Segment, KeysThatAreNotSortedOrTwiceAreRefused) {
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
           {"b", "a"}, {"a", "a"}, {"ab", "a"}, {"a", ""}}) {
    SegmentBuilder builder;
    builder.add(first, "1");
    builder.add(second, "2");
    EXPECT_TRUE(refuses(builder.encode())) << first << " " << second;
  }
}

}  // namespace
}  // namespace varve::index
