// Histogram: counts how often values fell into fixed buckets, for durations and sizes that are
// measured during normal work.
//
// Threads: any. Recording is three relaxed atomic operations, without a lock. A reader may see a
// value that is counted and not yet in the sum, or the other way round.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/environment.h"

namespace varve {

class Histogram {
 public:
  static constexpr size_t kBoundsMax = 24;

  // `bounds`: the largest value of each bucket, ascending, at most kBoundsMax; they outlive the
  // histogram. Larger values go into one more bucket.
  explicit Histogram(std::span<const uint64_t> bounds) : bounds_(bounds) {}
  Histogram(const Histogram&) = delete;
  Histogram& operator=(const Histogram&) = delete;

  void record(uint64_t value) noexcept;
  // The clock may stand still or go back; a negative duration counts as 0.
  void record_duration(int64_t start_us, int64_t end_us) noexcept {
    record(end_us > start_us ? static_cast<uint64_t>(end_us - start_us) : 0);
  }

  struct Snapshot {
    std::span<const uint64_t> bounds;
    std::vector<uint64_t> counts;  // one for each bound, and one for larger values
    uint64_t count = 0;            // of all values
    uint64_t sum = 0;
    uint64_t max = 0;

    // At least `fraction` (0 ..= 1) of all values are no larger than the answer: the bound of the
    // bucket where that is reached, but at most the largest value seen. 0 when there are no values.
    [[nodiscard]] uint64_t quantile(double fraction) const;
  };
  [[nodiscard]] Snapshot snapshot() const;

 private:
  std::span<const uint64_t> bounds_;
  std::array<std::atomic<uint64_t>, kBoundsMax + 1> counts_{};
  std::atomic<uint64_t> sum_{0};
  std::atomic<uint64_t> max_{0};
};

// Records how long this object lived.
class DurationRecorder {
 public:
  DurationRecorder(Clock& clock, Histogram& histogram)
      : clock_(clock), histogram_(histogram), start_us_(clock.monotonic_us()) {}
  ~DurationRecorder() { histogram_.record_duration(start_us_, clock_.monotonic_us()); }
  DurationRecorder(const DurationRecorder&) = delete;
  DurationRecorder& operator=(const DurationRecorder&) = delete;

 private:
  Clock& clock_;
  Histogram& histogram_;
  int64_t start_us_;
};

// [us] 10 us to 100 s in steps of 2.5, 2 and 2.
inline constexpr std::array<uint64_t, 22> kDurationBoundsUs = {
    10,        25,        50,         100,        250,        500,        1'000,   2'500,
    5'000,     10'000,    25'000,     50'000,     100'000,    250'000,    500'000, 1'000'000,
    2'500'000, 5'000'000, 10'000'000, 25'000'000, 50'000'000, 100'000'000};
// How many things were done at once.
inline constexpr std::array<uint64_t, 12> kGroupBounds = {1,  2,   4,   8,    16,   32,
                                                          64, 128, 256, 1024, 4096, 16384};

}  // namespace varve
