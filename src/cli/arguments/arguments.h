// What several commands share: times and limits from options, and a person's consent.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cli/invocation.h"
#include "cli/json_text.h"

namespace varve::cli {

// Which way a span such as "12h" counts.
enum class Direction { kAgo, kFromNow };

// The time given for `option`, as RFC 3339. A date such as 2026-01-10 means its midnight; a span, a
// number and one of s m h d w, means so long ago (or from now), but not before the year 0.
Result<std::string> time_text(std::string_view option, const std::string& given,
                              Direction direction = Direction::kAgo);

// {"start","end"} from --since and --until, each unless it is empty.
Result<json::object> time_range(const std::string& since, const std::string& until);

// The names of the option that says how much is shown: --number is an earlier one, not in the help.
inline constexpr const char* kLimitNames = "-n,--limit,--number";

// A query's member "limit": one that is 0 on the command line is none.
int64_t limit_of_query(int64_t limit);

// Asks "`question` [y/N]" on the terminal. Any answer but yes is a failure; so is a missing
// terminal: then the message says that `what` ("dropping a session") needs --yes.
Outcome confirm(Invocation& invocation, std::string_view question, std::string_view what);

}  // namespace varve::cli
