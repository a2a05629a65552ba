// Timestamps as entries carry them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace varve::cli {

// [ms] since the Unix epoch of an RFC 3339 date and time; nullopt for anything else.
[[nodiscard]] std::optional<int64_t> timestamp_ms(std::string_view rfc3339);

}  // namespace varve::cli
