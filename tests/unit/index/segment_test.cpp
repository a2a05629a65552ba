#include "index/segment.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "segment_fixture.h"

namespace varve::index {
namespace {

using std::literals::operator""s;
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
  while (entries.size() < count) entries["k" + text(12, 3) + text(3, 256)] = text(20, 256);
  return entries;
}

TEST(Segment, FindsWhatWasAddedAndNothingElse) {
  for (const uint32_t count : {0u, 1u, 2u, 3u, 100u, 3000u}) {
    const Map entries = random_entries(count);
    const auto segment = open_whole(encoded(entries));
    ASSERT_TRUE(segment.ok()) << segment.status().message();
    ASSERT_EQ(segment->size(), count);
    SegmentCursor cursor(*segment);
    for (const auto& [key, value] : entries) {
      ASSERT_FALSE(cursor.at_end());
      ASSERT_EQ(cursor.key(), key);
      ASSERT_EQ(cursor.value(), value);
      ASSERT_NE(segment->find(key).data(), nullptr) << "also an empty value is there";
      ASSERT_EQ(segment->find(key), value);
      if (!entries.contains(key + '\0')) {
        ASSERT_EQ(segment->find(key + '\0').data(), nullptr);
      }
      cursor.next();
    }
    EXPECT_TRUE(cursor.at_end());
  }
}

// Whatever its value's length takes, and wherever its group's other keys are marked.
TEST(Segment, AMarkIsOfItsKeyAlone) {
  std::map<std::string, std::pair<size_t, bool>> keys;  // length of the value, and the mark
  for (uint32_t i = 0; i < 300; ++i) {
    keys["k" + std::to_string(i)] = {1 + i * i % 9000, i % 3 == 0};
  }
  SegmentBuilder builder;
  for (const auto& [key, is] : keys) builder.add(key, std::string(is.first, 'v'), is.second);
  builder.add("last", "");
  const auto segment = open_whole(builder.encode());
  ASSERT_TRUE(segment.ok()) << segment.status().message();
  SegmentCursor cursor(*segment);
  for (const auto& [key, is] : keys) {
    EXPECT_EQ(cursor.is_marked(), is.second) << key;
    EXPECT_EQ(segment->is_marked(key), is.second) << key;
    EXPECT_EQ(segment->find(key).size(), is.first) << key;
    cursor.next();
  }
  EXPECT_FALSE(cursor.is_marked()) << "nor is one without a value";
  EXPECT_FALSE(segment->is_marked("none"));
}

// Whether a cursor that begins at `wanted` goes on as a sorted map does.
void expect_lower_bound(const Segment& segment, const Map& entries, const std::string& wanted) {
  auto expected = entries.lower_bound(wanted);
  SegmentCursor cursor(segment, wanted);
  for (int steps = 0; steps < 20 && expected != entries.end(); ++steps, ++expected) {
    ASSERT_FALSE(cursor.at_end());
    ASSERT_EQ(cursor.key(), expected->first);
    ASSERT_EQ(cursor.value(), expected->second);
    cursor.next();
  }
  ASSERT_EQ(cursor.at_end(), expected == entries.end());
}

TEST(Segment, ACursorBeginsWhereASortedMapDoes) {
  for (const uint32_t count : {0u, 1u, 15u, 16u, 17u, 32u, 500u}) {
    const Map entries = random_entries(count);
    const auto segment = open_whole(encoded(entries));
    ASSERT_TRUE(segment.ok());
    for (const auto& [wanted, unused] : random_entries(777)) {
      expect_lower_bound(*segment, entries, wanted);
    }
    for (const auto& [key, unused] : entries) {
      expect_lower_bound(*segment, entries, key);
      expect_lower_bound(*segment, entries, key + '\0');
    }
    expect_lower_bound(*segment, entries, "");
    expect_lower_bound(*segment, entries, std::string(20, '\xFF'));
  }
}

// Many groups begin with the same eight bytes, of which some are those of keys that end there.
TEST(Segment, KeysThatBeginAlikeAreToldApart) {
  Map entries;
  for (int i = 0; i < 3000; ++i) entries["c\0same: "s + std::to_string(i)] = std::to_string(i);
  for (size_t length = 0; length < 40; ++length) entries["a" + std::string(length, '\0')] = "zeros";
  for (size_t length = 1; length < 40; ++length) entries[std::string(length, 'b')] = "letters";
  const auto segment = open_whole(encoded(entries));
  ASSERT_TRUE(segment.ok());
  for (const auto& [key, value] : entries) {
    ASSERT_EQ(segment->find(key), value);
    for (const auto& other : {key + "x", key + '\0', key.substr(0, key.size() / 2)}) {
      const auto expected = entries.find(other);
      ASSERT_EQ(segment->find(other).data() != nullptr, expected != entries.end());
      expect_lower_bound(*segment, entries, other);
    }
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
  EXPECT_EQ(segment->find("\x80"), "3");
}

TEST(Segment, AnEmptyOneHasNothing) {
  for (const std::string& bytes : {std::string(), encoded({})}) {
    const auto segment = open_whole(bytes);
    ASSERT_TRUE(segment.ok());
    EXPECT_EQ(segment->size(), 0u);
    EXPECT_TRUE(SegmentCursor(*segment).at_end());
    EXPECT_TRUE(SegmentCursor(*segment, "x").at_end());
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
  EXPECT_NE(copy.find(SegmentCursor(copy).key()).data(), nullptr);
}

TEST(Segment, TheBytesAreTheDocumentedOnes) {
  std::string expected("\x03\0\0\0\0\0\0\0\x0a\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0", 24);
  expected += std::string("a\0\0\0\0\0\0\0", 8);
  expected += std::string("\0\0\0\0\0\0\0\0", 8);
  expected += std::string("\0\0\0\0", 4);
  expected += std::string(
      "\x90\x04"
      "a"
      "\x30"
      "bcd"
      "\x92\x02"
      "e",
      10);
  expected += "xyz";
  EXPECT_EQ(encoded({{"a", "xy"}, {"bcd", ""}, {"bce", "z"}}), expected);
  SegmentBuilder marked;
  marked.add("a", "xy", true);
  marked.add("bcd", "");
  marked.add("bce", "z");
  expected.replace(expected.find("\x90\x04"), 2, "\x90\x05");
  EXPECT_EQ(marked.encode(), expected);
}

// Lengths beyond what the first byte can say.
TEST(Segment, LongKeysAreTheDocumentedOnesToo) {
  const std::string bytes = encoded(
      {{"0123456789abcdefg", "v"}, {"0123456789abcdefh", ""}, {"0123456789abcdxxxxxxxx", ""}});
  EXPECT_EQ(bytes.substr(24 + 20), std::string("\xF0\x0A\x02"
                                               "0123456789abcdefg"
                                               "\x1F\x01h"
                                               "\x7E\x01xxxxxxxx"
                                               "v"));
}

// As many as fit a group, and one more.
TEST(Segment, EachGroupOfKeysBeginsAnew) {
  Map entries;
  for (char c = '0'; c < '0' + 48; ++c) entries[std::string("common") + c] = "v";
  const std::string one = encoded(entries);
  entries["commonq"] = "v";
  const std::string two = encoded(entries);
  EXPECT_EQ(one.size(), 24 + 20 + (3 + 7 + 1) + 47 * (2 + 1 + 1));
  EXPECT_EQ(two.size(), one.size() + 20 + (3 + 7 + 1)) << "the key stands whole, and is found";
  const uint64_t head = 0x6e6f6d6d6f63;  // "common", as it lies there, and two more
  uint64_t second = 0;
  std::memcpy(&second, two.data() + 24 + 8, sizeof(second));
  EXPECT_EQ(second & 0xffffffffffff, head);
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
  size_t count = 0;
  std::string last;
  for (SegmentCursor cursor(*segment); !cursor.at_end(); cursor.next()) {
    EXPECT_TRUE(count == 0 || last < cursor.key());
    EXPECT_EQ(segment->find(cursor.key()).data(), cursor.value().data());
    EXPECT_LE(cursor.key().size() + cursor.value().size(), size);
    last = cursor.key();
    count += 1;
  }
  EXPECT_EQ(count, segment->size());
  EXPECT_FALSE(segment->is_damaged());
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
    for (uint32_t change = 1; change < 256; change += at < 24 + 3 * 20 + 200 ? 1 : 17) {
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
  const uint64_t values_bytes = wrong.size() - (24 + 20 + keys_bytes);
  std::memcpy(wrong.data() + 8, &keys_bytes, sizeof(keys_bytes));
  std::memcpy(wrong.data() + 16, &values_bytes, sizeof(values_bytes));
  EXPECT_FALSE(open_whole(wrong).ok());
}

// With every byte of a small one changed, and nothing checked as a whole: look-ups and cursors stay
// within the bytes, and end.
TEST(Segment, WhatWasNotCheckedAsAWholeIsStillSafe) {
  const Map entries = random_entries(40);
  const std::string right = encoded(entries);
  for (size_t at = 0; at < right.size(); ++at) {
    for (const uint32_t change : {1u, 0x80u, 0xFFu}) {
      std::string wrong = right;
      wrong[at] = static_cast<char>(static_cast<uint8_t>(wrong[at]) ^ change);
      const auto segment = Segment::open(std::make_shared<SectionBytes>(std::move(wrong)));
      if (!segment.ok()) continue;
      size_t found_bytes = 0;
      for (const auto& [key, unused] : entries) {
        found_bytes += segment->find(key).size();
        SegmentCursor cursor(*segment, key);
        size_t count = 0;
        for (; !cursor.at_end(); cursor.next()) found_bytes += cursor.value().size() + ++count;
        ASSERT_LE(count, right.size());
      }
      ASSERT_GE(found_bytes, 0U);
    }
  }
}

// Everything is as long as it says; keys are not what their groups or neighbours tell.
TEST(Segment, WhatOnlyAWholeReadingSeesIsRefused) {
  Map entries;
  for (int i = 0; i < 60; ++i) entries["key" + std::to_string(100 + i)] = std::to_string(i);
  const std::string right = encoded(entries);
  const size_t groups = 2;
  const auto refused_with = [&](size_t at, const std::string& bytes, const std::string& why) {
    std::string wrong = right;
    wrong.replace(at, bytes.size(), bytes);
    const auto segment = open_whole(wrong);
    EXPECT_EQ(segment.status().message(), "index.bin: a dictionary " + why);
  };
  const size_t value_starts = 24 + groups * 8;
  const size_t key_starts = value_starts + groups * 8;
  const size_t keys = key_starts + groups * 4;
  refused_with(24, "kex", "has a group that starts with another key");
  refused_with(value_starts + 8, "\1", "has a group that begins at the wrong byte");
  refused_with(key_starts + 4, "\1", "has a group that begins at the wrong byte");
  const size_t second = keys + 2 + 6;
  refused_with(keys, "\xE1", "has an entry outside itself");
  refused_with(second, "\x97", "has an entry outside itself");
  refused_with(second + 1, "\x7F", "has an entry outside itself");
  refused_with(second + 2, "0", "is not sorted");
  refused_with(keys + 1, "\0"s, "has a group that begins at the wrong byte");
  refused_with(16, "\x6F", "does not have the size it states");
}

// One key, one way to write it: look-ups rely on that.
TEST(Segment, AKeyThatSharesMoreThanItSaysIsRefused) {
  std::string wrong = encoded({{"aab", ""}, {"aacc", ""}});
  const size_t second = 24 + 20 + 1 + 3;
  ASSERT_EQ(wrong.substr(second),
            "\x22"
            "cc");
  wrong.replace(second, 3,
                "\x31"
                "acc");
  wrong[8] += 1;
  const auto segment = open_whole(wrong);
  EXPECT_EQ(
      segment.status().message(),
      "index.bin: a dictionary has a key that shares more with the key before than it states");
}

// Who reads keys takes their first byte for what they are.
TEST(Segment, AnEmptyKeyIsRefused) {
  SegmentBuilder builder;
  builder.add("", "1");
  builder.add("a", "2");
  EXPECT_EQ(open_whole(builder.encode()).status().message(),
            "index.bin: a dictionary has an empty key");
}

TEST(Segment, KeysThatAreNotSortedOrTwiceAreRefused) {
  for (const auto& [first, second] :
       std::vector<std::pair<std::string, std::string>>{{"b", "a"}, {"a", "a"}, {"ab", "a"}}) {
    SegmentBuilder builder;
    builder.add(first, "1");
    builder.add(second, "2");
    EXPECT_TRUE(refuses(builder.encode())) << first << " " << second;
  }
}

}  // namespace
}  // namespace varve::index
