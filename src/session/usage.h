// Usage: what entries say a model call took, and its sums.
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

// Sums do not depend on the order in which they are made: money is counted in whole nano-dollars.
struct Usage {
  uint64_t entries = 0;  // that carry it
  uint64_t input_tokens = 0;
  uint64_t output_tokens = 0;
  uint64_t cost_nano_usd = 0;

  void add(const Usage& other) noexcept;  // stays at its largest value rather than go around
  // Sets "entries", "input_tokens", "output_tokens" and "cost_usd" of an object.
  void write_to(json::Tree& object) const;
};

// What an entry carries: the member "usage" of it, or of its content (where an imported chat has
// it): {"input_tokens" or "prompt_tokens", "output_tokens" or "completion_tokens", "cost_usd"}.
// Members that are missing, negative or no numbers count as 0; nothing when there is none of them.
std::optional<Usage> read_usage(json::Value entry);

// Sums by day, in UTC: days since 1970-01-01.
using UsageByDay = std::map<int64_t, Usage>;

// The usage of a session's entries. It is read from the log when it is first asked for, then what
// was added since; only rows that carry some are kept. The log decides: entries that were deleted
// or have expired do not count.
//
// Threads: any; one of them reads while others wait.
class UsageTable {
 public:
  explicit UsageTable(Core& core) : core_(core) {}

  // Of entries with start_ms <= timestamp < end_ms. A damaged entry is passed over.
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
