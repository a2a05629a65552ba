// SessionTotals: what the sessions that are not open hold, by their last saved metadata.json. None
// of them is opened.
//
// Looking at all sessions takes about 15 us each. So what was found stays valid for a hundred times
// as long as finding it took: at most a hundredth of the time is spent looking. A session that this
// store opens, closes, sweeps or deletes meanwhile is counted as it is: it is left out, or read
// again alone.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

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

  // Totals of all sessions except those that are `open`, or of those found the last time.
  Result<Totals> of_others(log::Engine& engine, const std::unordered_set<std::string>& open);

  // This session was opened, closed, swept or deleted here: what was found of it no longer counts.
  // Never waits for a look.
  void note_change(const std::string& id);

 private:
  struct Found {
    uint64_t id_hash = 0;
    uint64_t entries = 0;
    uint64_t size_bytes = 0;
  };

  Status look(log::Engine& engine, const std::unordered_set<std::string>& open);
  // True: what was found is valid, except of those in *changed.
  bool take_changes(int64_t now_us, std::unordered_set<std::string>* changed);
  void note_open(const std::unordered_set<std::string>& open);
  void read_again(log::Engine& engine, const std::string& id);
  [[nodiscard]] Totals without(const std::unordered_set<std::string>& open) const;
  [[nodiscard]] std::vector<Found>::const_iterator find(const std::string& id) const;

  Clock& clock_;
  std::mutex mutex_;  // guards the rest; held while looking, so that one look serves all who wait
  std::vector<Found> found_;  // by id_hash

  std::mutex changed_mutex_;                 // guards the rest
  std::unordered_set<std::string> changed_;  // to be read again, unless they are open
  int64_t valid_until_us_ = 0;               // changes are noted until then
  bool is_looking_ = false;                  // and while somebody looks
};

}  // namespace varve::store
