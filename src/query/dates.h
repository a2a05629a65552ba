// Dates that a question names, and how well a time fits them.
//
//   2023-05-07  2023/5/7  7 May 2023  May 7th, 2023  the 8th of December  25.01.2024  1/25/2024
//   May 7-9, 2023  7-9 May  May 2023  in June
//
// Month names are English, in any case; a month alone counts only when it is capitalised and not
// the first word. Where day and month could be either way round, both count. The end of a number is
// no day: that of "12:30 May 7" is 7.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace varve::query {

// In UTC, as all days here.
[[nodiscard]] inline std::chrono::sys_days day_of(int64_t time_ms) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(time_ms)};
  return std::chrono::floor<std::chrono::days>(time);
}

// What a time that fits is worth: 1 on the day itself.
inline constexpr double kDayAfterFit = 0.5;  // what happened is told then
inline constexpr double kLongSpanFit = 0.5;  // in a month, a week, a year

struct NamedDate {
  std::optional<int32_t> year;
  int32_t month = 1;           // 1..12
  std::optional<int32_t> day;  // 1..31; none: the whole month
  friend bool operator==(const NamedDate&, const NamedDate&) = default;
};

// Dates of a question that count, the first ones: each is compared with the time of each match.
inline constexpr size_t kDatesMax = 64;

[[nodiscard]] std::vector<NamedDate> find_dates(std::string_view question);

// 1 on a named day, 0.5 on the day after it or in a named month, else 0; the best of all dates.
// A date without a year is any year's.
[[nodiscard]] double date_match(const std::vector<NamedDate>& dates, int64_t timestamp_ms);

}  // namespace varve::query
