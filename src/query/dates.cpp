#include "query/dates.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "query/date_tokens.h"
#include "text/characters.h"

namespace varve::query {

namespace {

constexpr std::array<std::string_view, 12> kMonths = {
    "january", "february", "march",     "april",   "may",      "june",
    "july",    "august",   "september", "october", "november", "december"};

// A hyphen, or U+2010 to U+2015, which are hyphens and dashes of every length.
bool is_dash(uint32_t code_point) {
  return code_point == '-' || (code_point >= 0x2010 && code_point <= 0x2015);
}

class DateFinder {
 public:
  explicit DateFinder(std::string_view question) : tokens_(date_tokens(question)) {}

  std::vector<NamedDate> find() {
    for (size_t at = 0; at < tokens_.size() && dates_.size() < kDatesMax;) {
      size_t after = read_numbers(at);
      if (after == at) after = read_day_first(at);
      if (after == at) after = read_month_first(at);
      at = std::max(after, at + 1);
    }
    return std::move(dates_);
  }

 private:
  // A number of so many digits at most, or nothing.
  [[nodiscard]] std::optional<int32_t> number(size_t at, size_t digits_max, int32_t low,
                                              int32_t high) const {
    if (at >= tokens_.size() || !tokens_[at].is_number) return std::nullopt;
    const std::string& text = tokens_[at].text;
    if (text.size() > digits_max) return std::nullopt;
    const int32_t value = std::stoi(text);
    return value >= low && value <= high ? std::optional(value) : std::nullopt;
  }
  [[nodiscard]] std::optional<int32_t> day(size_t at) const { return number(at, 2, 1, 31); }
  [[nodiscard]] std::optional<int32_t> year(size_t at) const { return number(at, 4, 1900, 2099); }
  [[nodiscard]] bool is_full_month(size_t at) const {
    return at < tokens_.size() &&
           std::find(kMonths.begin(), kMonths.end(), tokens_[at].text) != kMonths.end();
  }
  [[nodiscard]] std::optional<int32_t> month(size_t at) const {
    if (at >= tokens_.size() || tokens_[at].is_number) return std::nullopt;
    const std::string& text = tokens_[at].text;
    if (text == "sept") return 9;
    for (size_t i = 0; i < kMonths.size(); ++i) {
      if (text == kMonths[i] || text == kMonths[i].substr(0, 3)) return static_cast<int32_t>(i) + 1;
    }
    return std::nullopt;
  }
  // Whether what stands before the token may stand inside a date.
  [[nodiscard]] bool is_near(size_t at) const {
    if (at >= tokens_.size()) return false;
    const std::string_view gap = tokens_[at].gap;
    size_t mark_count = 0;
    for (size_t i = 0; i < gap.size();) {
      const auto character = text::character_at(gap, i);
      i += character.size_bytes;
      if (text::is_blank(character.code_point)) continue;
      if (character.code_point != ',' && character.code_point != '.' && character.code_point != '-')
        return false;
      ++mark_count;
    }
    return mark_count <= 1;
  }
  // The last of a range of days, as the 9 of "7-9": it stands behind a dash. That of "7 - 9:30" and
  // "7 - 9am" is an hour.
  [[nodiscard]] std::optional<int32_t> range_end(int32_t first, size_t at) const {
    const auto last = day(at);
    if (!last || *last <= first) return std::nullopt;
    const bool is_whole = at + 1 == tokens_.size() || is_ordinal_suffix(at + 1) ||
                          !(tokens_[at + 1].gap.empty() || tokens_[at + 1].goes_on);
    if (!is_whole) return std::nullopt;
    std::string_view gap = tokens_[at].gap;
    size_t dash_count = 0;
    while (!gap.empty()) {
      const auto character = text::character_at(gap, 0);
      gap.remove_prefix(character.size_bytes);
      if (text::is_blank(character.code_point)) continue;
      if (!is_dash(character.code_point)) return std::nullopt;
      ++dash_count;
    }
    return dash_count == 1 ? last : std::nullopt;
  }
  [[nodiscard]] bool is_ordinal_suffix(size_t at) const {
    if (at >= tokens_.size() || !tokens_[at].gap.empty()) return false;
    const std::string& text = tokens_[at].text;
    return text == "st" || text == "nd" || text == "rd" || text == "th";
  }

  // 2023-05-07, 25.01.2024, 1/25/2024: the place after it, or `at`.
  size_t read_numbers(size_t at) {
    if (at + 2 >= tokens_.size() || !tokens_[at].is_number || !tokens_[at + 1].is_number ||
        !tokens_[at + 2].is_number) {
      return at;
    }
    const std::string_view gap = tokens_[at + 1].gap;
    if (gap != tokens_[at + 2].gap || (gap != "-" && gap != "/" && gap != ".")) return at;
    if (const auto year_first = year(at)) {
      const auto middle = number(at + 1, 2, 1, 12);
      const auto last = day(at + 2);
      if (middle && last) return add(*year_first, *middle, *last, at + 3);
    }
    const auto year_last = year(at + 2);
    const auto first = day(at);
    const auto second = day(at + 1);
    if (!year_last || !first || !second) return at;
    if (gap == ".") return add(*year_last, *second, *first, at + 3);
    add(*year_last, *first, *second, at);
    if (*first != *second) add(*year_last, *second, *first, at);
    return at + 3;
  }

  // One day or several, and the place behind them.
  struct Days {
    int32_t first;
    int32_t last;
    size_t after;
  };

  // 7, 7th, 7-9, 7th - 9th.
  [[nodiscard]] std::optional<Days> days(size_t at) const {
    const auto behind = [this](size_t number) {
      return number + (is_ordinal_suffix(number + 1) ? 2 : 1);
    };
    const auto first = day(at);
    if (!first) return std::nullopt;
    Days found{*first, *first, behind(at)};
    if (const auto last = range_end(*first, found.after)) {
      found.last = *last;
      found.after = behind(found.after);
    }
    return found;
  }

  // 7 May 2023, the 8th of December, 7 May, 7-9 May.
  size_t read_day_first(size_t at) {
    const auto named = days(at);
    if (!named || tokens_[at].goes_on) return at;
    size_t next = named->after;
    if (next < tokens_.size() && tokens_[next].text == "of") ++next;
    const auto middle = month(next);
    if (!middle || !is_near(next)) return at;
    const auto last = is_near(next + 1) ? year(next + 1) : std::nullopt;
    return add_days(last, *middle, *named, next + (last ? 2 : 1));
  }

  // May 7, 2023; May 7th; May 7-9, 2023; May 2023; in June.
  size_t read_month_first(size_t at) {
    const auto first = month(at);
    if (!first) return at;
    if (const auto named = days(at + 1); named && is_near(at + 1)) {
      const auto last = is_near(named->after) ? year(named->after) : std::nullopt;
      return add_days(last, *first, *named, named->after + (last ? 1 : 0));
    }
    if (const auto last = year(at + 1); last && is_near(at + 1)) {
      return add(last, *first, std::nullopt, at + 2);
    }
    if (is_full_month(at) && tokens_[at].is_capitalized && at > 0) {
      return add(std::nullopt, *first, std::nullopt, at + 1);
    }
    return at;
  }

  size_t add(std::optional<int32_t> year, int32_t month, std::optional<int32_t> day, size_t after) {
    if (month >= 1 && month <= 12 && dates_.size() < kDatesMax) {
      dates_.push_back({year, month, day});
    }
    return after;
  }

  size_t add_days(std::optional<int32_t> year, int32_t month, const Days& days, size_t after) {
    for (int32_t day = days.first; day <= days.last; ++day) add(year, month, day, after);
    return after;
  }

  std::vector<DateToken> tokens_;
  std::vector<NamedDate> dates_;
};

double match_one(const NamedDate& date, std::chrono::sys_days day) {
  using std::chrono::year_month_day;
  const year_month_day today(day);
  const auto own_month = static_cast<int32_t>(static_cast<unsigned>(today.month()));
  const int32_t own_year = static_cast<int32_t>(today.year());
  if (!date.day) {
    return own_month == date.month && date.year.value_or(own_year) == own_year ? kLongSpanFit : 0;
  }
  double best = 0;
  for (const int32_t year : {date.year.value_or(own_year), date.year.value_or(own_year - 1)}) {
    const year_month_day named{std::chrono::year(year),
                               std::chrono::month(static_cast<unsigned>(date.month)),
                               std::chrono::day(static_cast<unsigned>(*date.day))};
    if (!named.ok()) continue;
    const auto distance = day - std::chrono::sys_days(named);
    if (distance.count() == 0) best = 1;
    if (distance.count() == 1) best = std::max(best, kDayAfterFit);
  }
  return best;
}

}  // namespace

std::vector<NamedDate> find_dates(std::string_view question) { return DateFinder(question).find(); }

double date_match(const std::vector<NamedDate>& dates, int64_t timestamp_ms) {
  if (dates.empty()) return 0;
  const std::chrono::sys_days day = day_of(timestamp_ms);
  double best = 0;
  for (const NamedDate& date : dates) best = std::max(best, match_one(date, day));
  return best;
}

}  // namespace varve::query
