// RFC 3339 timestamps <-> milliseconds since the Unix epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace varve {

// 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z: the limits of what can be written.
inline constexpr int64_t kFirstMs = -719528 * int64_t{86'400'000};
inline constexpr int64_t kLastMs = (2932896 + 1) * int64_t{86'400'000} - 1;

// "2026-01-10T14:23:45.678Z" -> ms. Any offset and any precision is read (digits past the
// millisecond are cut), 'T'/'t'/' ' between date and time, 'Z'/'z', leap second 60 read as the
// last millisecond of its minute. Years 0000 to 9999. nullopt when it is not RFC 3339.
[[nodiscard]] std::optional<int64_t> parse_rfc3339(std::string_view text) noexcept;

// ms -> "YYYY-MM-DDTHH:MM:SS.mmmZ". Values outside year 0000..9999 are clamped to its ends.
[[nodiscard]] std::string format_rfc3339(int64_t time_ms);

}  // namespace varve
