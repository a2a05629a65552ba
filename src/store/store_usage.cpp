#include "store/store_usage.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/time.h"
#include "json/object_reader.h"
#include "session/reports/usage.h"
#include "store/problem.h"

namespace varve::store {

namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr size_t kDateChars = 10;  // YYYY-MM-DD

void read_time_range(std::string_view text, json::ObjectReader& parent, UsageFilter* filter,
                     Status* failure) {
  const auto range = parent.read_object("time");
  if (!range) return;
  json::ObjectReader reader(text, *range);
  std::optional<int64_t> start_ms;
  std::optional<int64_t> end_ms;
  reader.read_time("start", &start_ms);
  reader.read_time("end", &end_ms);
  if (start_ms && end_ms && *start_ms > *end_ms) {
    reader.fail(*range->find("end"), "must not be before 'start'");
  }
  *failure = reader.finish();
  filter->start_ms = start_ms.value_or(filter->start_ms);
  filter->end_ms = end_ms.value_or(filter->end_ms);
}

class UsageReport {
 public:
  void add(const std::string& session_id, const json::Tree& metadata,
           const session::UsageByDay& days);
  void add_problem(std::string_view session_id, std::string_view reason) {
    problems_.push(problem(session_id, reason));
  }
  [[nodiscard]] json::Tree tree() const;

 private:
  using Totals = std::map<std::string, session::Usage>;
  static json::Tree list(std::string_view name, const Totals& totals);

  session::Usage total_;
  json::Tree sessions_ = json::Tree::array();
  Totals agents_;
  Totals users_;
  session::UsageByDay days_;
  json::Tree problems_ = json::Tree::array();
};

void UsageReport::add(const std::string& session_id, const json::Tree& metadata,
                      const session::UsageByDay& days) {
  session::Usage total;
  for (const auto& [day, usage] : days) {
    total.add(usage);
    days_[day].add(usage);
  }
  if (total.entries == 0) return;
  const std::string user_id = metadata.get_string("user_id");
  const std::string agent_id = metadata.get_string("agent_id");
  total_.add(total);
  users_[user_id].add(total);
  agents_[agent_id].add(total);
  json::Tree item = json::Tree::object();
  item.set("session_id", json::Tree::string(session_id));
  item.set("user_id", json::Tree::string(user_id));
  item.set("agent_id", json::Tree::string(agent_id));
  total.write_to(item);
  sessions_.push(std::move(item));
}

json::Tree UsageReport::list(std::string_view name, const Totals& totals) {
  json::Tree list = json::Tree::array();
  for (const auto& [key, usage] : totals) {
    json::Tree item = json::Tree::object();
    item.set(name, json::Tree::string(key));
    usage.write_to(item);
    list.push(std::move(item));
  }
  return list;
}

json::Tree UsageReport::tree() const {
  Totals days;
  for (const auto& [day, usage] : days_) {
    days[format_rfc3339(day * kDayMs).substr(0, kDateChars)].add(usage);
  }
  json::Tree total = json::Tree::object();
  total_.write_to(total);
  json::Tree tree = json::Tree::object();
  tree.set("total", std::move(total));
  tree.set("sessions", sessions_);
  tree.set("agents", list("agent_id", agents_));
  tree.set("users", list("user_id", users_));
  tree.set("days", list("day", days));
  tree.set("problems", problems_);
  return tree;
}

}  // namespace

Result<UsageFilter> parse_usage_filter(std::string_view text) {
  UsageFilter filter;
  Status failure;
  VARVE_TRY(json::read_object(text, [&](json::ObjectReader& reader) {
    reader.refuse_empty({"user_id", "agent_id", "session_ids"});
    reader.read_string("user_id", &filter.user_id);
    reader.read_string("agent_id", &filter.agent_id);
    reader.read_ids("session_ids", &filter.session_ids);
    read_time_range(text, reader, &filter, &failure);
  }));
  VARVE_TRY(failure);
  return filter;
}

Result<json::Tree> sum_usage(const UsageFilter& filter, std::vector<std::string> session_ids,
                             const OpenSession& open) {
  std::sort(session_ids.begin(), session_ids.end());
  UsageReport report;
  for (const auto& id : session_ids) {
    const Status added = [&]() -> Status {
      VARVE_TRY_ASSIGN(const auto session, open(id));
      VARVE_TRY_ASSIGN(const json::Tree metadata, session->metadata());
      VARVE_TRY_ASSIGN(const auto days, session->usage(filter.start_ms, filter.end_ms));
      report.add(id, metadata, days);
      return {};
    }();
    if (added.ok() || added.code() == Code::kNotFound) continue;  // deleted or expired meanwhile
    // An invalid id, or a total that would be too low without anybody knowing.
    if (added.code() == Code::kInvalidArgument || added.code() == Code::kNoMemory) return added;
    report.add_problem(id, added.message());
  }
  return report.tree();
}

}  // namespace varve::store
