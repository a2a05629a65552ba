#include "cli/arguments/arguments.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <iostream>
#include <limits>
#include <optional>

#include "cli/json_text.h"
#include "cli/timestamp.h"

namespace varve::cli {
namespace {

constexpr std::string_view kDatePattern = "2026-01-10";

// A date or a time as RFC 3339; nullopt for anything else.
std::optional<std::string> point_text(const std::string& given) {
  if (timestamp_ms(given)) return given;
  const std::string midnight = given + "T00:00:00Z";
  if (given.size() == kDatePattern.size() && timestamp_ms(midnight)) return midnight;
  return std::nullopt;
}

int64_t unit_s(char unit) {
  switch (unit) {
    case 's': return 1;
    case 'm': return 60;
    case 'h': return 3600;
    case 'd': return 86400;
    case 'w': return 7 * 86400;
    default: return 0;
  }
}

// [s] of "30m", "12h", "7d"; nullopt for anything else. A longer span than any time there is counts
// as that long.
std::optional<int64_t> span_s(std::string_view text) {
  constexpr int64_t kLongestSeconds = int64_t{10'000} * 366 * 86400;
  const int64_t unit = text.empty() ? 0 : unit_s(text.back());
  if (unit == 0) return std::nullopt;
  text.remove_suffix(1);
  int64_t count = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), count);
  if (parsed.ptr != text.data() + text.size() || text.starts_with('-')) return std::nullopt;
  if (parsed.ec == std::errc::result_out_of_range) return kLongestSeconds;
  if (parsed.ec != std::errc()) return std::nullopt;
  return count > kLongestSeconds / unit ? kLongestSeconds : count * unit;
}

// "y" or "yes", in letters of any size.
bool is_yes(std::string answer) {
  for (char& letter : answer) letter = static_cast<char>(letter | 0x20);
  return answer == "y" || answer == "yes";
}

}  // namespace

Result<std::string> time_text(std::string_view option, const std::string& given,
                              Direction direction) {
  if (std::optional<std::string> point = point_text(given)) return *std::move(point);
  const bool is_ahead = direction == Direction::kFromNow;
  const std::optional<int64_t> span = span_s(given);
  if (!span) {
    return usage_failure(std::string(option) + " takes a date (2026-01-10), a time " +
                         "(2026-01-10T14:30:00Z), or how long " + (is_ahead ? "from now" : "ago") +
                         " (30m, 12h, 7d, 4w), not \"" + given + "\"");
  }
  constexpr int64_t kFirstSecond = -62'167'219'200;  // 0000-01-01T00:00:00Z
  constexpr int64_t kLastSecond = 253'402'300'799;   // 9999-12-31T23:59:59Z
  const int64_t now_s = std::time(nullptr);
  return format_timestamp(is_ahead ? std::min(now_s + *span, kLastSecond)
                                   : std::max(now_s - *span, kFirstSecond));
}

Result<json::object> time_range(const std::string& since, const std::string& until) {
  json::object range;
  if (!since.empty()) {
    Result<std::string> start = time_text("--since", since);
    if (!start.ok()) return std::move(start.failure());
    range["start"] = *start;
  }
  if (until.empty()) return range;
  Result<std::string> end = time_text("--until", until);
  if (!end.ok()) return std::move(end.failure());
  range["end"] = *end;
  if (!since.empty() && timestamp_ms(string_at(range, "start")) > timestamp_ms(*end)) {
    return usage_failure("--until is before --since");
  }
  return range;
}

int64_t limit_of_query(int64_t limit) {
  return limit > 0 ? limit : std::numeric_limits<int64_t>::max();
}

Outcome confirm(Invocation& invocation, std::string_view question, std::string_view what) {
  if (::isatty(STDIN_FILENO) != 1) {
    return usage_failure(std::string(what) + " needs --yes when there is no terminal to ask on");
  }
  invocation.out().flush();
  invocation.err().write(std::string(question) + " [y/N] ");
  invocation.err().flush();
  std::string answer;
  std::getline(std::cin, answer);
  // Nobody pressed Enter: what follows would stand behind the question.
  if (std::cin.eof()) invocation.err().write("\n");
  if (is_yes(std::move(answer))) return std::nullopt;
  return Failure{VARVE_INVALID_ARGUMENT, "nothing was deleted"};
}

}  // namespace varve::cli
