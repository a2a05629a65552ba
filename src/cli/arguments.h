// What several commands read from their options: numbers, times, and a person's consent.
#pragma once

#include <string>
#include <string_view>

#include "cli/context.h"
#include "cli/json_text.h"

namespace varve::cli {

// The number from 0 to 1 that was given for `option`, as JSON.
Result<std::string> unit_number_text(std::string_view option, const std::string& given);

// Which way a span such as "12h" counts.
enum class Direction { kAgo, kFromNow };

// A time for `option`, as RFC 3339: a time as it is, a date such as 2026-01-10 as its midnight, and
// a span, a number and one of s m h d w, as the moment so long ago (or from now), not before 1970.
Result<std::string> time_text(std::string_view option, const std::string& given,
                              Direction direction = Direction::kAgo);

// {"start","end"} of --since and --until, each where it is not empty.
Result<json::object> time_range(const std::string& since, const std::string& until);

// Asks "`question` [y/N]" on the terminal. A failure unless the answer is yes, or when there is no
// terminal to ask on: then `what` ("dropping a session") needs --yes.
Outcome confirm(Context& context, std::string_view question, std::string_view what);

}  // namespace varve::cli
