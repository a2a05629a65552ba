// HostClock: the host's clock when it set one, else the system's; deadlines are always the
// system's.
//
// The host's function is called at the start of a call, under no lock; what runs under locks takes
// the time it told.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/environment.h"
#include "store/store.h"

namespace varve::store {

class HostClock final : public Clock {
 public:
  explicit HostClock(Clock& system) : system_(system) {}

  void set(ClockFunction function, void* user_data) {
    {
      const std::lock_guard guard(mutex_);
      function_ = function;
      user_data_ = user_data;
    }
    if (function != nullptr) tick();
    is_set_.store(function != nullptr, std::memory_order_release);
  }

  // Asks the host for the time.
  void tick() {
    ClockFunction function = nullptr;
    void* user_data = nullptr;
    {
      const std::lock_guard guard(mutex_);
      function = function_;
      user_data = user_data_;
    }
    if (function != nullptr) told_ms_.store(function(user_data), std::memory_order_relaxed);
  }

  [[nodiscard]] bool is_set() const { return is_set_.load(std::memory_order_acquire); }
  int64_t now_ms() override {
    return is_set() ? told_ms_.load(std::memory_order_relaxed) : system_.now_ms();
  }
  int64_t monotonic_us() override { return system_.monotonic_us(); }
  void sleep_us(int64_t duration_us) override { system_.sleep_us(duration_us); }

 private:
  Clock& system_;
  std::atomic<bool> is_set_{false};
  std::atomic<int64_t> told_ms_{0};
  std::mutex mutex_;  // guards the rest; not held while the host's function runs
  ClockFunction function_ = nullptr;
  void* user_data_ = nullptr;
};

}  // namespace varve::store
