// verify, repair, index.
#include <memory>

#include "cli/command.h"
#include "cli/display_text.h"
#include "cli/json_text.h"
#include "cli/operands.h"
#include "cli/progress.h"

namespace varve::cli {
namespace {

struct SessionsOptions {
  Operands operands;
  bool all = false;
  bool flag = false;  // --dry-run or --rebuild
};

// What one session gave: the library's report, and what to say about it.
struct SessionOutcome {
  std::string report;
  std::string summary;
  int code = kExitOk;
  bool asked_for = false;  // said even with --quiet
};

using Work = std::function<Result<SessionOutcome>(Context&, Session&, const std::string& id)>;

// Does `work` on one session and prints what it gave.
int run_on_one(Context& context, const std::string& id, const Work& work) {
  Result<OpenSession> open = open_session(context, id);
  if (!open.ok()) return context.fail(open.failure());
  Result<SessionOutcome> outcome = work(context, open->session, id);
  if (!outcome.ok()) return context.fail(context.with_hint(std::move(outcome.failure()), id));
  if (context.json()) {
    context.print(outcome->report);
  } else if (!context.quiet() || outcome->asked_for || outcome->code != kExitOk) {
    context.print(outcome->summary);
  }
  return outcome->code;
}

// Does `work` on every session. A session that cannot be opened does not stop the others.
int run_on_all(Context& context, std::string_view label, const Work& work) {
  Result<Store> store = context.open_store(Access::kExisting);
  if (!store.ok()) return context.fail(store.failure());
  Result<std::vector<std::string>> ids = all_session_ids(*store);
  if (!ids.ok()) return context.fail(ids.failure());
  Progress progress(context.err(), context.err_terminal(),
                    context.quiet() ? "never" : context.globals().progress, std::string(label),
                    Progress::Unit::kItems, static_cast<int64_t>(ids->size()));
  std::vector<std::string> reports;
  int code = kExitOk;
  for (const std::string& id : *ids) {
    Result<Session> session = context.open_session(*store, id);
    Result<SessionOutcome> outcome =
        session.ok() ? work(context, *session, id) : Result<SessionOutcome>(session.failure());
    progress.advance(1);
    int session_code = kExitOk;
    if (!outcome.ok()) {
      progress.clear();
      session_code = context.fail(context.with_hint(std::move(outcome.failure()), id));
    } else {
      session_code = outcome->code;
      reports.push_back(object_text({{"session_id", quote(id)}, {"report", outcome->report}}));
      if (!context.json() && (!context.quiet() || session_code != kExitOk)) {
        progress.clear();
        context.print(outcome->summary);
        context.out().flush();
      }
    }
    if (code == kExitOk) code = session_code;
  }
  progress.clear();
  if (context.json()) {
    context.print(object_text(
        {{"ok", code == kExitOk ? "true" : "false"}, {"sessions", array_text(reports)}}));
  }
  return code;
}

int run_on_sessions(Context& context, const SessionsOptions& options, std::string_view label,
                    const Work& work) {
  Result<std::string> id = session_or_all(context, options.operands, options.all);
  if (!id.ok()) return context.fail(id.failure());
  return options.all ? run_on_all(context, label, work) : run_on_one(context, *id, work);
}

std::string verify_summary(const Context& context, const std::string& id,
                           const json::object& report) {
  const Terminal& terminal = context.terminal();
  const std::string entries = format_count(integer_at(report, "entries"), "entry", "entries");
  if (bool_at(report, "ok")) {
    return id + ": " + terminal.paint(Style::kGood, "ok") + ", " + entries;
  }
  const json::array& problems = array_at(report, "problems");
  const int64_t total =
      std::max(integer_at(report, "problems_total"), static_cast<int64_t>(problems.size()));
  std::string text = id + ": " +
                     terminal.paint(Style::kError, format_count(total, "problem", "problems")) +
                     ", " + entries + " intact";
  for (const json::value& item : problems) {
    if (!item.is_object()) continue;
    const json::object& problem = item.get_object();
    text += "\n  " + printable(string_at(problem, "file"), Lines::kJoin) + ", byte " +
            std::to_string(integer_at(problem, "offset")) + ", length " +
            std::to_string(integer_at(problem, "length")) + ": " +
            printable(string_at(problem, "reason"), Lines::kJoin);
  }
  const int64_t more = total - static_cast<int64_t>(problems.size());
  if (more > 0) text += "\n  and " + format_count(more) + " more";
  return text;
}

Result<SessionOutcome> verify_session(Context& context, Session& session, const std::string& id) {
  Result<Text> text = session.verify();
  if (!text.ok()) return std::move(text.failure());
  const json::object report = parse_object(text->view());
  return SessionOutcome{text->str(), verify_summary(context, id, report),
                        bool_at(report, "ok") ? kExitOk : kExitDamaged, false};
}

Runner declare_verify(CLI::App& app) {
  auto options = std::make_shared<SessionsOptions>();
  options->operands.declare(app, 1);
  app.add_flag("-a,--all", options->all, "Every session");
  return [options](Context& context) {
    return run_on_sessions(context, *options, "Verifying", &verify_session);
  };
}

Result<SessionOutcome> repair_session(Session& session, const std::string& id, bool dry_run) {
  Result<Text> text = session.repair(dry_run);
  if (!text.ok()) return std::move(text.failure());
  const json::object report = parse_object(text->view());
  const int64_t quarantined = integer_at(report, "quarantined");
  const int64_t missing = integer_at(report, "missing");
  const std::string entries = format_count(integer_at(report, "entries"), "entry", "entries");
  std::string summary = id + ": nothing to repair, " + entries;
  if (bool_at(report, "changed") || quarantined > 0 || missing > 0) {
    summary = id + ": " + (dry_run ? "would move " : "moved ") +
              format_count(quarantined, "damaged piece", "damaged pieces") +
              " to quarantine.jsonl, " + entries + " intact";
    if (missing > 0) summary += ", " + format_count(missing) + " missing";
  }
  return SessionOutcome{text->str(), summary, kExitOk, false};
}

Runner declare_repair(CLI::App& app) {
  auto options = std::make_shared<SessionsOptions>();
  options->operands.declare(app, 1);
  app.add_flag("-a,--all", options->all, "Every session");
  app.add_flag("--dry-run", options->flag, "Only tell what would be done");
  return [options](Context& context) {
    return run_on_sessions(context, *options, "Repairing",
                           [&](Context&, Session& session, const std::string& id) {
                             return repair_session(session, id, options->flag);
                           });
  };
}

Result<SessionOutcome> show_index(Context&, Session& session, const std::string&) {
  Result<Text> text = session.index();
  if (!text.ok()) return std::move(text.failure());
  std::string document = text->str();
  while (document.ends_with('\n')) document.pop_back();
  return SessionOutcome{document, printable(document, Lines::kKeep), kExitOk, true};
}

Result<SessionOutcome> rebuild_index(Context&, Session& session, const std::string& id) {
  Result<Text> text = session.rebuild_index();
  if (!text.ok()) return std::move(text.failure());
  const json::object report = parse_object(text->view());
  const json::value* duration = report.if_contains("duration_ms");
  std::string summary =
      id + ": index rebuilt, " + format_count(integer_at(report, "entries"), "entry", "entries");
  if (duration != nullptr) {
    summary += ", " + std::string(raw_member(text->view(), "duration_ms")) + " ms";
  }
  return SessionOutcome{text->str(), summary, kExitOk, false};
}

Runner declare_index(CLI::App& app) {
  auto options = std::make_shared<SessionsOptions>();
  options->operands.declare(app, 1);
  app.add_flag("-a,--all", options->all, "Every session; with --rebuild only");
  app.add_flag("--rebuild", options->flag, "Throw the index away and build it anew from the log");
  return [options](Context& context) {
    if (options->all && !options->flag) {
      return context.fail(usage_failure("--all goes with --rebuild"));
    }
    return run_on_sessions(context, *options, "Rebuilding",
                           options->flag ? Work(&rebuild_index) : Work(&show_index));
  };
}

}  // namespace

Command verify_command() {
  return {"verify",
          "look for damage",
          "[SESSION]\n--all",
          "Reads every byte of the log and checks every line, checksum and sequence number. "
          "Changes nothing. The exit code is 6 when damage is found. With --quiet only sessions "
          "with damage are told.",
          "varve verify notes\nvarve verify --all --quiet || mail -s damage root",
          &declare_verify};
}

Command repair_command() {
  return {"repair",
          "set damage aside",
          "[SESSION]\n--all",
          "Moves damaged lines to quarantine.jsonl exactly as they were; intact lines stay byte "
          "for byte. Without damage nothing is changed.",
          "varve repair notes --dry-run\nvarve repair notes",
          &declare_repair};
}

Command index_command() {
  return {"index",
          "show or rebuild the index",
          "[SESSION]\n[SESSION] --rebuild",
          "Prints the index as JSON: where each entry stands in the log, and which entries carry "
          "which tag and type.",
          "varve index notes\nvarve index --all --rebuild",
          &declare_index};
}

}  // namespace varve::cli
