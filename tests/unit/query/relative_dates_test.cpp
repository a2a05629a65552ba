#include "query/relative_dates.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/time.h"

namespace varve::query {
namespace {

constexpr const char* kWednesday = "2026-11-25T12:00:00Z";

int64_t at(const std::string& time) { return parse_rfc3339(time).value_or(-1); }

// "2026-11-24", or "2026-11-16 to 2026-11-22", of each span.
std::vector<std::string> spans_of(const std::string& question, const char* now = kWednesday) {
  std::vector<std::string> spans;
  for (const DaySpan& one : find_relative_dates(question, at(now))) {
    const auto day = [](int32_t number) {
      return format_rfc3339(int64_t{number} * 86'400'000).substr(0, 10);
    };
    spans.push_back(one.first == one.last ? day(one.first)
                                          : day(one.first) + " to " + day(one.last));
  }
  return spans;
}

struct SpanCase {
  const char* question;
  std::vector<std::string> spans;
};

class RelativeDates : public testing::TestWithParam<SpanCase> {};

TEST_P(RelativeDates, InAQuestionOfAWednesday) {
  EXPECT_EQ(spans_of(GetParam().question), GetParam().spans) << GetParam().question;
}

INSTANTIATE_TEST_SUITE_P(
    Days, RelativeDates,
    testing::Values(SpanCase{"What is to be done today?", {"2026-11-25"}},
                    SpanCase{"What did I eat Yesterday", {"2026-11-24"}},
                    SpanCase{"the day before yesterday, what was it?", {"2026-11-23"}},
                    SpanCase{"what did I say before yesterday?", {"2026-11-24"}},
                    SpanCase{"who called last night?", {"2026-11-24"}},
                    SpanCase{"3 days ago", {"2026-11-22"}},
                    SpanCase{"365 days ago", {"2025-11-25"}}, SpanCase{"1000 days ago", {}},
                    SpanCase{"two days ago or a day ago", {"2026-11-23", "2026-11-24"}},
                    SpanCase{"last Friday", {"2026-11-20"}}, SpanCase{"on Tuesday", {"2026-11-24"}},
                    SpanCase{"on Wednesday", {"2026-11-18"}},  // before today
                    SpanCase{"ON SUNDAY", {"2026-11-22"}}));

INSTANTIATE_TEST_SUITE_P(Longer, RelativeDates,
                         testing::Values(SpanCase{"last week", {"2026-11-16 to 2026-11-22"}},
                                         SpanCase{"this week", {"2026-11-23 to 2026-11-29"}},
                                         SpanCase{"last weekend", {"2026-11-21 to 2026-11-22"}},
                                         SpanCase{"2 weeks ago", {"2026-11-08 to 2026-11-14"}},
                                         SpanCase{"a week ago", {"2026-11-15 to 2026-11-21"}},
                                         SpanCase{"last month", {"2026-10-01 to 2026-10-31"}},
                                         SpanCase{"this month", {"2026-11-01 to 2026-11-30"}},
                                         SpanCase{"nine months ago", {"2026-02-01 to 2026-02-28"}},
                                         SpanCase{"last year", {"2025-01-01 to 2025-12-31"}},
                                         SpanCase{"4 years ago", {"2022-01-01 to 2022-12-31"}}));

INSTANTIATE_TEST_SUITE_P(
    None, RelativeDates,
    testing::Values(SpanCase{"", {}}, SpanCase{"the last weekly report", {}},
                    SpanCase{"at last", {}}, SpanCase{"this", {}}, SpanCase{"on", {}},
                    SpanCase{"Friday", {}}, SpanCase{"this Friday", {}}, SpanCase{"long ago", {}},
                    SpanCase{"some days ago", {}}, SpanCase{"days ago", {}},
                    SpanCase{"1000 days ago", {}}, SpanCase{"1,000 days ago", {}},
                    SpanCase{"2.5 weeks ago", {}}, SpanCase{"12345678901234567890 days ago", {}},
                    SpanCase{"2 weeks before", {}}, SpanCase{"on weekend", {}},
                    SpanCase{"3 dayz ago", {}}));

TEST(RelativeDates, WithinOneWeekAndOverTheEndOfAYear) {
  EXPECT_EQ(spans_of("last weekend", "2026-11-29T23:59:59.999Z"),  // a Sunday
            (std::vector<std::string>{"2026-11-21 to 2026-11-22"}));
  EXPECT_EQ(spans_of("last week", "2026-11-23T00:00:00Z"),  // a Monday
            (std::vector<std::string>{"2026-11-16 to 2026-11-22"}));
  EXPECT_EQ(spans_of("last month", "2026-01-31T12:00:00Z"),
            (std::vector<std::string>{"2025-12-01 to 2025-12-31"}));
  EXPECT_EQ(spans_of("yesterday", "2024-03-01T00:00:00Z"),
            (std::vector<std::string>{"2024-02-29"}));
}

TEST(RelativeDates, WhereThereIsNoCalendarThereAreNone) {
  for (const int64_t now_ms : {INT64_MIN, kFirstMs, kLastMs, INT64_MAX}) {
    EXPECT_TRUE(find_relative_dates("yesterday, last year, 999 years ago", now_ms).empty());
  }
}

TEST(SpanMatch, IsOneOnASingleDayAndHalfOnTheNextAndInALongerSpan) {
  const auto yesterday = find_relative_dates("yesterday", at(kWednesday));
  EXPECT_EQ(span_match(yesterday, at("2026-11-23T23:59:59.999Z")), 0);
  EXPECT_EQ(span_match(yesterday, at("2026-11-24T00:00:00Z")), 1);
  EXPECT_EQ(span_match(yesterday, at("2026-11-25T23:59:59Z")), 0.5);
  EXPECT_EQ(span_match(yesterday, at("2026-11-26T00:00:00Z")), 0);
  const auto week = find_relative_dates("last week", at(kWednesday));
  EXPECT_EQ(span_match(week, at("2026-11-15T23:59:59Z")), 0);
  EXPECT_EQ(span_match(week, at("2026-11-16T00:00:00Z")), 0.5);
  EXPECT_EQ(span_match(week, at("2026-11-22T23:59:59Z")), 0.5);
  EXPECT_EQ(span_match(week, at("2026-11-23T00:00:00Z")), 0);
  const auto both = find_relative_dates("last week, last Friday", at(kWednesday));
  EXPECT_EQ(span_match(both, at("2026-11-20T12:00:00Z")), 1);
  EXPECT_EQ(span_match({}, at("2026-11-20T12:00:00Z")), 0);
}

}  // namespace
}  // namespace varve::query
