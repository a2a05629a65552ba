#include "session/reports/usage.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "entry/entry.h"
#include "session/core.h"
#include "session/retries.h"

namespace varve::session {

namespace {

constexpr uint32_t kRowsAtATime = 256;
constexpr uint64_t kReadAheadBytes = uint64_t{256} << 10;  // at once, where lines are shorter
constexpr int64_t kDayMs = 86'400'000;
constexpr uint64_t kTokensMax = 1'000'000'000'000;  // of one entry; nobody counts more tokens
constexpr double kCostUsdMax = 1e9;
constexpr double kNano = 1e9;

uint64_t sum(uint64_t a, uint64_t b) noexcept {
  return a > std::numeric_limits<uint64_t>::max() - b ? std::numeric_limits<uint64_t>::max()
                                                      : a + b;
}

// A null is none: it hides no other member that tells.
std::optional<json::Value> find_given(json::Value object, std::string_view name) {
  const auto value = object.find(name);
  return value && value->kind() == json::Kind::kNull ? std::nullopt : value;
}

std::optional<uint64_t> read_tokens(json::Value usage, std::string_view name,
                                    std::string_view other_name) {
  auto value = find_given(usage, name);
  if (!value) value = find_given(usage, other_name);
  if (!value) return std::nullopt;
  const auto tokens = value->as_uint64();
  return tokens && *tokens <= kTokensMax ? tokens : std::nullopt;
}

std::optional<uint64_t> read_cost(json::Value usage) {
  const auto value = usage.find("cost_usd");
  if (!value || !value->is_number()) return std::nullopt;
  const double cost = value->as_double();
  if (!(cost >= 0 && cost <= kCostUsdMax)) return std::nullopt;
  return static_cast<uint64_t>(std::llround(cost * kNano));
}

int64_t day_of(int64_t time_ms) {
  const int64_t day = time_ms / kDayMs;
  return time_ms % kDayMs < 0 ? day - 1 : day;
}

// Lines of the log that are asked for in its order, by few reads.
class LinesAhead {
 public:
  // None of them ends behind `end`.
  LinesAhead(Core& core, uint64_t generation, uint64_t end)
      : core_(core), generation_(generation), end_(end) {}

  // The bytes at a place, valid until the next call; less where the log ends before.
  Result<std::string_view> at(const index::Location& place) {
    const bool is_there = place.offset >= begin_ && place.offset - begin_ <= bytes_.size() &&
                          bytes_.size() - (place.offset - begin_) >= place.length;
    if (!is_there) VARVE_TRY(read(place));
    return std::string_view(bytes_).substr(place.offset - begin_, place.length);
  }

 private:
  Status read(const index::Location& place) {
    begin_ = place.offset;
    bytes_.resize(std::max(place.length, std::min(kReadAheadBytes, end_ - std::min(end_, begin_))));
    const auto got = core_.storage->read(log::Stream::kEntries, generation_, begin_, bytes_);
    bytes_.resize(got.ok() ? *got : 0);
    return got.status();
  }

  Core& core_;
  uint64_t generation_;
  uint64_t end_;
  uint64_t begin_ = 0;  // of what was read
  std::string bytes_;
};

// Whether a letter is written as an escape, which varve does not do: a name may be written so by
// hand.
bool has_escaped_letter(std::string_view line) {
  constexpr std::string_view kEscape = "\\u00";
  for (size_t at = line.find(kEscape); at != std::string_view::npos;
       at = line.find(kEscape, at + 1)) {
    const std::string_view digits = line.substr(at + kEscape.size());
    if (digits.starts_with('6') || digits.starts_with('7')) return true;
  }
  return false;
}

// Few entries tell of usage, and a line that is as it was indexed and has no such member is one of
// the others: it need not be checked as an entry that is shown.
class UsageMember {
 public:
  [[nodiscard]] bool may_be_in(std::string_view line) const {
    return std::search(line.begin(), line.end(), searcher_) != line.end() ||
           has_escaped_letter(line);
  }

 private:
  static constexpr std::string_view kName = "\"usage\"";
  std::boyer_moore_horspool_searcher<std::string_view::const_iterator> searcher_{kName.begin(),
                                                                                 kName.end()};
};

}  // namespace

void Usage::add(const Usage& other) noexcept {
  entries = sum(entries, other.entries);
  input_tokens = sum(input_tokens, other.input_tokens);
  output_tokens = sum(output_tokens, other.output_tokens);
  cost_nano_usd = sum(cost_nano_usd, other.cost_nano_usd);
}

void Usage::write_to(json::Tree& object) const {
  object.set("entries", json::Tree::integer_unsigned(entries));
  object.set("input_tokens", json::Tree::integer_unsigned(input_tokens));
  object.set("output_tokens", json::Tree::integer_unsigned(output_tokens));
  object.set("cost_usd", json::Tree::number(static_cast<double>(cost_nano_usd) / kNano));
}

std::optional<Usage> read_usage(json::Value entry) {
  auto usage = find_given(entry, "usage");
  if (!usage) {
    const auto content = entry.find("content");
    if (content && content->is_object()) usage = content->find("usage");
  }
  if (!usage || !usage->is_object()) return std::nullopt;
  const auto input = read_tokens(*usage, "input_tokens", "prompt_tokens");
  const auto output = read_tokens(*usage, "output_tokens", "completion_tokens");
  const auto cost = read_cost(*usage);
  if (!input && !output && !cost) return std::nullopt;
  return Usage{1, input.value_or(0), output.value_or(0), cost.value_or(0)};
}

bool UsageTable::is_current() const {
  return core_.has_rows_of(epoch_) && core_.view.tail.generation == generation_;
}

Result<UsageByDay> UsageTable::by_day(int64_t start_ms, int64_t end_ms) {
  const std::lock_guard guard(mutex_);
  return while_replaced([&]() -> Result<UsageByDay> {
    VARVE_TRY(read_rows());
    const int64_t now_ms = core_.context.clock->now_ms();
    UsageByDay days;
    const std::shared_lock lock(core_.index_mutex);
    if (!is_current()) return log::replaced();
    for (const Row& row : rows_) {
      const int64_t time_ms = core_.index.timestamp_ms(row.row);
      if (time_ms < start_ms || time_ms >= end_ms) continue;
      if (core_.index.is_live(row.row, now_ms)) days[day_of(time_ms)].add(row.usage);
    }
    return days;
  });
}

// kGone when the log or a wrong index was replaced meanwhile: start over.
Status UsageTable::read_rows() {
  VARVE_TRY(core_.catch_up());
  uint32_t end = 0;
  {
    const std::shared_lock lock(core_.index_mutex);
    VARVE_TRY(core_.check_whole());
    if (!is_current()) {
      rows_.clear();
      next_row_ = 0;
      epoch_ = core_.index_epoch;
      generation_ = core_.view.tail.generation;
    }
    end = core_.index.size();
  }
  while (next_row_ < end) VARVE_TRY(read_some(std::min(end, next_row_ + kRowsAtATime)));
  return {};
}

Status UsageTable::read_some(uint32_t end) {
  std::vector<std::pair<std::string, RowPlace>> found;
  bool from_log = false;
  {
    const std::shared_lock lock(core_.index_mutex);
    if (!is_current()) return index_made_anew();
    from_log = core_.index_from_log;
    for (uint32_t row = next_row_; row < end; ++row) {
      if (core_.index.is_deleted(row)) continue;  // expired rows are kept: a clock may be set back
      found.emplace_back(core_.index.id(row), core_.place_of(row));
    }
  }
  json::Document document;
  const index::Location last = found.empty() ? index::Location() : found.back().second.location;
  LinesAhead lines(core_, generation_, last.offset + last.length);
  const UsageMember member;
  std::vector<Row> rows;  // all or none: after a failure they are read again
  for (const auto& [id, place] : found) {
    VARVE_TRY_ASSIGN(const std::string_view seen, lines.at(place.location));
    const bool is_as_indexed =
        seen.size() == place.location.length && hash64(seen) == place.location.line_hash;
    if (is_as_indexed && !member.may_be_in(seen)) continue;
    const auto line = core_.entries.read_from_log(id, place);
    if (line.code() == Code::kCorruption) {
      if (from_log) continue;  // the disk has changed since
      return core_.rebuild_and_start_over();
    }
    VARVE_TRY(line);
    if (!document.parse(*line, entry::line_limits()).ok()) continue;
    if (const auto usage = read_usage(document.root())) rows.push_back({place.row, *usage});
  }
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  next_row_ = end;
  return {};
}

}  // namespace varve::session
