// EventLog: log lines for the host, as JSON objects (docs/operations.md#log-lines).
//
// Events are posted where they happen, often under a lock, and delivered by the API boundary when
// the call that caused them is done: the host's function never runs under a lock of ours.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "json/tree.h"

namespace varve::session {

enum class Level : int32_t { kDebug = 0, kInfo = 1, kWarn = 2, kError = 3, kOff = 4 };

using LogFunction = void (*)(void* user_data, int32_t level, const char* json_line, size_t len);

class EventLog {
 public:
  explicit EventLog(Clock& clock) : clock_(clock) {}

  void set_receiver(Level level, LogFunction function, void* user_data);
  [[nodiscard]] bool wants(Level level) const {
    return static_cast<int32_t>(level) >= level_.load(std::memory_order_relaxed);
  }
  // Cheap when nobody listens. Keeps at most 1000 undelivered lines; the oldest go first.
  void post(Level level, std::string_view component, std::string_view session_id,
            std::string_view message, json::Tree metadata = json::Tree::object());
  [[nodiscard]] bool has_lines() const noexcept { return pending_.load(std::memory_order_acquire); }
  // Calls the receiver for every posted line, on this thread. Call it under no lock.
  void deliver();

 private:
  struct Line {
    int32_t level;
    std::string text;
  };
  Clock& clock_;
  std::atomic<int32_t> level_{static_cast<int32_t>(Level::kOff)};
  std::atomic<bool> pending_{false};
  std::mutex mutex_;
  LogFunction function_ = nullptr;
  void* user_data_ = nullptr;
  std::deque<Line> lines_;
};

}  // namespace varve::session
