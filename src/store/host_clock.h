// HostClock: the host's clock if it set one, else the system's. Deadlines always use the system's.
//
// The host's function is called at the start of a call, under no lock. Code that runs under locks
// uses the time that it answered.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/environment.h"
#include "base/host_function.h"
#include "base/time.h"
#include "store/store.h"

namespace varve::store {

class HostClock final : public Clock {
 public:
  explicit HostClock(Clock& system) : system_(system) {}

  // When this returns, no thread is inside the previous function (see base/host_function.h).
  void set(ClockFunction function, void* user_data) {
    // Asked before it is set: from then on, other threads use the answer.
    if (function != nullptr) take(function(user_data));
    function_.set(function, user_data);
    tick();
  }

  // Asks the host for the time.
  void tick() {
    const HostFunction<ClockFunction>::Stay stay(function_);
    if (stay.function() != nullptr) take(stay.function()(stay.user_data()));
  }

  [[nodiscard]] bool is_set() const { return function_.is_set(); }
  int64_t now_ms() override {
    return is_set() ? told_ms_.load(std::memory_order_relaxed) : system_.now_ms();
  }
  int64_t monotonic_us() override { return system_.monotonic_us(); }
  void sleep_us(int64_t duration_us) override { system_.sleep_us(duration_us); }

 private:
  // A host may answer any number. Times that can be written are also far from where sums overflow.
  void take(int64_t told_ms) {
    told_ms_.store(std::clamp(told_ms, kFirstMs, kLastMs), std::memory_order_relaxed);
  }

  Clock& system_;
  std::atomic<int64_t> told_ms_{0};
  HostFunction<ClockFunction> function_;
};

}  // namespace varve::store
