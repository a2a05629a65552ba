// log.
#include <algorithm>
#include <memory>

#include "cli/arguments/arguments.h"
#include "cli/arguments/command.h"
#include "cli/arguments/conditions.h"
#include "cli/arguments/operands.h"
#include "cli/arguments/option_values.h"
#include "cli/json_text.h"
#include "cli/view/display_text.h"
#include "cli/view/entry_view.h"

namespace varve::cli {
namespace {

constexpr size_t kContentLines = 20;

struct LogOptions {
  Operands operands;
  Conditions conditions;
  int64_t limit = 10;
  bool one_line = false;
  bool full = false;
  bool reverse = false;
};

// The lines of the results, as they are stored.
std::vector<std::string_view> stored_lines(std::string_view results_json) {
  std::vector<std::string_view> lines;
  for (const std::string_view result : raw_items(raw_member(results_json, "results"))) {
    lines.push_back(raw_member(result, "entry"));
  }
  return lines;
}

void print_lines(Invocation& invocation, const std::vector<std::string_view>& lines,
                 const LogOptions& options) {
  if (invocation.json()) {
    invocation.out().write("[");
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) invocation.out().write(",\n");
      invocation.out().write(lines[i]);
    }
    invocation.out().write("]\n");
    return;
  }
  const bool cut = invocation.terminal().is_terminal() && !options.full;
  for (size_t i = 0; i < lines.size() && invocation.out().error() == 0; ++i) {
    if (invocation.quiet()) {
      invocation.print(printable(unquote(raw_member(lines[i], "id")), Lines::kJoin));
    } else if (options.one_line) {
      print_entry_line(invocation, lines[i]);
    } else {
      if (i > 0) invocation.print("");
      print_entry(invocation, lines[i], Detail::kUsual, cut ? kContentLines : 0);
    }
  }
}

// On a terminal, that there are more than those shown.
Outcome note_others(Invocation& invocation, Session& session, const json::object& conditions,
                    size_t shown) {
  if (invocation.quiet() || !invocation.terminal().is_terminal()) return std::nullopt;
  Result<uint64_t> found = session.count(json_of(conditions));
  if (!found.ok()) return std::move(found.failure());
  invocation.note(invocation.err_terminal().paint(
      Style::kFaint, "(" + format_count(static_cast<int64_t>(shown)) + " of " +
                         format_count(static_cast<int64_t>(*found), "entry", "entries") +
                         "; -n 0 shows all)"));
  return std::nullopt;
}

// Prints what the conditions find in the session.
Outcome show_log(Invocation& invocation, Session& session, const json::object& conditions,
                 const LogOptions& options) {
  json::object query = conditions;
  query["sort_by"] = "time";
  query["limit"] = limit_of_query(options.limit);
  Result<Results> results = session.query(json_of(query));
  if (!results.ok()) {
    options.conditions.name_option(results.failure());
    return std::move(results.failure());
  }
  Result<std::string_view> text = results->json();
  if (!text.ok()) return std::move(text.failure());
  std::vector<std::string_view> lines = stored_lines(*text);
  if (options.reverse) std::reverse(lines.begin(), lines.end());
  print_lines(invocation, lines, options);
  if (invocation.json()) return std::nullopt;
  if (lines.empty()) invocation.note("No entries.");
  const bool has_more = raw_member(*text, "next").starts_with('"');
  return has_more ? note_others(invocation, session, conditions, lines.size()) : std::nullopt;
}

int run_log(Invocation& invocation, const LogOptions& options) {
  Result<std::string> id = session_operand(invocation, options.operands);
  if (!id.ok()) return invocation.fail(id.failure());
  Result<json::object> conditions = options.conditions.query({});
  if (!conditions.ok()) return invocation.fail(conditions.failure());
  Result<OpenSession> open = open_session(invocation, *id);
  if (!open.ok()) return invocation.fail(open.failure());
  if (Outcome failure = show_log(invocation, open->session, *conditions, options)) {
    return invocation.fail_in_session(*std::move(failure), *id);
  }
  return kExitOk;
}

Runner declare_log(CLI::App& app) {
  auto options = std::make_shared<LogOptions>();
  options->operands.declare(app, 1);
  app.add_option(kLimitNames, options->limit, "At most this many entries; 0 for all (10)")
      ->type_name("N")
      ->transform(whole_number());
  options->conditions.declare(app);
  app.add_flag("--oneline", options->one_line, "One line for each entry");
  app.add_flag("--full", options->full, "Do not cut long contents on a terminal");
  app.add_flag("--reverse", options->reverse, "Show the oldest of them first");
  return [options](Invocation& invocation) { return run_log(invocation, *options); };
}

}  // namespace

Command log_command() {
  return {"log",
          "show the latest entries, newest first",
          "[SESSION]",
          "Shows entries by timestamp, newest first. On a terminal, contents of more than 20 lines "
          "are cut; elsewhere nothing is. With --quiet only the ids, with --json an array of the "
          "stored lines. Entries can be chosen as for `varve search`, but not by words.",
          "varve log notes\nvarve log notes -n 0 --oneline | grep tea\n"
          "varve log notes --type decision --tag database --since 7d",
          &declare_log};
}

}  // namespace varve::cli
