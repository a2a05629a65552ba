// SessionEvents: what one session tells the host's log and its counters: what happened, what
// failed, and each time that it comes near its size limit or that the disk stops taking entries.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "json/tree.h"
#include "log/storage.h"
#include "session/event_log.h"

namespace varve::session {

// All of it from any thread, under any lock.
class SessionEvents {
 public:
  // Both outlive it.
  SessionEvents(std::string session_id, EventLog& log, Counters& counters);

  [[nodiscard]] bool wants(Level level) const { return log_.wants(level); }
  void post(Level level, std::string_view message, json::Tree details = json::Tree::object());
  // Counts and posts a failure of the disk, or damage, that ended a call; others are the caller's
  // own and left out.
  void note_failure(const Status& failure, std::string_view message) noexcept;

  // Warns once when `size_bytes` has come near the limit, and again after it was smaller.
  void watch_size(uint64_t size_bytes, uint64_t limit_bytes) noexcept;
  // Posts when entries begin to be kept in memory because the disk fails, and when it has them all.
  void watch_durability(const log::SessionStorage& storage) noexcept;

 private:
  const std::string session_id_;
  EventLog& log_;
  Counters& counters_;
  std::atomic<bool> is_near_limit_{false};
  std::atomic<bool> is_undurable_{false};
};

}  // namespace varve::session
