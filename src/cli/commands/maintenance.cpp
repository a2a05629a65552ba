// verify, repair, migrate, index.
#include <algorithm>
#include <memory>

#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/json_text.h"
#include "cli/session_work.h"
#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr size_t kNotesShown = 10;

// What is no damage, but worth knowing.
std::string notes_text(const json::object& report) {
  const json::array& notes = array_at(report, "notes");
  std::string text;
  for (size_t i = 0; i < notes.size() && i < kNotesShown; ++i) {
    if (!notes[i].is_object()) continue;
    const json::object& note = notes[i].get_object();
    const std::string& id = string_at(note, "id");  // empty where it is about a file
    text += "\n  note: " + printable(id.empty() ? string_at(note, "file") : id, Lines::kJoin) +
            " " + printable(string_at(note, "reason"), Lines::kJoin);
    const std::string& target = string_at(note, "target");
    if (!target.empty()) text += ": " + printable(target, Lines::kJoin);
  }
  const int64_t more = integer_at(report, "notes_total") - static_cast<int64_t>(kNotesShown);
  if (more > 0) text += "\n  and " + format_count(more, "more note", "more notes");
  return text;
}

std::string verify_summary(const Invocation& invocation, const std::string& id,
                           const json::object& report) {
  const Terminal& terminal = invocation.terminal();
  std::string entries = format_count(integer_at(report, "entries"), "entry", "entries");
  const int64_t vectors = integer_at(object_at(report, "vectors"), "entries");
  if (vectors > 0) entries += ", " + format_count(vectors, "vector", "vectors");
  if (bool_at(report, "ok")) {
    return id + ": " + terminal.paint(Style::kGood, "ok") + ", " + entries + notes_text(report);
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
  return text + notes_text(report);
}

Result<SessionOutcome> verify_session(Invocation& invocation, Session& session,
                                      const std::string& id, bool deep) {
  Result<std::string> text = session.verify(deep ? "{\"deep\":true}" : "");
  if (!text.ok()) return std::move(text.failure());
  const json::object report = parse_object(*text);
  return SessionOutcome{*text, verify_summary(invocation, id, report),
                        bool_at(report, "ok") ? kExitOk : kExitDamaged, Said::kFound};
}

struct VerifyOptions {
  Sessions sessions;
  bool deep = false;
};

Runner declare_verify(CLI::App& app) {
  auto options = std::make_shared<VerifyOptions>();
  options->sessions.declare(app);
  app.add_flag("--deep", options->deep, "Also compare every list of the index with the log");
  return [options](Invocation& invocation) {
    return run_on_sessions(
        invocation, options->sessions, "Verifying",
        [&](Invocation& own, Session& session, const std::string& id) {
          return verify_session(own, session, id, options->deep);
        },
        Lost::kReported);
  };
}

// What was lost with metadata.json, and whose session it is if that is known elsewhere.
std::string lost_text(Session& session) {
  Result<std::string> text = session.metadata();
  const json::object metadata = text.ok() ? parse_object(*text) : json::object();
  std::string owner;
  for (const auto& [member, name] :
       {std::pair("user_id", "user "), std::pair("agent_id", "agent ")}) {
    const std::string id = string_at(metadata, member);
    if (!id.empty())
      owner += (owner.empty() ? "" : ", ") + std::string(name) + printable(id, Lines::kJoin);
  }
  return "\n  metadata.json was lost, with title and settings; the list of sessions " +
         (owner.empty() ? "names no user or agent" : "still names " + owner);
}

struct RepairOptions {
  Sessions sessions;
  bool dry_run = false;
  bool accept_edits = false;
};

Result<SessionOutcome> repair_session(Session& session, const std::string& id,
                                      const RepairOptions& options) {
  const bool dry_run = options.dry_run;
  Result<std::string> text = session.repair(
      json_of(json::object{{"dry_run", dry_run}, {"accept_edits", options.accept_edits}}));
  if (!text.ok()) return std::move(text.failure());
  const json::object report = parse_object(*text);
  const int64_t quarantined = integer_at(report, "quarantined");
  const int64_t missing = integer_at(report, "missing");
  const int64_t resealed = integer_at(report, "resealed");
  const bool metadata_lost = bool_at(report, "metadata_lost");
  const std::string entries = format_count(integer_at(report, "entries"), "entry", "entries");
  std::string summary = id + ": nothing to repair, " + entries;
  if (bool_at(report, "changed") || quarantined > 0 || missing > 0 || resealed > 0 ||
      metadata_lost) {
    summary = id + ": " + (dry_run ? "would move " : "moved ") +
              format_count(quarantined, "damaged piece", "damaged pieces") +
              " to quarantine.jsonl, " + entries + " intact";
    if (resealed > 0) {
      summary += ", " + std::string(dry_run ? "would accept " : "accepted ") +
                 format_count(resealed, "edited line", "edited lines");
    }
    if (missing > 0) summary += ", " + format_count(missing) + " missing";
    if (metadata_lost) summary += lost_text(session);
  }
  return SessionOutcome{*text, summary, kExitOk, Said::kDone};
}

Runner declare_repair(CLI::App& app) {
  auto options = std::make_shared<RepairOptions>();
  options->sessions.declare(app);
  app.add_flag("--dry-run", options->dry_run, "Only report what would be done");
  app.add_flag("--accept-edits", options->accept_edits,
               "Keep lines that somebody edited, with a new checksum");
  return [options](Invocation& invocation) {
    return run_on_sessions(invocation, options->sessions, "Repairing",
                           [&](Invocation&, Session& session, const std::string& id) {
                             return repair_session(session, id, *options);
                           });
  };
}

struct MigrateOptions {
  Sessions sessions;
  bool dry_run = false;
};

Result<SessionOutcome> migrate_session(Session& session, const std::string& id, bool dry_run) {
  Result<std::string> text = session.migrate(json_of(json::object{{"dry_run", dry_run}}));
  if (!text.ok()) return std::move(text.failure());
  const json::object report = parse_object(*text);
  const int64_t from = integer_at(report, "from");
  const int64_t to = integer_at(report, "to");
  const std::string entries = format_count(integer_at(report, "entries"), "entry", "entries");
  std::string summary = id + ": already version " + std::to_string(to) + ", " + entries;
  if (from != to) {
    summary = id + ": " + (dry_run ? "would be migrated" : "migrated") + " from version " +
              std::to_string(from) + " to " + std::to_string(to) + ", " + entries;
    const int64_t quarantined = integer_at(report, "quarantined");
    if (quarantined > 0) summary += ", " + format_count(quarantined) + " to quarantine.jsonl";
  }
  return SessionOutcome{*text, summary, kExitOk, Said::kDone};
}

Runner declare_migrate(CLI::App& app) {
  auto options = std::make_shared<MigrateOptions>();
  options->sessions.declare(app);
  app.add_flag("--dry-run", options->dry_run, "Only report what would be done");
  return [options](Invocation& invocation) {
    return run_on_sessions(invocation, options->sessions, "Migrating",
                           [&](Invocation&, Session& session, const std::string& id) {
                             return migrate_session(session, id, options->dry_run);
                           });
  };
}

Result<SessionOutcome> show_index(Invocation&, Session& session, const std::string&) {
  Result<std::string> text = session.index();
  if (!text.ok()) return std::move(text.failure());
  std::string document = *text;
  while (document.ends_with('\n')) document.pop_back();
  return SessionOutcome{document, printable(document, Lines::kKeep), kExitOk, Said::kContents};
}

// The failure of a rebuilt index that is not in index.bin. The library goes on with the one that it
// has in memory; here nothing is left of that when the program ends.
Outcome unsaved_index(Session& session) {
  Result<std::string> text = session.stats();
  if (!text.ok()) return std::nullopt;  // the session is gone, and with it what is wrong
  const json::object stats = parse_object(*text);
  if (integer_at(object_at(stats, "index"), "covered_bytes") > 0) return std::nullopt;
  const auto has = [&](const json::object& counts, std::string_view name) {
    return integer_at(counts, name) > 0;
  };
  const bool has_lines = has(stats, "entries") || has(stats, "deleted") || has(stats, "expired") ||
                         has(object_at(stats, "corruption"), "skipped");
  if (!has_lines) return std::nullopt;  // an entry that was torn when it was written is no line
  const std::string message = "index.bin was not saved and is as it was: ";
  if (bool_at(stats, "read_only")) {
    return Failure{.status = VARVE_READ_ONLY,
                   .message = message + "no permission to write to the session",
                   .hint = "Run this as somebody who may write."};
  }
  if (bool_at(object_at(stats, "lock"), "held")) {
    return Failure{
        .status = VARVE_BUSY,
        .message = message + "another process is writing to the session; try again later"};
  }
  return Failure{.status = VARVE_IO,
                 .message = message + "it cannot be written",
                 .hint = "Make room on the disk and try again; --verbose tells why."};
}

Result<SessionOutcome> rebuild_index(Invocation&, Session& session, const std::string& id) {
  Result<std::string> text = session.rebuild_index();
  if (!text.ok()) return std::move(text.failure());
  if (Outcome unsaved = unsaved_index(session)) return *std::move(unsaved);
  const json::object report = parse_object(*text);
  const json::value* duration = report.if_contains("duration_ms");
  std::string summary =
      id + ": index rebuilt, " + format_count(integer_at(report, "entries"), "entry", "entries");
  if (duration != nullptr) {
    summary += ", " + std::string(raw_member(*text, "duration_ms")) + " ms";
  }
  return SessionOutcome{*text, summary, kExitOk, Said::kDone};
}

struct IndexOptions {
  Sessions sessions;
  bool rebuild = false;
};

Runner declare_index(CLI::App& app) {
  auto options = std::make_shared<IndexOptions>();
  options->sessions.declare(app, "Every session; only with --rebuild");
  app.add_flag("--rebuild", options->rebuild, "Discard the index and rebuild it from the log");
  return [options](Invocation& invocation) {
    if (options->sessions.all && !options->rebuild) {
      return invocation.fail(usage_failure("--all needs --rebuild"));
    }
    return run_on_sessions(
        invocation, options->sessions, "Rebuilding",
        options->rebuild ? SessionWork(&rebuild_index) : SessionWork(&show_index));
  };
}

}  // namespace

Command verify_command() {
  return {"verify",
          "look for damage",
          "[SESSION]\n--all",
          "Reads every byte of the log and checks every line, checksum, sequence number, reference "
          "and index entry. Changes nothing, but for an index.bin that is out of date. The exit "
          "code is 6 when damage is found; references that lead nowhere are only notes. With "
          "--quiet only sessions with damage are reported.",
          "varve verify notes\nvarve verify --all --quiet || mail -s damage root",
          &declare_verify};
}

Command repair_command() {
  return {"repair",
          "set damage aside",
          "[SESSION]\n--all",
          "Moves damaged lines to quarantine.jsonl exactly as they were; intact lines stay byte "
          "for byte. Without damage nothing is changed. With --accept-edits, lines that are whole "
          "entries except for a wrong checksum get a new one instead. A lost metadata.json is made "
          "again: user, agent and time of creation come from the store's list of sessions.",
          "varve repair notes --dry-run\nvarve repair notes",
          &declare_repair};
}

Command migrate_command() {
  return {"migrate",
          "rewrite logs of an earlier version",
          "[SESSION]\n--all",
          "Rewrites a log of an earlier format version as one of this version, in one step: ids, "
          "order and unknown members stay, lines that are not entries move to quarantine.jsonl. "
          "The first write to a session does it, too; reading never does.",
          "varve migrate --all --dry-run\nvarve migrate notes",
          &declare_migrate};
}

Command index_command() {
  return {
      "index",
      "show or rebuild the index",
      "[SESSION]\n[SESSION] --rebuild",
      "Prints the index as JSON: where each entry is in the log, its relevance at this moment, and "
      "which entries have which tag and type.",
      "varve index notes\nvarve index --all --rebuild",
      &declare_index};
}

}  // namespace varve::cli
