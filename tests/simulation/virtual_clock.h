// A clock that goes where it is told to. One thread.
#pragma once

#include "base/environment.h"

namespace varve::simulation {

class VirtualClock final : public Clock {
 public:
  int64_t now_ms() override { return now_ms_; }
  int64_t monotonic_us() override { return monotonic_us_; }
  // The time of day stands still: what expires is decided when a call begins.
  void sleep_us(int64_t duration_us) override { monotonic_us_ += duration_us; }

  // Forward or backward, as when somebody sets it; what deadlines are counted by never goes back.
  void jump(int64_t duration_ms) {
    now_ms_ += duration_ms;
    if (duration_ms > 0) monotonic_us_ += duration_ms * 1000;
  }

 private:
  int64_t now_ms_ = 1'767'225'600'000;  // 2026-01-01
  int64_t monotonic_us_ = 0;
};

}  // namespace varve::simulation
