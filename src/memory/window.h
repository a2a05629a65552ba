// Window: the last messages of a conversation, up to a number, in memory only.
//
// Threads: any. Adding is O(1) in the number of messages kept; readers share a lock with each
// other.
#pragma once

#include <cstddef>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "memory/ring.h"

namespace varve::memory {

class Window {
 public:
  // `capacity` is at least 1. `clock` gives the time of messages without one, and must outlive the
  // window.
  Window(size_t capacity, Clock& clock) : clock_(clock), messages_(capacity) {}

  // When the window is full, the oldest message leaves. errors: see read_message (message.h).
  Status add(std::string_view message_json);
  // A JSON array of the newest `count_max` messages, in the order of adding.
  [[nodiscard]] std::string recent(size_t count_max) const;
  // Every message as its prompt_line (message.h).
  [[nodiscard]] std::string text() const;
  void clear();
  [[nodiscard]] size_t size() const;

 private:
  struct Kept {
    std::string json;  // canonical
    std::string line;  // for a prompt
  };

  Clock& clock_;
  mutable std::shared_mutex mutex_;  // guards the rest
  Ring<Kept> messages_;
};

}  // namespace varve::memory
