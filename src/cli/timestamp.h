// Timestamps as entries carry them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace varve::cli {

// [ms] since the Unix epoch of an RFC 3339 date and time; nullopt for anything else.
[[nodiscard]] std::optional<int64_t> timestamp_ms(std::string_view rfc3339);

// [s] since the Unix epoch as RFC 3339, in UTC.
[[nodiscard]] std::string format_timestamp(int64_t epoch_s);

}  // namespace varve::cli
