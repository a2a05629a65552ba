#include "cli/timestamp.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>

namespace varve::cli {
namespace {

// Takes `digits` digits and then `separator` off the front; -1 when they are not there.
int take_number(std::string_view& text, size_t digits, char separator) {
  int value = -1;
  if (text.size() < digits) return -1;
  const char* end = text.data() + digits;
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end) return -1;
  text.remove_prefix(digits);
  if (separator == '\0') return value;
  if (text.empty() || (text.front() | 0x20) != (separator | 0x20)) return -1;
  text.remove_prefix(1);
  return value;
}

// Takes ".123456" off the front, if it is there. Returns whole milliseconds.
int take_fraction_ms(std::string_view& text) {
  if (!text.starts_with('.')) return 0;
  text.remove_prefix(1);
  int value = 0;
  int place = 100;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
    value += (text.front() - '0') * place;
    place /= 10;
    text.remove_prefix(1);
  }
  return value;
}

std::optional<int64_t> offset_minutes(std::string_view text) {
  if (text == "Z" || text == "z") return 0;
  if (text.size() != 6 || (text.front() != '+' && text.front() != '-')) return std::nullopt;
  const int sign = text.front() == '-' ? -1 : 1;
  text.remove_prefix(1);
  const int hours = take_number(text, 2, ':');
  const int minutes = take_number(text, 2, '\0');
  if (hours < 0 || minutes < 0) return std::nullopt;
  return sign * (hours * 60 + minutes);
}

}  // namespace

std::optional<int64_t> timestamp_ms(std::string_view rfc3339) {
  std::string_view rest = rfc3339;
  const int year = take_number(rest, 4, '-');
  const int month = take_number(rest, 2, '-');
  const int day = take_number(rest, 2, rest.size() > 2 && rest[2] == ' ' ? ' ' : 'T');
  const int hour = take_number(rest, 2, ':');
  const int minute = take_number(rest, 2, ':');
  const int second = take_number(rest, 2, '\0');
  const int fraction_ms = take_fraction_ms(rest);
  const std::optional<int64_t> offset = offset_minutes(rest);
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (year < 0 || !date.ok() || hour < 0 || minute < 0 || second < 0 || !offset) {
    return std::nullopt;
  }
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const int64_t minutes = (days * 24 + hour) * 60 + minute - *offset;
  return (minutes * 60 + second) * 1000 + fraction_ms;
}

std::string format_timestamp(int64_t epoch_s) {
  const std::time_t time = epoch_s;
  std::tm parts{};
  ::gmtime_r(&time, &parts);
  char rest[32] = {};
  const size_t size = std::strftime(rest, sizeof rest, "-%m-%dT%H:%M:%SZ", &parts);
  const std::string year = std::to_string(parts.tm_year + 1900);
  return std::string(4 - std::min<size_t>(year.size(), 4), '0') + year + std::string(rest, size);
}

}  // namespace varve::cli
