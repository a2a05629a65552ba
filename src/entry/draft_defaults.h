// What a draft gets for what its text leaves out, and the bounds of what it says.
#pragma once

#include <string_view>

namespace varve::entry {

inline constexpr std::string_view kIdPrefix = "mem_";
inline constexpr std::string_view kDefaultImportance = "0.5";
inline constexpr std::string_view kDefaultDecayFactor = "1";

inline constexpr double kTtlSecondsMax = 1e10;  // three hundred years

}  // namespace varve::entry
