// A generator of ids with a fixed clock, and drafting with it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "entry/entry.h"

namespace varve::entry {

inline constexpr int64_t kNowMs = 1768055025678;  // 2026-01-10T14:23:45.678Z

class FixedClock final : public Clock {
 public:
  int64_t now_ms() override { return kNowMs; }
  int64_t monotonic_us() override { return 0; }
  void sleep_us(int64_t) override {}
};

class CountingRandom final : public Random {
 public:
  void fill(std::span<uint8_t> bytes) override {
    for (uint8_t& byte : bytes) byte = state_ = static_cast<uint8_t>(state_ * 73 + 41);
  }

 private:
  uint8_t state_ = 7;
};

inline void expect_same_facts(const EntryFacts& a, const EntryFacts& b, std::string_view what) {
  EXPECT_EQ(a.id, b.id) << what;
  EXPECT_EQ(a.type, b.type) << what;
  EXPECT_EQ(a.timestamp_ms, b.timestamp_ms) << what;
  EXPECT_EQ(a.expires_at_ms, b.expires_at_ms) << what;
  EXPECT_EQ(a.importance, b.importance) << what;
  EXPECT_EQ(a.seq, b.seq) << what;
  EXPECT_EQ(a.batch.count, b.batch.count) << what;
  EXPECT_EQ(a.batch.index, b.batch.index) << what;
  EXPECT_EQ(a.sealed, b.sealed) << what;
  EXPECT_EQ(a.tags, b.tags) << what;
  EXPECT_EQ(a.references, b.references) << what;
  ASSERT_EQ(a.relations.size(), b.relations.size()) << what;
  for (size_t i = 0; i < a.relations.size(); ++i) {
    EXPECT_EQ(a.relations[i].name, b.relations[i].name) << what;
    EXPECT_EQ(a.relations[i].ids, b.relations[i].ids) << what;
  }
  EXPECT_EQ(a.trace_id, b.trace_id) << what;
  EXPECT_EQ(a.content_keys, b.content_keys) << what;
}

class EntryFixture : public testing::Test {
 protected:
  EntryFixture() {
    options_.session_id = "sess_1";
    options_.now_ms = kNowMs;
  }

  Result<Draft> make(std::string_view text) { return draft(text, options_, ids_, document_); }

  // The sealed line of `text`, without its newline.
  std::string sealed(std::string_view text, uint64_t seq = 1, Batch batch = {}) {
    auto result = make(text);
    EXPECT_TRUE(result.ok()) << result.status().message();
    if (!result.ok()) return {};
    std::string line = seal(*result, seq, batch);
    EXPECT_EQ(line.back(), '\n');
    line.pop_back();
    return line;
  }

  FixedClock clock_;
  CountingRandom random_;
  IdGenerator ids_{clock_, random_};
  DraftOptions options_;
  json::Document document_;
};

}  // namespace varve::entry
