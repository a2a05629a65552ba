// Times of calls, and what is told of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <vector>

namespace varve::bench {

using Steady = std::chrono::steady_clock;

inline double microseconds_since(Steady::time_point start) {
  return std::chrono::duration<double, std::micro>(Steady::now() - start).count();
}

double percentile(std::vector<double> values, double share);

// [us], of action(0) ... action(count - 1).
template <typename Action>
double median_us(size_t count, Action action) {
  std::vector<double> times_us;
  for (size_t i = 0; i < count; ++i) {
    const auto start = Steady::now();
    action(i);
    times_us.push_back(microseconds_since(start));
  }
  return percentile(times_us, 0.5);
}

}  // namespace varve::bench
