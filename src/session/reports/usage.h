// Usage: what entries say their model calls took, and sums of it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "base/result.h"
#include "json/document.h"
#include "json/tree.h"

namespace varve::session {

class Core;

// Sums do not depend on the order of adding: money is counted in whole nano-dollars.
struct Usage {
  uint64_t entries = 0;  // entries with usage
  uint64_t input_tokens = 0;
  uint64_t output_tokens = 0;
  uint64_t cost_nano_usd = 0;

  void add(const Usage& other) noexcept;  // stays at the largest value instead of overflowing
  // Sets "entries", "input_tokens", "output_tokens" and "cost_usd" of an object.
  void write_to(json::Tree& object) const;
};

// What an entry says: its member "usage", or that of its content (where an imported chat has it):
// {"input_tokens" or "prompt_tokens", "output_tokens" or "completion_tokens", "cost_usd"}. Members
// that are missing, negative or no numbers count as 0. Nothing when it has none of them.
std::optional<Usage> read_usage(json::Value entry);

// Sums by day, in UTC: days since 1970-01-01.
using UsageByDay = std::map<int64_t, Usage>;

// The usage of a session's entries, read from the log when it is first asked for; later calls read
// what was added since. Only rows with usage are kept. Entries that were deleted or have expired do
// not count.
//
// Threads: any; one reads while others wait.
class UsageTable {
 public:
  explicit UsageTable(Core& core) : core_(core) {}

  // For entries with start_ms <= timestamp < end_ms. A damaged entry is passed over.
  Result<UsageByDay> by_day(int64_t start_ms, int64_t end_ms);

 private:
  struct Row {
    uint32_t row;
    Usage usage;
  };

  Status read_rows();
  Status read_some(uint32_t end);
  bool is_current() const;  // under the index lock

  Core& core_;
  std::mutex mutex_;  // guards the rest
  uint64_t epoch_ = 0;
  uint64_t generation_ = 0;
  uint32_t next_row_ = 0;
  std::vector<Row> rows_;
};

}  // namespace varve::session
