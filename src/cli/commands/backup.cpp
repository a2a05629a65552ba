// backup, restore.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/json_text.h"
#include "cli/session_work.h"
#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

struct BackupOptions {
  Operands operands;
  bool keep_missing = false;
  bool delete_missing = false;
};

struct RestoreOptions {
  Operands operands;
  std::string tombstones_from;
  bool overwrite = false;
};

// The directory, and the sessions named after it.
struct Places {
  std::string directory;
  std::vector<std::string> sessions;
};

Result<Places> places_of(const Invocation& invocation, const Operands& operands,
                         std::string_view missing) {
  const std::vector<std::string> words = operands.given();
  if (words.empty() || words.front().empty()) return usage_failure(std::string(missing));
  Places places{words.front(), {words.begin() + 1, words.end()}};
  const std::string& named = invocation.globals().session;
  if (!named.empty()) places.sessions.push_back(named);
  return places;
}

std::string options_text(const Places& places, json::object options) {
  if (!places.sessions.empty()) options["sessions"] = array_of(places.sessions);
  return json_of(options);
}

// "12 sessions: 1 copied, 2 appended to, 9 unchanged, 1 removed; 3 entries, 1.2 kB"
std::string backup_summary(const json::object& report) {
  std::string text = format_count(integer_at(report, "sessions"), "session", "sessions") + ": " +
                     format_count(integer_at(report, "copied")) + " copied, " +
                     format_count(integer_at(report, "appended")) + " appended to, " +
                     format_count(integer_at(report, "unchanged")) + " unchanged";
  if (integer_at(report, "removed") > 0) {
    text += ", " + format_count(integer_at(report, "removed")) + " removed";
  }
  return text + "; " + format_count(integer_at(report, "entries"), "entry", "entries") + ", " +
         format_bytes(integer_at(report, "bytes"));
}

// "; 2 that were dropped or lost are back: diary, notes"
std::string returned_summary(const json::array& ids) {
  constexpr size_t kShown = 5;
  std::string text = "; " + format_count(static_cast<int64_t>(ids.size())) +
                     (ids.size() == 1 ? " that was dropped or lost is back: "
                                      : " that were dropped or lost are back: ");
  for (size_t i = 0; i < std::min(ids.size(), kShown); ++i) {
    text += (i == 0 ? "" : ", ") + std::string(ids[i].as_string());
  }
  return ids.size() > kShown ? text + ", ..." : text;
}

std::string restore_summary(const json::object& report) {
  std::string text = format_count(integer_at(report, "sessions"), "session", "sessions") +
                     " restored, " +
                     format_count(integer_at(report, "entries"), "entry", "entries");
  if (integer_at(report, "replaced") > 0) {
    text += "; " + format_count(integer_at(report, "replaced")) + " replaced";
  }
  if (const int64_t count = integer_at(report, "deletions_reapplied"); count > 0) {
    text += "; " + format_count(count, "deletion", "deletions") + " applied again";
  }
  const json::array returned = array_at(report, "returned");
  if (!returned.empty()) text += returned_summary(returned);
  return text;
}

int finish(Invocation& invocation, Result<std::string> answer,
           std::string (*summary)(const json::object&), const char* undone) {
  if (!answer.ok()) return invocation.fail(answer.failure());
  const json::object report = parse_object(*answer);
  if (invocation.json()) {
    invocation.print(*answer);
  } else {
    invocation.note(summary(report));
  }
  return warn_of_problems(invocation, report, undone);
}

int run_backup(Invocation& invocation, const BackupOptions& options) {
  Result<Places> places =
      places_of(invocation, options.operands, "name the directory to back up to");
  if (!places.ok()) return invocation.fail(places.failure());
  Result<Store> store = invocation.open_store(Access::kExisting);
  if (!store.ok()) return invocation.fail(store.failure());
  json::object document;
  if (options.keep_missing) document["delete_missing"] = false;
  if (options.delete_missing) document["delete_missing"] = true;
  Result<std::string> answer = store->backup(places->directory, options_text(*places, document));
  if (!answer.ok() && is_about(answer.failure(), "delete_missing")) {
    answer.failure().hint = "Look at --root, or use --delete-missing or --keep-missing.";
  }
  return finish(invocation, std::move(answer), &backup_summary, "not copied");
}

// Checked before a store is created for a backup, or for sessions, that do not exist.
Outcome check_backup(const Places& places, const std::string& tombstones_from) {
  Result<bool> is_there = has_store(places.directory);
  if (!is_there.ok()) return std::move(is_there.failure());
  if (!*is_there) {
    return Failure{VARVE_NOT_FOUND, "there is no backup at " + places.directory};
  }
  is_there = tombstones_from.empty() ? Result<bool>(true) : has_store(tombstones_from);
  if (!is_there.ok()) return std::move(is_there.failure());
  if (!*is_there) {
    return Failure{VARVE_NOT_FOUND, "there is no store or backup at " + tombstones_from};
  }
  for (const std::string& id : places.sessions) {
    std::error_code error;
    const auto folder = std::filesystem::path(places.directory) / "sessions" / id;
    if (std::filesystem::exists(folder, error) || error) continue;
    return Failure{VARVE_NOT_FOUND, "the backup has no session '" + id + "'"};
  }
  return std::nullopt;
}

int run_restore(Invocation& invocation, const RestoreOptions& options) {
  Result<Places> places = places_of(invocation, options.operands, "name the backup's directory");
  if (!places.ok()) return invocation.fail(places.failure());
  if (Outcome failure = check_backup(*places, options.tombstones_from))
    return invocation.fail(*failure);
  Result<Store> store = invocation.open_store(Access::kCreate);
  if (!store.ok()) return invocation.fail(store.failure());
  json::object document;
  if (options.overwrite) document["overwrite"] = true;
  if (!options.tombstones_from.empty()) document["tombstones_from"] = options.tombstones_from;
  Result<std::string> answer = store->restore(places->directory, options_text(*places, document));
  if (!answer.ok() && answer.failure().status == VARVE_ALREADY_EXISTS) {
    answer.failure().hint = "Use --overwrite to replace it.";
  }
  return finish(invocation, std::move(answer), &restore_summary, "not restored");
}

Runner declare_backup(CLI::App& app) {
  auto options = std::make_shared<BackupOptions>();
  options->operands.declare_many(app);
  CLI::Option* keep = app.add_flag("--keep-missing", options->keep_missing,
                                   "Keep copies of sessions that are no longer in the store");
  app.add_flag("--delete-missing", options->delete_missing,
               "Remove also copies of sessions that nobody dropped, or it never had")
      ->excludes(keep);
  return [options](Invocation& invocation) { return run_backup(invocation, *options); };
}

Runner declare_restore(CLI::App& app) {
  auto options = std::make_shared<RestoreOptions>();
  options->operands.declare_many(app);
  app.add_flag("--overwrite", options->overwrite,
               "Replace existing sessions; what they have and the backup does not is lost");
  app.add_option("--reapply-deletions", options->tombstones_from,
                 "Apply the deletions that this store or backup knows, too")
      ->type_name("STORE");
  return [options](Invocation& invocation) { return run_restore(invocation, *options); };
}

}  // namespace

Command backup_command() {
  return {"backup",
          "copy the store into a directory",
          "DIRECTORY [SESSION...]",
          "Makes DIRECTORY a copy of the store, or of the named sessions, while others keep "
          "working. The copy is a store itself: varve --root DIRECTORY reads it. The next backup "
          "into it copies what was added since, and removes sessions that were deleted.\n\n"
          "The exit code is 6 when a session could not be copied; the others still are.",
          "varve backup /backup/memory\nvarve backup /backup/notes notes --quiet",
          &declare_backup};
}

Command restore_command() {
  return {"restore",
          "bring sessions back from a backup",
          "DIRECTORY [SESSION...]",
          "Copies sessions from a backup into the store. A session that exists is refused unless "
          "--overwrite is given; then it is replaced in one step.\n\n"
          "Entries that were deleted stay deleted: deletions that the present session knows are "
          "applied to the one that replaces it. Keys, transcript and metadata are those of the "
          "backup.",
          "varve restore /backup/memory notes\n"
          "varve restore /backup/monday notes --reapply-deletions /backup/friday",
          &declare_restore};
}

}  // namespace varve::cli
