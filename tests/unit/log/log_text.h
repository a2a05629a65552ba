// A log in memory with given bytes, and sealed lines to make it of.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "entry/entry.h"
#include "entry/tombstone.h"
#include "log/memory_storage.h"
#include "support/environment.h"

namespace varve::log {

class LogText {
 public:
  LogText() = default;
  explicit LogText(std::string_view entries) { session_->entries = entries; }

  MemorySession& session() { return *session_; }
  MemoryStorage& storage() { return storage_; }

 private:
  test::ManualClock clock_;
  std::shared_ptr<MemorySession> session_ = std::make_shared<MemorySession>();
  MemoryStorage storage_{session_, clock_};
};

// The sealed line of an entry, with its newline.
inline std::string line_of(std::string_view id, uint64_t seq = 1, entry::Batch batch = {},
                           std::string_view content = "hello") {
  static test::ManualClock clock;
  static test::SeededRandom random;
  static IdGenerator ids(clock, random);
  json::Document scratch;
  entry::DraftOptions options;
  options.session_id = "sess_1";
  options.now_ms = test::kStartMs;
  options.entry_bytes_max = 0;
  auto draft = entry::draft(R"({"type":"message","content":")" + std::string(content) +
                                R"(","id":")" + std::string(id) + "\"}",
                            options, ids, scratch);
  EXPECT_TRUE(draft.ok()) << draft.status().message();
  return draft.ok() ? entry::seal(*draft, seq, batch) : "";
}

inline std::string tombstone_of(std::string_view id) {
  return entry::seal_tombstone({std::string(id), "why", test::kStartMs});
}

}  // namespace varve::log
