// What the library needs from outside besides files: time and randomness. Both are injected, so
// that every answer and every test run can be reproduced.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

namespace varve {

// All members may be called from any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual int64_t now_ms() = 0;        // [ms] wall clock, since the Unix epoch
  [[nodiscard]] virtual int64_t monotonic_us() = 0;  // [us] for deadlines; never goes back
  virtual void sleep_us(int64_t duration_us) = 0;    // called only to wait for others
  // [us] as monotonic_us(): where a wait of `wait_ms` that begins now has to end.
  [[nodiscard]] int64_t deadline_us(uint64_t wait_ms) {
    return monotonic_us() + static_cast<int64_t>(wait_ms) * 1000;
  }
};

class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(std::span<uint8_t> bytes) = 0;  // unpredictable; never fails
};

// A number, or an array of numbers. An array costs one fill, which may be a system call.
template <typename Value>
[[nodiscard]] Value random_value(Random& random) {
  std::array<uint8_t, sizeof(Value)> bytes;
  random.fill(bytes);
  return std::bit_cast<Value>(bytes);
}

}  // namespace varve
