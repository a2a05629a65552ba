// LogReceiver: the host's log function, and who is inside it.
//
// The host may free its user_data once another function is set or the store is closed, so both wait
// until every other thread has left the function. A thread that is inside the function and sets or
// closes from there does not wait for itself, nor for another that does the same.
//
// Threads: any. The function is called under no lock.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>

#include "varve/store.h"

namespace varve::capi {

class LogReceiver {
 public:
  LogReceiver() = default;
  LogReceiver(const LogReceiver&) = delete;
  LogReceiver& operator=(const LogReceiver&) = delete;

  // Nobody is inside the function set before when this returns. Without effect after stop().
  void set(varve_log_fn function, void* user_data);
  // As set(nullptr), for good.
  void stop();

  // A session::LogFunction whose user_data is a LogReceiver.
  static void receive(void* self, int32_t level, const char* json_line, size_t len);

 private:
  struct Visit {
    std::thread::id thread;
    uint64_t version = 0;  // which function it is in
    bool waiting = false;  // sets or stops from inside the function
  };
  class Stay;

  void replace(std::unique_lock<std::mutex>& lock, varve_log_fn function, void* user_data);
  void mark_waiting(bool waiting);
  [[nodiscard]] bool is_left_before(uint64_t version) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  varve_log_fn function_ = nullptr;
  void* user_data_ = nullptr;
  uint64_t version_ = 0;  // how often the function was set
  bool stopped_ = false;
  std::list<Visit> inside_;
};

}  // namespace varve::capi
