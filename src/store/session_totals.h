// SessionTotals: what the sessions of a store that are not open hold, by their metadata.json as it
// was last saved; none of them is opened.
//
// Looking at every session takes time that grows with their number (about 15 us each), so what was
// found is kept until a hundred times as long as it took has passed: at most a hundredth of the
// time is spent looking.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>

#include "base/environment.h"
#include "base/result.h"
#include "log/storage.h"

namespace varve::store {

class SessionTotals {
 public:
  struct Totals {
    uint64_t sessions = 0;
    uint64_t entries = 0;
    uint64_t size_bytes = 0;
  };

  explicit SessionTotals(Clock& clock) : clock_(clock) {}

  // Of all sessions but those of `left_out`, or what was found the last time.
  Result<Totals> of_others(log::Engine& engine, const std::unordered_set<std::string>& left_out);

 private:
  Clock& clock_;
  std::mutex mutex_;  // guards the rest; held while looking: one look serves all who wait
  Totals found_;
  int64_t valid_until_us_ = 0;
};

}  // namespace varve::store
