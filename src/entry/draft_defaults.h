// What a draft gets for what its text leaves out.
#pragma once

#include <string_view>

namespace varve::entry {

inline constexpr std::string_view kIdPrefix = "mem_";
inline constexpr std::string_view kDefaultImportance = "0.5";
inline constexpr std::string_view kDefaultDecayFactor = "1";

}  // namespace varve::entry
