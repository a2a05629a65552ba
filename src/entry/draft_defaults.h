// Defaults for what an entry's text leaves out, and bounds for what it says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/time.h"

namespace varve::entry {

inline constexpr std::string_view kIdPrefix = "mem_";
inline constexpr std::string_view kDefaultImportance = "0.5";
inline constexpr std::string_view kDefaultDecayFactor = "1";

inline constexpr int64_t kTtlSecondsMax = 10'000'000'000;  // three hundred years

// When an entry ends that has this time to live: no later than a line can say.
[[nodiscard]] inline int64_t end_of_ttl(int64_t now_ms, double seconds) {
  return std::min(kLastMs, now_ms + static_cast<int64_t>(seconds * 1000));
}

}  // namespace varve::entry
