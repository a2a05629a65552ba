#include "log/lock_state.h"

#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"
#include "entry/entry.h"
#include "json/tree.h"

namespace varve::log {
namespace {

LockState sample() {
  LockState state;
  state.process_id = 4711;
  state.boot_id = "2a9c0e5e-0000-4000-8000-1234567890ab";
  state.operation = "write";
  state.timestamp_ms = 1768055025678;
  state.expires_at_ms = 1768055030678;
  state.file = {2049, 131};
  state.durable_bytes = 123456789;
  state.last_seq = 42;
  state.suspect = true;
  state.catalogued_count = 3;
  return state;
}

TEST(LockState, RoundTrip) {
  const std::string text = encode_lock_state(sample());
  EXPECT_EQ(text.size(), kLockStateBytes);
  EXPECT_EQ(text.back(), '\n');
  const auto read = decode_lock_state(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->process_id, 4711);
  EXPECT_EQ(read->boot_id, sample().boot_id);
  EXPECT_EQ(read->operation, "write");
  EXPECT_EQ(read->timestamp_ms, 1768055025678);
  EXPECT_EQ(read->expires_at_ms, 1768055030678);
  EXPECT_EQ(read->file, (io::FileIdentity{2049, 131}));
  EXPECT_EQ(read->durable_bytes, 123456789u);
  EXPECT_EQ(read->last_seq, 42u);
  EXPECT_TRUE(read->suspect);
  EXPECT_EQ(read->catalogued_count, 3u);
}

TEST(LockState, OfASessionThatNobodyCataloguedThatIsNotSaid) {
  LockState state = sample();
  state.catalogued_count = 0;
  const std::string text = encode_lock_state(state);
  EXPECT_EQ(text.find("catalogued"), std::string::npos);
  EXPECT_EQ(decode_lock_state(text)->catalogued_count, 0u);
}

TEST(LockState, TheLargestValuesFit) {
  LockState state = sample();
  state.process_id = INT64_MAX;
  state.operation = std::string(500, 'x');
  state.boot_id = std::string(36, 'b');
  state.file = {UINT64_MAX, UINT64_MAX};
  state.durable_bytes = INT64_MAX;
  state.last_seq = entry::kSeqMax / 2;
  state.catalogued_count = INT64_MAX;
  const std::string text = encode_lock_state(state);
  EXPECT_EQ(text.size(), kLockStateBytes);
  const auto read = decode_lock_state(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->operation.size(), 32u);
  EXPECT_EQ(read->file, state.file);
  EXPECT_EQ(read->catalogued_count, state.catalogued_count);
  EXPECT_EQ(read->last_seq, state.last_seq);
}

TEST(LockState, ASeqThatLeavesNewEntriesNoNumbersIsNotBelieved) {
  for (const uint64_t seq : {entry::kSeqMax / 2 + 1, entry::kSeqMax - 1, entry::kSeqMax}) {
    LockState state = sample();
    state.last_seq = seq;
    const auto read = decode_lock_state(encode_lock_state(state));
    ASSERT_TRUE(read.has_value()) << seq;
    EXPECT_EQ(read->last_seq, 0u) << seq;
    EXPECT_EQ(read->durable_bytes, sample().durable_bytes) << seq;
    EXPECT_TRUE(read->suspect) << seq;
  }
}

TEST(LockState, IsCanonicalJsonWhoseCheckIsOfTheRest) {
  LockState odd = sample();
  odd.boot_id = "a \"quoted\" \\ one\n";
  odd.operation = "\x01";
  odd.process_id = -1;
  odd.suspect = false;
  for (const LockState& state : {sample(), odd, LockState()}) {
    const std::string text = encode_lock_state(state);
    auto tree = json::Tree::parse(text);
    ASSERT_TRUE(tree.ok()) << text;
    std::string canonical = tree->canonical();
    canonical.resize(kLockStateBytes - 1, ' ');
    EXPECT_EQ(text, canonical + "\n");
    const std::string check = tree->get_string("check");
    tree->erase("check");
    EXPECT_EQ(check, std::to_string(hash64(tree->canonical())));
  }
}

TEST(LockState, AnotherFormOfTheSameIsRead) {
  const auto tree = json::Tree::parse(encode_lock_state(sample()));
  std::string pretty = tree->pretty();
  ASSERT_LT(pretty.size(), kLockStateBytes);
  pretty.resize(kLockStateBytes, ' ');
  const auto read = decode_lock_state(pretty);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(encode_lock_state(*read), encode_lock_state(sample()));
}

TEST(LockState, ANumberThatNoLogReachesIsNoState) {
  LockState state = sample();
  state.last_seq = uint64_t{1} << 53;
  EXPECT_FALSE(decode_lock_state(encode_lock_state(state)).has_value());
}

TEST(LockState, AFileThatIsNotNamedByTwoNumbersIsNoStateHoweverRightTheCheck) {
  for (const std::string name : {"x:131", "2049:x", "2049", "2049:131x", ""}) {
    auto tree = *json::Tree::parse(encode_lock_state(sample()));
    tree.erase("check");
    tree.set("file", json::Tree::string(name));
    tree.set("check", json::Tree::string(std::to_string(hash64(tree.canonical()))));
    std::string text = tree.canonical();
    text.resize(kLockStateBytes, ' ');
    EXPECT_FALSE(decode_lock_state(text).has_value()) << name;
  }
}

TEST(LockState, AnyFlippedBitIsNoStateOrTheSame) {
  const std::string text = encode_lock_state(sample());
  for (size_t bit = 0; bit < text.size() * 8; ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
    const auto read = decode_lock_state(flipped);
    // White space may become other white space.
    if (read) {
      ASSERT_EQ(encode_lock_state(*read), text) << "bit " << bit;
    }
  }
}

TEST(LockState, TornAndForeignBytesAreNoState) {
  const std::string text = encode_lock_state(sample());
  LockState later = sample();
  later.last_seq = 43;
  later.durable_bytes = 123456999;
  later.operation = "delete";
  const std::string next = encode_lock_state(later);
  for (size_t cut = 0; cut <= text.size(); ++cut) {
    const auto torn = decode_lock_state(next.substr(0, cut) + text.substr(cut));
    if (torn) {
      EXPECT_TRUE(torn->last_seq == (torn->operation == "delete" ? 43u : 42u)) << cut;
    }
    if (cut < text.size()) {
      EXPECT_FALSE(decode_lock_state(text.substr(0, cut)).has_value());
    }
  }
  EXPECT_FALSE(decode_lock_state(text + " ").has_value());
  for (const char fill : {'\0', ' ', 'x', '{'}) {
    EXPECT_FALSE(decode_lock_state(std::string(kLockStateBytes, fill)).has_value());
  }
  for (std::string other : {R"({"pid":1})", R"({"file":7})", "[]", "7"}) {
    other.resize(kLockStateBytes, ' ');
    EXPECT_FALSE(decode_lock_state(other).has_value()) << other;
  }
}

}  // namespace
}  // namespace varve::log
