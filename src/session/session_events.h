// SessionEvents: what one session reports to the host's log and its counters: events, failures, and
// each time it comes near its size limit or the disk stops taking entries.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "json/tree.h"
#include "log/storage.h"
#include "session/counters.h"
#include "session/event_log.h"

namespace varve::session {

// Whether a call ended because the disk did not take or give what it should.
[[nodiscard]] bool is_of_disk(Code code) noexcept;

// What one failure is told with.
struct FailureLine {
  std::string_view component;
  std::string_view session_id;
  std::string_view message;
};

// Counts and posts a failure of the disk, or damage, that ended a call. Other failures are the
// caller's own and are not posted. Any thread, under any lock.
void note_failure(const Status& failure, const FailureLine& line, EventLog& log,
                  Counters& counters) noexcept;

// All members: any thread, under any lock.
class SessionEvents {
 public:
  // `log` and `counters` outlive it.
  SessionEvents(std::string session_id, EventLog& log, Counters& counters);

  [[nodiscard]] bool wants(Level level) const { return log_.wants(level); }
  void post(Level level, std::string_view message, json::Tree details = json::Tree::object());
  // As the function of this name, for this session.
  void note_failure(const Status& failure, std::string_view message) noexcept;

  // Warns once when `size_bytes` comes near the limit, and again after it was below in between.
  void watch_size(uint64_t size_bytes, uint64_t limit_bytes) noexcept;
  // Posts when a failing disk makes entries stay in memory, and when the disk has them all.
  void watch_durability(const log::SessionStorage& storage) noexcept;

 private:
  const std::string session_id_;
  EventLog& log_;
  Counters& counters_;
  std::atomic<bool> is_near_limit_{false};
  std::atomic<bool> is_undurable_{false};
};

}  // namespace varve::session
