// A clock that tells a test when it is asked: for what happens at that moment.
#pragma once

#include <cstdint>
#include <functional>

#include "base/environment.h"

namespace varve::session {

class AskedClock final : public Clock {
 public:
  explicit AskedClock(Clock& clock) : clock_(clock) {}
  int64_t now_ms() override {
    if (when_asked) when_asked();
    return clock_.now_ms();
  }
  int64_t monotonic_us() override {
    if (when_asked) when_asked();
    return clock_.monotonic_us();
  }
  void sleep_us(int64_t duration_us) override { clock_.sleep_us(duration_us); }

  std::function<void()> when_asked;

 private:
  Clock& clock_;
};

}  // namespace varve::session
