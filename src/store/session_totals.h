// SessionTotals: what the sessions that are not open hold, by their last saved metadata.json. None
// of them is opened.
//
// Looking at all sessions takes about 15 us each. So what was found stays valid for a hundred times
// as long as finding it took: at most a hundredth of the time is spent looking.
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

  // Totals of all sessions except `left_out`, or what was found the last time.
  Result<Totals> of_others(log::Engine& engine, const std::unordered_set<std::string>& left_out);

 private:
  Clock& clock_;
  std::mutex mutex_;  // guards the rest; held while looking, so that one look serves all who wait
  Totals found_;
  int64_t valid_until_us_ = 0;
};

}  // namespace varve::store
