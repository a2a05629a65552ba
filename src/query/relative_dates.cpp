#include "query/relative_dates.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <utility>

#include "base/time.h"
#include "query/date_tokens.h"
#include "query/dates.h"

namespace varve::query {

namespace {

using std::chrono::days;
using std::chrono::months;
using std::chrono::sys_days;
using std::chrono::year_month;
using std::chrono::year_month_day;
using std::chrono::years;

constexpr size_t kDigitsMax = 3;                                 // of days, months or years ago
constexpr int64_t kMarginMs = int64_t{1000} * 366 * 86'400'000;  // more years than those digits say

constexpr std::array<std::string_view, 7> kWeekdays = {"sunday",   "monday", "tuesday", "wednesday",
                                                       "thursday", "friday", "saturday"};
constexpr std::array<std::string_view, 13> kNumbers = {"zero", "one",    "two",   "three", "four",
                                                       "five", "six",    "seven", "eight", "nine",
                                                       "ten",  "eleven", "twelve"};

DaySpan span(sys_days first, sys_days last) {
  return {static_cast<int32_t>(first.time_since_epoch().count()),
          static_cast<int32_t>(last.time_since_epoch().count())};
}

DaySpan month_span(year_month month) {
  return span(sys_days(month / 1), sys_days(month / std::chrono::last));
}

DaySpan year_span(std::chrono::year year) {
  return span(sys_days(year / 1 / 1), sys_days(year / 12 / 31));
}

class RelativeDateFinder {
 public:
  RelativeDateFinder(std::string_view question, int64_t now_ms)
      : tokens_(date_tokens(question)), today_(day_of(now_ms)) {}

  std::vector<DaySpan> find() {
    for (size_t at = 0; at < tokens_.size() && spans_.size() < kDatesMax; ++at) {
      auto found = named_day(at);
      if (!found) found = ago(at);
      if (!found) found = last_or_this(at);
      if (found) spans_.push_back(*found);
    }
    return std::move(spans_);
  }

 private:
  [[nodiscard]] bool is(size_t at, std::string_view text) const {
    return at < tokens_.size() && tokens_[at].text == text;
  }
  [[nodiscard]] bool is_unit(size_t at, std::string_view one) const {
    if (at >= tokens_.size()) return false;
    const std::string_view text = tokens_[at].text;
    return text == one ||
           (text.size() == one.size() + 1 && text.starts_with(one) && text.ends_with('s'));
  }
  [[nodiscard]] DaySpan day_before(int32_t count) const {
    return span(today_ - days(count), today_ - days(count));
  }
  [[nodiscard]] year_month_day date() const { return year_month_day(today_); }

  // today, yesterday, the day before yesterday, last night
  [[nodiscard]] std::optional<DaySpan> named_day(size_t at) const {
    if (is(at, "today")) return day_before(0);
    if (is(at, "last") && is(at + 1, "night")) return day_before(1);
    if (!is(at, "yesterday")) return std::nullopt;
    const bool is_before = at >= 2 && is(at - 1, "before") && is(at - 2, "day");
    return day_before(is_before ? 2 : 1);
  }

  [[nodiscard]] std::optional<int32_t> count_at(size_t at) const {
    const DateToken& token = tokens_[at];
    if (token.is_number) {
      if (token.text.size() > kDigitsMax || token.goes_on) return std::nullopt;
      return std::stoi(token.text);
    }
    if (token.text == "a" || token.text == "an") return 1;
    const auto* const found = std::find(kNumbers.begin(), kNumbers.end(), token.text);
    if (found == kNumbers.end()) return std::nullopt;
    return static_cast<int32_t>(found - kNumbers.begin());
  }

  // three days ago, a week ago
  [[nodiscard]] std::optional<DaySpan> ago(size_t at) const {
    if (!is(at + 2, "ago")) return std::nullopt;
    const auto count = count_at(at);
    if (!count) return std::nullopt;
    if (is_unit(at + 1, "day")) return day_before(*count);
    if (is_unit(at + 1, "week")) {
      const sys_days middle = today_ - days(7 * *count);
      return span(middle - days(3), middle + days(3));
    }
    if (is_unit(at + 1, "month")) return month_span(this_month() - months(*count));
    if (is_unit(at + 1, "year")) return year_span(date().year() - years(*count));
    return std::nullopt;
  }

  // last week, this month, last weekend, last Friday, on Friday
  [[nodiscard]] std::optional<DaySpan> last_or_this(size_t at) const {
    const bool is_last = is(at, "last");
    const bool is_this = is(at, "this");
    if (at + 1 >= tokens_.size() || (!is_last && !is_this && !is(at, "on"))) return std::nullopt;
    const std::string_view unit = tokens_[at + 1].text;
    if (!is_this) {
      if (const auto* const day = std::find(kWeekdays.begin(), kWeekdays.end(), unit);
          day != kWeekdays.end()) {
        return last_weekday(static_cast<unsigned>(day - kWeekdays.begin()));
      }
    }
    if (!is_last && !is_this) return std::nullopt;
    const int32_t back = is_last ? 1 : 0;
    if (unit == "week") {
      const sys_days first = monday() - days(7 * back);
      return span(first, first + days(6));
    }
    if (unit == "month") return month_span(this_month() - months(back));
    if (unit == "year") return year_span(date().year() - years(back));
    if (unit == "weekend" && is_last) return span(monday() - days(2), monday() - days(1));
    return std::nullopt;
  }

  [[nodiscard]] year_month this_month() const { return date().year() / date().month(); }
  [[nodiscard]] sys_days monday() const {
    return today_ - (std::chrono::weekday(today_) - std::chrono::Monday);
  }
  [[nodiscard]] DaySpan last_weekday(unsigned number) const {
    const sys_days before = today_ - days(1);
    const sys_days found = before - (std::chrono::weekday(before) - std::chrono::weekday(number));
    return span(found, found);
  }

  std::vector<DateToken> tokens_;
  sys_days today_;
  std::vector<DaySpan> spans_;
};

}  // namespace

std::vector<DaySpan> find_relative_dates(std::string_view question, int64_t now_ms) {
  if (now_ms < kFirstMs + kMarginMs || now_ms > kLastMs - kMarginMs)
    return {};  // no calendar there
  return RelativeDateFinder(question, now_ms).find();
}

double span_match(const std::vector<DaySpan>& spans, int64_t timestamp_ms) {
  if (spans.empty()) return 0;
  const auto day = static_cast<int32_t>(day_of(timestamp_ms).time_since_epoch().count());
  double best = 0;
  for (const DaySpan& one : spans) {
    const bool is_within = day >= one.first && day <= one.last;
    const bool is_single = one.first == one.last;
    if (is_within) best = std::max(best, is_single ? 1 : kLongSpanFit);
    if (is_single && day == one.last + 1) best = std::max(best, kDayAfterFit);
  }
  return best;
}

}  // namespace varve::query
