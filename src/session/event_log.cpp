#include "session/event_log.h"

#include <deque>
#include <utility>

#include "base/time.h"

namespace varve::session {

namespace {

constexpr size_t kUndeliveredMax = 1000;

std::string_view level_name(Level level) {
  switch (level) {
    case Level::kDebug: return "DEBUG";
    case Level::kInfo: return "INFO";
    case Level::kWarn: return "WARN";
    case Level::kError:
    case Level::kOff: break;
  }
  return "ERROR";
}

}  // namespace

void EventLog::set_receiver(Level level, LogFunction function, void* user_data) {
  const std::lock_guard guard(mutex_);
  function_ = function;
  user_data_ = user_data;
  level_.store(static_cast<int32_t>(function == nullptr ? Level::kOff : level));
  if (function == nullptr) lines_.clear();
}

void EventLog::post(Level level, std::string_view component, std::string_view session_id,
                    std::string_view message, json::Tree metadata) {
  if (!wants(level)) return;
  json::Tree line = json::Tree::object();
  line.set("timestamp", json::Tree::string(format_rfc3339(clock_.now_ms())));
  line.set("level", json::Tree::string(level_name(level)));
  line.set("component", json::Tree::string(component));
  line.set("session_id", json::Tree::string(session_id));
  line.set("message", json::Tree::string(message));
  line.set("metadata", std::move(metadata));
  const std::lock_guard guard(mutex_);
  if (lines_.size() == kUndeliveredMax) lines_.pop_front();
  lines_.push_back({static_cast<int32_t>(level), line.canonical()});
  pending_.store(true, std::memory_order_release);
}

void EventLog::deliver() {
  while (pending_.load(std::memory_order_acquire)) {
    std::deque<Line> lines;
    LogFunction function = nullptr;
    void* user_data = nullptr;
    {
      const std::lock_guard guard(mutex_);
      lines.swap(lines_);
      pending_.store(false, std::memory_order_release);
      function = function_;
      user_data = user_data_;
    }
    if (function == nullptr) return;
    for (const Line& line : lines) {
      function(user_data, line.level, line.text.data(), line.text.size());
    }
  }
}

}  // namespace varve::session
