#include "cli/arguments.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <iostream>
#include <optional>

#include "cli/json_text.h"
#include "cli/timestamp.h"

namespace varve::cli {
namespace {

constexpr std::string_view kDatePattern = "2026-01-10";
constexpr std::string_view kPoints = "a date (2026-01-10) or a time (2026-01-10T14:30:00Z)";

// A date or a time as RFC 3339; nullopt for anything else.
std::optional<std::string> point_text(const std::string& given) {
  if (timestamp_ms(given)) return given;
  const std::string midnight = given + "T00:00:00Z";
  if (given.size() == kDatePattern.size() && timestamp_ms(midnight)) return midnight;
  return std::nullopt;
}

Failure wrong_time(std::string_view option, std::string_view taken, const std::string& given) {
  return usage_failure(std::string(option) + " takes " + std::string(taken) + ", not \"" + given +
                       "\"");
}

int64_t unit_s(char unit) {
  switch (unit) {
    case 'w': return 7 * 86400;
    case 'd': return 86400;
    case 'h': return 3600;
    case 'm': return 60;
    default: return 1;
  }
}

}  // namespace

// The exact range is the library's to check, so that there is one rule; this is for the message.
Result<std::string> unit_number_text(std::string_view option, const std::string& given) {
  double value = 0;
  const char* end = given.data() + given.size();
  const auto parsed = std::from_chars(given.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || !(value >= 0 && value <= 1)) {
    return usage_failure(std::string(option) + " takes a number from 0 to 1, not \"" + given +
                         "\"");
  }
  return json::serialize(json::value(value));
}

Result<std::string> time_text(std::string_view option, const std::string& given) {
  if (std::optional<std::string> point = point_text(given)) return *std::move(point);
  return wrong_time(option, kPoints, given);
}

bool is_time_span(std::string_view text) {
  if (text.size() < 2) return false;
  const std::string_view digits = text.substr(0, text.size() - 1);
  const bool is_number =
      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return is_number && std::string_view("smhdw").find(text.back()) != std::string_view::npos;
}

Result<std::string> start_text(std::string_view option, const std::string& given) {
  if (!is_time_span(given)) {
    if (std::optional<std::string> point = point_text(given)) return *std::move(point);
    return wrong_time(option, std::string(kPoints) + ", or how long ago (30m, 12h, 7d, 4w)", given);
  }
  const int64_t now_s = std::time(nullptr);
  int64_t count = 0;
  const auto parsed = std::from_chars(given.data(), given.data() + given.size() - 1, count);
  const int64_t unit = unit_s(given.back());
  // Before 1970 nothing was said.
  const bool is_since_ever = parsed.ec != std::errc() || count > now_s / unit;
  return format_timestamp(is_since_ever ? 0 : now_s - count * unit);
}

Outcome confirm(Context& context, std::string_view question, std::string_view what) {
  if (::isatty(STDIN_FILENO) != 1) {
    return usage_failure(std::string(what) + " needs --yes when there is no terminal to ask on");
  }
  context.out().flush();
  context.err().write(std::string(question) + " [y/N] ");
  context.err().flush();
  std::string answer;
  std::getline(std::cin, answer);
  if (answer == "y" || answer == "Y" || answer == "yes") return std::nullopt;
  return Failure{VARVE_INVALID_ARGUMENT, "nothing was deleted", "{}", {}, false};
}

}  // namespace varve::cli
