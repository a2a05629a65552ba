// Defaults for what an entry's text leaves out, and bounds for what it says.
#pragma once

#include <cstdint>
#include <string_view>

namespace varve::entry {

inline constexpr std::string_view kIdPrefix = "mem_";
inline constexpr std::string_view kDefaultImportance = "0.5";
inline constexpr std::string_view kDefaultDecayFactor = "1";

inline constexpr int64_t kTtlSecondsMax = 10'000'000'000;  // three hundred years

}  // namespace varve::entry
