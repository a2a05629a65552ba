// compact, purge, sweep.
#include <array>
#include <memory>

#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/arguments/option_values.h"
#include "cli/json_text.h"
#include "cli/session_work.h"
#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

enum class Verb : uint8_t { kCompact, kPurge };

struct LifecycleOptions {
  Sessions sessions;
  bool dry_run = false;
  std::optional<double> evict_below;
};

// "1 deleted, 2 expired": what was dropped, and by which rule.
std::string dropped_text(const json::object& report, Verb verb) {
  const json::object& dropped = object_at(report, "dropped");
  std::string text;
  const auto append = [&](int64_t count, std::string_view what) {
    if (count == 0) return;
    text += (text.empty() ? "" : ", ") + format_count(count) + " " + std::string(what);
  };
  for (const std::string_view rule : std::array{"deleted", "expired", "evicted"}) {
    append(integer_at(dropped, rule), rule);
  }
  append(integer_at(dropped, "damaged"),
         verb == Verb::kPurge ? "damaged" : "damaged (to quarantine.jsonl)");
  return text;
}

std::string summary_of(const json::object& report, const std::string& id, Verb verb, bool dry_run) {
  const int64_t entries_before = integer_at(report, "entries_before");
  const int64_t entries_after = integer_at(report, "entries_after");
  const int64_t bytes_before = integer_at(report, "bytes_before");
  const int64_t bytes_after = integer_at(report, "bytes_after");
  const std::string dropped = dropped_text(report, verb);
  const std::string took = ", " + format_number(number_at(report, "duration_ms"), 1) + " ms";
  if (bytes_before == bytes_after && dropped.empty()) {
    return id + ": nothing to " + (verb == Verb::kPurge ? "purge, " : "drop, ") +
           format_count(entries_after, "entry", "entries") + ", " + format_bytes(bytes_after) +
           (dry_run ? "" : took);
  }
  const std::string_view done = verb == Verb::kPurge ? "purge" : "compact";
  std::string text = id + ": " + (dry_run ? "would " : "") + std::string(done) +
                     (dry_run ? "" : (verb == Verb::kPurge ? "d" : "ed")) + ", " +
                     format_count(entries_before) + " to " +
                     format_count(entries_after, "entry", "entries") + ", " +
                     format_bytes(bytes_before) + " to " + format_bytes(bytes_after);
  if (!dropped.empty()) text += (dry_run ? ", would drop " : ", dropped ") + dropped;
  return dry_run ? text : text + took;
}

Result<SessionOutcome> shrink(Session& session, const std::string& id, Verb verb,
                              const LifecycleOptions& options) {
  json::object members{{"dry_run", options.dry_run}};
  if (options.evict_below) members["evict_below"] = *options.evict_below;
  const std::string text_in = json_of(members);
  Result<std::string> text =
      verb == Verb::kPurge ? session.purge(text_in) : session.compact(text_in);
  if (!text.ok()) return std::move(text.failure());
  const json::object report = parse_object(*text);
  return SessionOutcome{*text, summary_of(report, id, verb, options.dry_run), kExitOk, Said::kDone};
}

std::shared_ptr<LifecycleOptions> declare_common(CLI::App& app) {
  auto options = std::make_shared<LifecycleOptions>();
  options->sessions.declare(app);
  app.add_flag("--dry-run", options->dry_run, "Only report what would be done");
  return options;
}

Runner run_of(const std::shared_ptr<LifecycleOptions>& options, Verb verb) {
  return [options, verb](Invocation& invocation) {
    return run_on_sessions(invocation, options->sessions,
                           verb == Verb::kPurge ? "Purging" : "Compacting",
                           [&](Invocation&, Session& session, const std::string& id) {
                             return shrink(session, id, verb, *options);
                           });
  };
}

Runner declare_compact(CLI::App& app) {
  const auto options = declare_common(app);
  app.add_option("--evict-below", options->evict_below,
                 "Also drop live entries of a relevance below this, from 0 to 2")
      ->type_name("R")
      ->check(number_between(0, 2));
  return run_of(options, Verb::kCompact);
}

Runner declare_purge(CLI::App& app) { return run_of(declare_common(app), Verb::kPurge); }

// "12 sessions: 1 removed, 2 compacted; 3 entries dropped, 1.2 kB freed, 4.1 ms"
std::string sweep_summary(const json::object& report) {
  return format_count(integer_at(report, "sessions_checked"), "session", "sessions") + ": " +
         format_count(integer_at(report, "sessions_removed")) + " removed, " +
         format_count(integer_at(report, "sessions_compacted")) + " compacted; " +
         format_count(integer_at(report, "entries_dropped"), "entry", "entries") + " dropped, " +
         format_bytes(integer_at(report, "bytes_freed")) + " freed, " +
         format_number(number_at(report, "duration_ms"), 1) + " ms";
}

int run_sweep(Invocation& invocation) {
  if (!invocation.globals().session.empty()) {
    return invocation.fail(usage_failure("a sweep is of every session: do not name one"));
  }
  invocation.tolerate_damage();
  Result<Store> store = invocation.open_store(Access::kExisting);
  if (!store.ok()) return invocation.fail(store.failure());
  Result<std::string> text = store->sweep();
  if (!text.ok()) return invocation.fail(text.failure());
  const json::object report = parse_object(*text);
  if (invocation.json()) {
    invocation.print(*text);
  } else {
    invocation.note(sweep_summary(report));
  }
  return warn_of_problems(invocation, report, "not swept");
}

Runner declare_sweep(CLI::App&) { return &run_sweep; }

}  // namespace

Command compact_command() {
  return {"compact",
          "rewrite the log without what is gone",
          "[SESSION]\n--all",
          "Rewrites the log without deleted and expired entries, in one step, while readers keep "
          "working. Damaged lines move to quarantine.jsonl. Ids of deleted entries stay used, with "
          "their lines in tombstones.jsonl; those of expired ones are free again. Reports entries "
          "and bytes before and after, and what each rule dropped.\n\n"
          "With --evict-below, live entries of little relevance are dropped, too, for good and "
          "without asking: look with --dry-run first. Preferences and other types that do not "
          "decay, entries with the tag pinned, and those that a live entry refers to stay.\n\n"
          "A session does this by itself when it nears its size limit. To prove that nothing of "
          "what was deleted is left, see `varve purge`.",
          "varve compact notes --dry-run\nvarve compact --all\n"
          "varve compact notes --evict-below 0.05 --dry-run",
          &declare_compact};
}

Command purge_command() {
  return {
      "purge",
      "remove deleted and expired entries for good",
      "[SESSION]\n--all",
      "Removes only what was deleted or has expired, and does not ask: what is alive stays. When "
      "it succeeds, no byte of the content is in any file of the session: not in the log, the "
      "index, temporary files or quarantine.jsonl, which is removed; damaged lines of the log are "
      "removed, too, since nobody can tell what they contained. After a failure, run it again.\n\n"
      "The ids, times and reasons in tombstones.jsonl stay. Backups, exports and snapshots keep "
      "what they have: docs/privacy.md says what is out of reach.",
      "varve purge notes --dry-run\nvarve purge notes\nvarve purge --all",
      &declare_purge};
}

Command sweep_command() {
  return {"sweep",
          "remove sessions and entries that have expired",
          "",
          "Removes sessions whose ttl_hours are over, with all their files, and compacts those "
          "that contain expired entries. What has expired is invisible even before that; this "
          "removes it from the files. Meant for a timer, one sweep at a time.\n\n"
          "Does not ask. A session that cannot be swept is reported and does not stop the others; "
          "the exit code is then 6. To remove for good what was deleted, see `varve purge`.",
          "varve sweep\nvarve --root /srv/memory sweep --quiet",
          &declare_sweep};
}

}  // namespace varve::cli
