#include "cli/session_work.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "cli/interruption.h"
#include "cli/json_text.h"
#include "cli/view/progress.h"

namespace varve::cli {
namespace {

namespace fs = std::filesystem;

void show(Invocation& invocation, const SessionOutcome& outcome) {
  if (outcome.said == Said::kDone) return invocation.note(outcome.summary);
  if (invocation.quiet() && outcome.said == Said::kFound && outcome.code == kExitOk) return;
  invocation.print(outcome.summary);
  invocation.out().flush();
}

// Does `work` on one session and prints the result.
int run_on_one(Invocation& invocation, const std::string& id, const SessionWork& work) {
  Result<OpenSession> open = open_session(invocation, id);
  if (!open.ok()) return invocation.fail(open.failure());
  Result<SessionOutcome> outcome = work(invocation, open->session, id);
  if (!outcome.ok()) return invocation.fail_in_session(std::move(outcome.failure()), id);
  if (invocation.json()) {
    invocation.print(outcome->report);
  } else {
    show(invocation, *outcome);
  }
  return outcome->code;
}

bool is_missing(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() == fs::file_type::not_found;
}

// The directories that have a session's name and something in them, but neither its log nor its
// metadata: such a session is in no list.
std::vector<fs::path> directories_without_session(const Invocation& invocation, Store& store) {
  std::vector<fs::path> found;
  std::error_code error;
  if (invocation.directory().empty()) return found;
  const fs::path sessions = fs::path(invocation.directory()) / "sessions";
  for (fs::directory_iterator at(sessions, error), end; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    std::error_code ignored;
    const bool is_one = is_missing(path / "memory.jsonl") && is_missing(path / "metadata.json") &&
                        at->symlink_status(ignored).type() == fs::file_type::directory &&
                        !fs::is_empty(path, ignored) && !ignored;
    if (!is_one) continue;
    Result<Session> session = store.open_session(path.filename().string());
    if (!session.ok() && is_gone(session.failure())) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Reports them, and returns the exit code.
int fail_for_lost_sessions(Invocation& invocation) {
  Result<Store> store = invocation.open_store(Access::kExisting);
  if (!store.ok()) return invocation.fail(store.failure());
  int code = kExitOk;
  for (const fs::path& path : directories_without_session(invocation, *store)) {
    code = invocation.fail(
        {.status = VARVE_CORRUPTION,
         .message = path.filename().string() + ": memory.jsonl and metadata.json are missing in '" +
                    path.string() + "', where other files of the session are left",
         .details = object_text(
             {{"session_id", quote(path.filename().string())}, {"path", quote(path.string())}}),
         .hint =
             "Move the directory away; `varve restore` brings the session back from a backup."});
  }
  return code;
}

// Does `work` on every session and prints the results.
int run_on_all(Invocation& invocation, std::string_view label, Lost lost, const SessionWork& work) {
  std::vector<std::string> reports;
  const auto run = [&](Session& session, const std::string& id, Progress& bar) -> Result<int> {
    Result<SessionOutcome> outcome = work(invocation, session, id);
    if (!outcome.ok()) return std::move(outcome.failure());
    reports.push_back(object_text({{"session_id", quote(id)}, {"report", outcome->report}}));
    if (!invocation.json()) {
      bar.clear();
      show(invocation, *outcome);
    }
    return outcome->code;
  };
  Result<int> code = for_each_opened(invocation, label, run);
  if (!code.ok()) return invocation.fail(code.failure());
  if (lost == Lost::kReported) {
    const int lost_code = fail_for_lost_sessions(invocation);
    if (*code == kExitOk) code = lost_code;
  }
  if (invocation.json()) {
    invocation.print(object_text(
        {{"ok", *code == kExitOk ? "true" : "false"}, {"sessions", array_text(reports)}}));
  }
  return *code;
}

}  // namespace

Result<int> for_each_opened(Invocation& invocation, std::string_view label, const EachWork& work) {
  Result<Store> store = invocation.open_store(Access::kExisting);
  if (!store.ok()) return std::move(store.failure());
  Result<std::vector<std::string>> ids = all_session_ids(*store);
  if (!ids.ok()) return std::move(ids.failure());
  Progress bar(invocation, std::string(label), Progress::Unit::kItems,
               static_cast<int64_t>(ids->size()));
  int first_code = kExitOk;
  for (const std::string& id : *ids) {
    Result<Session> session = invocation.open_session(*store, id);
    Result<int> code =
        session.ok() ? work(*session, id, bar) : Result<int>(std::move(session.failure()));
    if (Interruption::is_asked()) break;
    bar.advance(1);
    if (!code.ok() && is_gone(code.failure())) continue;
    if (!code.ok()) bar.clear();
    const int session_code =
        code.ok() ? *code : invocation.fail_in_one_of_all(std::move(code.failure()), id);
    if (first_code == kExitOk) first_code = session_code;
  }
  return first_code;
}

void Sessions::declare(CLI::App& app, const std::string& meaning_of_all) {
  operands.declare(app, 1);
  app.add_flag("-a,--all", all, meaning_of_all);
}

int run_on_sessions(Invocation& invocation, const Sessions& sessions, std::string_view label,
                    const SessionWork& work, Lost lost) {
  Result<std::string> id = session_or_all(invocation, sessions.operands, sessions.all);
  if (!id.ok()) return invocation.fail(id.failure());
  invocation.tolerate_damage();
  return sessions.all ? run_on_all(invocation, label, lost, work)
                      : run_on_one(invocation, *id, work);
}

int warn_of_problems(Invocation& invocation, const json::object& report,
                     std::string_view left_out) {
  int code = kExitOk;
  for (const json::value& item : array_at(report, "problems")) {
    if (!item.is_object()) continue;
    const json::object& problem = item.get_object();
    // A backup may have copied a session, and only have something to say about it.
    const bool is_done = bool_at(problem, "copied");
    if (!is_done) code = kExitDamaged;
    invocation.warn(string_at(problem, "session_id") + ": " +
                    (is_done ? "" : std::string(left_out) + ": ") + string_at(problem, "reason"));
  }
  return code;
}

}  // namespace varve::cli
