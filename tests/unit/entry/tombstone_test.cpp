#include "entry/tombstone.h"

#include <gtest/gtest.h>

#include <string>

#include "base/hex.h"
#include "base/sha256.h"
#include "entry/entry.h"
#include "json/tree.h"

namespace varve::entry {
namespace {

TEST(Tombstone, IsASealedCanonicalLine) {
  const std::string line = seal_tombstone({"mem_1", "user \"request\"\n", 1768055025678});
  const std::string after =
      R"("id":"mem_1","reason":"user \"request\"\n","timestamp":"2026-01-10T14:23:45.678Z"})";
  EXPECT_EQ(line, "{\"checksum\":\"sha256:" + to_hex(sha256("{", after)) + "\"," + after + "\n");
  EXPECT_EQ(json::Tree::parse(line)->canonical() + "\n", line);
  EXPECT_EQ(check_seal(line), Seal::kRight);
}

TEST(Tombstone, ComesBackAsItWas) {
  json::Document document;
  Tombstone read;
  for (const char* reason : {"", "user request", "é😀\t\"\\", "{\"checksum\":1}"}) {
    std::string line = seal_tombstone({"mem-2", reason, -1});
    line.pop_back();
    const Status status = read_tombstone(line, document, &read);
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(read.id, "mem-2");
    EXPECT_EQ(read.reason, reason);
    EXPECT_EQ(read.timestamp_ms, -1);
  }
}

TEST(Tombstone, HandMadeLinesMayLackChecksumReasonAndTimestamp) {
  json::Document document;
  Tombstone read{"old", "old", 9};
  ASSERT_TRUE(read_tombstone(" { \"id\" : \"a\" }\r", document, &read).ok());
  EXPECT_EQ(read.id, "a");
  EXPECT_EQ(read.reason, "");
  EXPECT_EQ(read.timestamp_ms, 0);
}

TEST(Tombstone, EveryFlippedBitIsNoticed) {
  std::string line = seal_tombstone({"mem_1", "user request", 1768055025678});
  line.pop_back();
  json::Document document;
  Tombstone read;
  for (size_t at = 0; at < line.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = line;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      ASSERT_NE(check_seal(flipped), Seal::kRight) << at;
      const Status status = read_tombstone(flipped, document, &read);
      const bool is_checksum_name = at >= 2 && at < 10;
      ASSERT_TRUE(is_checksum_name || status.code() == Code::kCorruption) << at;
    }
  }
}

TEST(Tombstone, RefusalsAreCorruptionAndSayWhy) {
  const struct {
    const char* line;
    const char* member;
    const char* what;
  } cases[] = {
      {"", "", "empty"},
      {"[]", "", "must be a JSON object"},
      {"{}", "id", "is missing"},
      {R"({"id":"a b"})", "id", "must be an id"},
      {R"({"id":"a","reason":5})", "reason", "must be a string"},
      {R"({"id":"a","timestamp":"now"})", "timestamp", "RFC 3339"},
      {R"({"id":"a","checksum":"sha256:1"})", "checksum", "64 lower-case"},
      {R"({"id":"a","id":"b"})", "id", "appears twice"},
  };
  json::Document document;
  for (const auto& test : cases) {
    Tombstone read;
    const Status status = read_tombstone(test.line, document, &read);
    ASSERT_EQ(status.code(), Code::kCorruption) << test.line;
    EXPECT_EQ(status.place().member, test.member) << test.line;
    EXPECT_NE(status.message().find(test.what), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace varve::entry
