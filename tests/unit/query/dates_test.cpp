#include "query/dates.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "query/relative_dates.h"

namespace varve::query {
namespace {

constexpr std::nullopt_t kAny = std::nullopt;

struct DateCase {
  const char* text;
  std::vector<NamedDate> dates;
};

class FindDates : public ::testing::TestWithParam<DateCase> {};

TEST_P(FindDates, InAQuestion) { EXPECT_EQ(find_dates(GetParam().text), GetParam().dates); }

// What an independent implementation of the same rules found.
INSTANTIATE_TEST_SUITE_P(
    Reference, FindDates,
    ::testing::Values(
        DateCase{"What did Kevin watch on the night of 10.01.2024?", {{2024, 1, 10}}},
        DateCase{"on 2023-05-07", {{2023, 5, 7}}}, DateCase{"2023/5/7", {{2023, 5, 7}}},
        DateCase{"Which book on 8th December, 2023?", {{2023, 12, 8}}},
        DateCase{"What did Elise play 5 Jan 2024?", {{2024, 1, 5}}},
        DateCase{"7 of May", {{kAny, 5, 7}}}, DateCase{"starting on April 5, 2024", {{2024, 4, 5}}},
        DateCase{"until April 9?", {{kAny, 4, 9}}}, DateCase{"in August 2023", {{2023, 8, kAny}}},
        DateCase{"When did Melanie go camping in June?", {{kAny, 6, kAny}}},
        DateCase{"May I ask", {}}, DateCase{"you may go", {}}, DateCase{"Where in 2010?", {}},
        DateCase{"12/05/2023", {{2023, 12, 5}, {2023, 5, 12}}},
        DateCase{"1/25/2024", {{2024, 1, 25}}}, DateCase{"25-1-2024", {{2024, 1, 25}}},
        DateCase{"2 weeks before August 11, 2023", {{2023, 8, 11}}},
        DateCase{"from 3 to 5 May 2023", {{2023, 5, 5}}},
        DateCase{"Sept. 3rd, 2022", {{2022, 9, 3}}}, DateCase{"the 1st of march", {{kAny, 3, 1}}},
        DateCase{"31.12.1999 and 1 Jan 2000", {{1999, 12, 31}, {2000, 1, 1}}},
        DateCase{"PR-1234 v1.2.3", {}}, DateCase{"10:30 on 7 May", {{kAny, 5, 7}}}));

// The end of a number is no day.
INSTANTIATE_TEST_SUITE_P(EndsOfNumbers, FindDates,
                         ::testing::Values(DateCase{"at 12:30 May 7", {{kAny, 5, 7}}},
                                           DateCase{"at 9.15 May 7th, 2024", {{2024, 5, 7}}},
                                           DateCase{"what did 2.5 May 2024 bring",
                                                    {{2024, 5, kAny}}},
                                           DateCase{"on 3,4 May", {{kAny, 5, 4}}},
                                           DateCase{"on 3. 4 May", {{kAny, 5, 4}}}));

const std::vector<NamedDate> kSeventhToNinth = {{2024, 5, 7}, {2024, 5, 8}, {2024, 5, 9}};

// Ranges of days: each of them counts, with the year that stands behind.
INSTANTIATE_TEST_SUITE_P(
    Ranges, FindDates,
    ::testing::Values(DateCase{"on May 7-9, 2024?", kSeventhToNinth},
                      DateCase{"on 7-9 May 2024?", kSeventhToNinth},
                      DateCase{"on the 7th - 9th of May, 2024", kSeventhToNinth},
                      DateCase{"on May 7th \xe2\x80\x93 9th, 2024", kSeventhToNinth},
                      DateCase{"on May 30-31", {{kAny, 5, 30}, {kAny, 5, 31}}},
                      DateCase{"on May 9-7, 2024", {{kAny, 5, 9}}},
                      DateCase{"on May 7-32, 2024", {{kAny, 5, 7}}},
                      DateCase{"on May 7 -- 9, 2024", {{kAny, 5, 7}}},
                      DateCase{"on May 7-/9, 2024", {{kAny, 5, 7}}},
                      DateCase{"on May 7 - 9:30", {{kAny, 5, 7}}},
                      DateCase{"on May 7 - 9am, 2024", {{kAny, 5, 7}}}));

INSTANTIATE_TEST_SUITE_P(
    Edges, FindDates,
    ::testing::Values(DateCase{"", {}}, DateCase{"2023-13-01", {}}, DateCase{"2023-05-32", {}},
                      DateCase{"1899-05-07", {}}, DateCase{"2100-05-07", {}},
                      DateCase{"2023-05/07", {}}, DateCase{"12345678901234567890.1.2024", {}},
                      DateCase{"5/5/2023", {{2023, 5, 5}}}, DateCase{"0/5/2023", {}},
                      DateCase{"32 May", {{kAny, 5, kAny}}}, DateCase{"MAY 7", {{kAny, 5, 7}}},
                      DateCase{"call mom in june", {}}, DateCase{"Was it Jun?", {}},
                      DateCase{"7\xc3\xa9 May", {{kAny, 5, kAny}}},
                      DateCase{"on May\xc2\xa0"
                               "7,\xe2\x80\xaf"
                               "2023",
                               {{2023, 5, 7}}},
                      DateCase{"on May, - 7", {{kAny, 5, kAny}}},
                      DateCase{"room 7; June 2023", {{2023, 6, kAny}}},
                      DateCase{"on 7 May; 2023 was better", {{kAny, 5, 7}}},
                      DateCase{"on May 7; 2023 was better", {{kAny, 5, 7}}},
                      DateCase{"in May; 2023 was better", {{kAny, 5, kAny}}},
                      DateCase{"on May7, or in June2023", {{kAny, 5, 7}, {2023, 6, kAny}}},
                      DateCase{"the 7 th May", {{kAny, 5, kAny}}}));

int64_t at(const char* time) { return parse_rfc3339(time).value_or(-1); }

// Days of thousands of lines were compared with each of a million entries.
TEST(FindDates, TheFirstOfVeryManyCount) {
  std::string days;
  std::string spans;
  for (int i = 0; i < 5000; ++i) {
    days += "2023-05-" + std::to_string(1 + i % 28) + " ";
    spans += std::to_string(1 + i % 900) + " days ago, ";
  }
  const auto dates = find_dates(days);
  ASSERT_EQ(dates.size(), kDatesMax);
  EXPECT_EQ(dates.front(), (NamedDate{2023, 5, 1}));
  EXPECT_EQ(dates[29], (NamedDate{2023, 5, 2}));
  EXPECT_EQ(find_relative_dates(spans, 0).size(), kDatesMax);
  EXPECT_EQ(find_dates("1/2/2023 May 1-31, 1-31 June, July 1-31").size(), kDatesMax);
}

TEST(DateMatch, IsOneOnTheDayHalfOnTheNextAndNothingElse) {
  const std::vector<NamedDate> dates = {{2023, 5, 7}};
  EXPECT_EQ(date_match(dates, at("2023-05-06T23:59:59.999Z")), 0);
  EXPECT_EQ(date_match(dates, at("2023-05-07T00:00:00Z")), 1);
  EXPECT_EQ(date_match(dates, at("2023-05-07T23:59:59.999Z")), 1);
  EXPECT_EQ(date_match(dates, at("2023-05-08T23:59:59.999Z")), 0.5);
  EXPECT_EQ(date_match(dates, at("2023-05-09T00:00:00Z")), 0);
  EXPECT_EQ(date_match(dates, at("2024-05-07T00:00:00Z")), 0);
}

TEST(DateMatch, WithoutAYearIsThatDayOfAnyYear) {
  const std::vector<NamedDate> dates = {{kAny, 12, 31}};
  EXPECT_EQ(date_match(dates, at("1999-12-31T12:00:00Z")), 1);
  EXPECT_EQ(date_match(dates, at("2024-12-31T12:00:00Z")), 1);
  EXPECT_EQ(date_match(dates, at("2025-01-01T12:00:00Z")), 0.5) << "the day after, in a new year";
  EXPECT_EQ(date_match(dates, at("2025-01-02T12:00:00Z")), 0);
}

TEST(DateMatch, AMonthIsHalf) {
  EXPECT_EQ(date_match({{2023, 8, kAny}}, at("2023-08-01T00:00:00Z")), 0.5);
  EXPECT_EQ(date_match({{2023, 8, kAny}}, at("2023-08-31T23:59:59Z")), 0.5);
  EXPECT_EQ(date_match({{2023, 8, kAny}}, at("2023-09-01T00:00:00Z")), 0);
  EXPECT_EQ(date_match({{2023, 8, kAny}}, at("2022-08-15T00:00:00Z")), 0);
  EXPECT_EQ(date_match({{kAny, 8, kAny}}, at("2022-08-15T00:00:00Z")), 0.5);
}

TEST(DateMatch, TheBestOfAllDatesCounts) {
  const std::vector<NamedDate> dates = {{kAny, 5, kAny}, {2023, 5, 7}, {2023, 5, 6}};
  EXPECT_EQ(date_match(dates, at("2023-05-07T01:00:00Z")), 1);
  EXPECT_EQ(date_match({}, at("2023-05-07T01:00:00Z")), 0);
}

TEST(DateMatch, ADayThatIsNoneAndTimesBeforeTheEpochDoNoHarm) {
  EXPECT_EQ(date_match({{2023, 2, 30}}, at("2023-03-02T00:00:00Z")), 0);
  EXPECT_EQ(date_match({{kAny, 2, 29}}, at("2023-03-01T00:00:00Z")), 0);
  EXPECT_EQ(date_match({{kAny, 2, 29}}, at("2024-02-29T00:00:00Z")), 1);
  EXPECT_EQ(date_match({{1969, 12, 31}}, -1), 1);
}

}  // namespace
}  // namespace varve::query
