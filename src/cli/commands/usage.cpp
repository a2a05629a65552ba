// usage.
#include <algorithm>
#include <array>
#include <memory>

#include "cli/arguments/arguments.h"
#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/arguments/option_values.h"
#include "cli/json_text.h"
#include "cli/session_work.h"
#include "cli/view/display_text.h"
#include "cli/view/table.h"

namespace varve::cli {
namespace {

constexpr int kCostDigits = 4;                        // behind the point
constexpr std::string_view kCostUnseen = "<$0.0001";  // with so many digits

struct UsageOptions {
  Operands operands;
  std::string by = "session";
  std::string user;
  std::string agent;
  std::string since;
  std::string until;
};

struct Grouping {
  std::string_view name;     // as in --by
  std::string_view list;     // of the report
  std::string_view member;   // of its items
  std::string_view heading;  // of the column
};

constexpr std::array<Grouping, 4> kGroupings = {{{"session", "sessions", "session_id", "SESSION"},
                                                 {"agent", "agents", "agent_id", "AGENT"},
                                                 {"user", "users", "user_id", "USER"},
                                                 {"day", "days", "day", "DAY"}}};

// Those that are named; none means all.
std::vector<std::string> sessions_of(const Invocation& invocation, const UsageOptions& options) {
  std::vector<std::string> ids = options.operands.given();
  const std::string& named = invocation.globals().session;
  if (!named.empty()) ids.push_back(named);
  return ids;
}

Result<std::string> filter_of(const UsageOptions& options, const std::vector<std::string>& ids) {
  json::object filter;
  if (!options.user.empty()) filter["user_id"] = options.user;
  if (!options.agent.empty()) filter["agent_id"] = options.agent;
  if (!ids.empty()) filter["session_ids"] = array_of(ids);
  Result<json::object> time = time_range(options.since, options.until);
  if (!time.ok()) return std::move(time.failure());
  if (!time->empty()) filter["time"] = *time;
  return json_of(filter);
}

std::string cost_text(const json::object& usage) {
  const double cost = number_at(usage, "cost_usd");
  const std::string shown = format_number(cost, kCostDigits);
  return cost > 0 && shown == "0" ? std::string(kCostUnseen) : "$" + shown;
}

void print_report(Invocation& invocation, const json::object& report, const Grouping& grouping) {
  Table table({{grouping.heading, Align::kLeft, Style::kId},
               {"ENTRIES", Align::kRight},
               {"INPUT", Align::kRight},
               {"OUTPUT", Align::kRight},
               {"COST", Align::kRight}});
  for (const json::value& item : array_at(report, grouping.list)) {
    if (!item.is_object()) continue;
    const json::object& usage = item.get_object();
    const std::string name = string_at(usage, grouping.member);
    table.add_row({name.empty() ? "-" : name, format_count(integer_at(usage, "entries")),
                   format_count(integer_at(usage, "input_tokens")),
                   format_count(integer_at(usage, "output_tokens")), cost_text(usage)});
  }
  table.print(invocation.out(), invocation.terminal());
  const json::object& total = object_at(report, "total");
  invocation.print(format_count(integer_at(total, "entries"), "entry", "entries") + ", " +
                   format_count(integer_at(total, "input_tokens")) + " tokens in, " +
                   format_count(integer_at(total, "output_tokens")) + " out, " + cost_text(total));
}

int run_usage(Invocation& invocation, const UsageOptions& options) {
  // One of these: the option accepts no other name.
  const auto* grouping =
      std::find_if(kGroupings.begin(), kGroupings.end(),
                   [&](const Grouping& known) { return known.name == options.by; });
  const std::vector<std::string> ids = sessions_of(invocation, options);
  Result<std::string> filter = filter_of(options, ids);
  if (!filter.ok()) return invocation.fail(filter.failure());
  Result<Store> store = invocation.open_store(Access::kExisting);
  if (!store.ok()) return invocation.fail(store.failure());
  // For a session that does not exist, the library counts nothing.
  int code = kExitOk;
  for (const std::string& id : ids) {
    Result<Session> session = invocation.open_session(*store, id);
    if (!session.ok() && session.failure().status == VARVE_NOT_FOUND) {
      code = invocation.fail(session.failure());
    }
  }
  if (code != kExitOk && ids.size() == 1) return code;
  Result<std::string> text = store->usage(*filter);
  if (!text.ok()) {
    name_option_of_member(text.failure(), {{"user_id", "--user"},
                                           {"agent_id", "--agent"},
                                           {"session_ids", "SESSION"},
                                           {"time.start", "--since"},
                                           {"time.end", "--until"}});
    return invocation.fail(text.failure());
  }
  const json::object report = parse_object(*text);
  if (invocation.json()) {
    invocation.print(*text);
  } else {
    print_report(invocation, report, *grouping);
  }
  const int problems = warn_of_problems(invocation, report, "not counted");
  return problems == kExitOk ? code : problems;
}

Runner declare_usage(CLI::App& app) {
  auto options = std::make_shared<UsageOptions>();
  options->operands.declare_many(app);
  app.add_option("--by", options->by, "A line for each session, agent, user or day")
      ->type_name("WHAT")
      ->check(one_of({"session", "agent", "user", "day"}));
  app.add_option("--user", options->user, "Only sessions of this user")->type_name("ID");
  app.add_option("--agent", options->agent, "Only sessions of this agent")->type_name("ID");
  app.add_option("--since", options->since, "Only entries of this time or later")
      ->type_name("TIME");
  app.add_option("--until", options->until, "Only entries before this time")->type_name("TIME");
  return [options](Invocation& invocation) { return run_usage(invocation, *options); };
}

}  // namespace

Command usage_command() {
  return {
      "usage",
      "show tokens and cost",
      "[SESSION]...",
      "Adds up what model calls took, as entries say in \"usage\", {\"input_tokens\", "
      "\"output_tokens\", \"cost_usd\"}. Entries that were deleted or have expired do not count. "
      "Days are in UTC.\n\n"
      "A SESSION that is not found is reported; the others are added up, and the exit code is 2.",
      "varve usage\nvarve usage --by day --user ada --since 2026-01-01",
      &declare_usage};
}

}  // namespace varve::cli
