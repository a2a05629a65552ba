// Time and randomness under a test's control.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <random>
#include <span>

#include "base/environment.h"

namespace varve::test {

inline constexpr int64_t kStartMs = 1768055025678;  // 2026-01-10T14:23:45.678Z

// Stands still, unless it is told to move or somebody sleeps by it.
class ManualClock : public Clock {
 public:
  int64_t now_ms() override { return now_ms_.load(); }
  int64_t monotonic_us() override { return monotonic_us_.load(); }
  void sleep_us(int64_t duration_us) override {
    monotonic_us_ += duration_us;
    slept_us_ += duration_us;
  }

  void set_now_ms(int64_t now_ms) { now_ms_ = now_ms; }
  void advance_ms(int64_t duration_ms) {
    now_ms_ += duration_ms;
    monotonic_us_ += duration_ms * 1000;
  }
  [[nodiscard]] int64_t slept_us() const { return slept_us_.load(); }

 private:
  std::atomic<int64_t> now_ms_{kStartMs};
  std::atomic<int64_t> monotonic_us_{1'000'000};
  std::atomic<int64_t> slept_us_{0};
};

// The same bytes in every run.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed = 1) : generator_(seed) {}
  void fill(std::span<uint8_t> bytes) override {
    const std::lock_guard guard(mutex_);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(generator_());
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 generator_;
};

}  // namespace varve::test
