#include "base/time.h"

#include <algorithm>
#include <chrono>

#include "base/ascii.h"

namespace varve {
namespace {

constexpr int64_t kMsPerSecond = 1000;
constexpr int64_t kMsPerMinute = 60 * kMsPerSecond;
constexpr int64_t kMsPerHour = 60 * kMsPerMinute;
constexpr int64_t kMsPerDay = 24 * kMsPerHour;

// Takes exactly `count` digits off the front.
std::optional<int> take_digits(std::string_view& text, size_t count) noexcept {
  if (text.size() < count) return std::nullopt;
  int value = 0;
  for (size_t i = 0; i < count; ++i) {
    if (!is_digit(text[i])) return std::nullopt;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take_one_of(std::string_view& text, std::string_view allowed) noexcept {
  if (text.empty()) return false;
  for (const char c : allowed) {  // two or three characters: calling a search costs more
    if (c != text.front()) continue;
    text.remove_prefix(1);
    return true;
  }
  return false;
}

std::optional<int64_t> take_date(std::string_view& text) noexcept {
  const auto year = take_digits(text, 4);
  if (!year || !take_one_of(text, "-")) return std::nullopt;
  const auto month = take_digits(text, 2);
  if (!month || !take_one_of(text, "-")) return std::nullopt;
  const auto day = take_digits(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{*year},
                                         std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*day)}};
  if (!date.ok()) return std::nullopt;
  return int64_t{std::chrono::sys_days{date}.time_since_epoch().count()} * kMsPerDay;
}

// ".678" -> 678, "" -> 0; digits past the third are cut.
std::optional<int64_t> take_fraction_ms(std::string_view& text) noexcept {
  if (!take_one_of(text, ".")) return 0;
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  int64_t value_ms = 0;
  int64_t unit_ms = 100;
  while (!text.empty() && is_digit(text.front())) {
    value_ms += unit_ms * (text.front() - '0');
    unit_ms /= 10;
    text.remove_prefix(1);
  }
  return value_ms;
}

std::optional<int64_t> take_time_of_day(std::string_view& text) noexcept {
  const auto hour = take_digits(text, 2);
  if (!hour || *hour > 23 || !take_one_of(text, ":")) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || *minute > 59 || !take_one_of(text, ":")) return std::nullopt;
  const auto second = take_digits(text, 2);
  if (!second || *second > 60) return std::nullopt;
  const auto fraction_ms = take_fraction_ms(text);
  if (!fraction_ms) return std::nullopt;
  const int64_t in_minute_ms =
      *second == 60 ? kMsPerMinute - 1 : *second * kMsPerSecond + *fraction_ms;
  return *hour * kMsPerHour + *minute * kMsPerMinute + in_minute_ms;
}

// "Z" -> 0, "+01:30" -> 90 minutes.
std::optional<int64_t> take_offset_ms(std::string_view& text) noexcept {
  if (take_one_of(text, "Zz")) return 0;
  const bool negative = !text.empty() && text.front() == '-';
  if (!take_one_of(text, "+-")) return std::nullopt;
  const auto hour = take_digits(text, 2);
  if (!hour || *hour > 23 || !take_one_of(text, ":")) return std::nullopt;
  const auto minute = take_digits(text, 2);
  if (!minute || *minute > 59) return std::nullopt;
  const int64_t offset_ms = *hour * kMsPerHour + *minute * kMsPerMinute;
  return negative ? -offset_ms : offset_ms;
}

void write_digits(char* out, int64_t value, int count) noexcept {
  for (int i = count - 1; i >= 0; --i) {
    out[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
}

}  // namespace

std::optional<int64_t> parse_rfc3339(std::string_view text) noexcept {
  const auto date_ms = take_date(text);
  if (!date_ms || !take_one_of(text, "Tt ")) return std::nullopt;
  const auto time_ms = take_time_of_day(text);
  if (!time_ms) return std::nullopt;
  const auto offset_ms = take_offset_ms(text);
  if (!offset_ms || !text.empty()) return std::nullopt;
  const int64_t instant_ms = *date_ms + *time_ms - *offset_ms;
  // An offset may lead out of the years with four digits, which could not be written back.
  if (instant_ms < kFirstMs || instant_ms > kLastMs) return std::nullopt;
  return instant_ms;
}

std::string format_rfc3339(int64_t time_ms) {
  time_ms = std::clamp(time_ms, kFirstMs, kLastMs);
  int64_t day = time_ms / kMsPerDay;
  int64_t in_day_ms = time_ms % kMsPerDay;
  if (in_day_ms < 0) {
    in_day_ms += kMsPerDay;
    --day;
  }
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{day}}};
  std::string text = "YYYY-MM-DDTHH:MM:SS.mmmZ";
  write_digits(text.data(), static_cast<int>(date.year()), 4);
  write_digits(text.data() + 5, static_cast<unsigned>(date.month()), 2);
  write_digits(text.data() + 8, static_cast<unsigned>(date.day()), 2);
  write_digits(text.data() + 11, in_day_ms / kMsPerHour, 2);
  write_digits(text.data() + 14, in_day_ms / kMsPerMinute % 60, 2);
  write_digits(text.data() + 17, in_day_ms / kMsPerSecond % 60, 2);
  write_digits(text.data() + 20, in_day_ms % kMsPerSecond, 3);
  return text;
}

}  // namespace varve
