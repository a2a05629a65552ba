// Days that a question tells from now, and how well a time fits them.
//
//   today  yesterday  the day before yesterday  last night  last Friday  on Friday
//   three days ago  2 weeks ago  a month ago  last week  this month  last weekend  last year
//
// English, as the names of months are. Weeks begin on Monday; a weekday is the last one before
// today; so many weeks ago is the week around that day, so many months or years ago that month or
// year. Days are UTC.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace varve::query {

struct DaySpan {
  int32_t first = 0;  // [days since 1970-01-01]
  int32_t last = 0;
  friend bool operator==(const DaySpan&, const DaySpan&) = default;
};

[[nodiscard]] std::vector<DaySpan> find_relative_dates(std::string_view question, int64_t now_ms);

// 1 on a single day, 0.5 on the day after it (what happened is told then) or within a longer span,
// else 0; the best of all spans.
[[nodiscard]] double span_match(const std::vector<DaySpan>& spans, int64_t timestamp_ms);

}  // namespace varve::query
