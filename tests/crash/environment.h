// Time and randomness that are the same in every run.
#pragma once

#include <random>

#include "base/environment.h"
#include "store/store.h"

namespace varve::crash {

// Stands still, except while somebody waits on it. One thread.
class TestClock final : public Clock {
 public:
  int64_t now_ms() override { return now_us_ / 1000; }
  int64_t monotonic_us() override { return now_us_; }
  void sleep_us(int64_t duration_us) override { now_us_ += duration_us; }

 private:
  int64_t now_us_ = 1'767'225'600'000'000;  // 2026-01-01
};

// One thread.
class TestRandom final : public Random {
 public:
  explicit TestRandom(uint64_t seed) : engine_(seed) {}
  void fill(std::span<uint8_t> bytes) override {
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(engine_());
  }

 private:
  std::mt19937_64 engine_;
};

class TestEnvironment {
 public:
  // A seed used before would make names of temporary files that exist already.
  TestEnvironment() : random(next_seed()) {}
  store::Store::Environment with(io::FileSystem& file_system) {
    store::Store::Environment environment;
    environment.file_system = &file_system;
    environment.clock = &clock;
    environment.random = &random;
    return environment;
  }

  TestClock clock;
  TestRandom random;

 private:
  static uint64_t next_seed() {
    static uint64_t seed = 0;
    return ++seed;
  }
};

}  // namespace varve::crash
