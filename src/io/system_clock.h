// Time and randomness from the operating system.
#pragma once

#include <ctime>

#include "base/environment.h"

namespace varve::io {

// [ms] since the Unix epoch; a time that cannot be written is the nearest that can.
[[nodiscard]] int64_t milliseconds(const timespec& time) noexcept;

// CLOCK_REALTIME and CLOCK_MONOTONIC. Stateless; any thread.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] int64_t now_ms() override;
  [[nodiscard]] int64_t monotonic_us() override;
  void sleep_us(int64_t duration_us) override;  // all of it, even when signals arrive
};

// getrandom(2), or /dev/urandom where a kernel or a sandbox has no getrandom. Stateless; any
// thread.
class SystemRandom final : public Random {
 public:
  void fill(std::span<uint8_t> bytes) override;
};

}  // namespace varve::io
