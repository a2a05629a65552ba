// import.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/arguments/option_values.h"
#include "cli/input.h"
#include "cli/json_text.h"
#include "cli/view/display_text.h"
#include "cli/view/progress.h"

namespace varve::cli {
namespace {

namespace fs = std::filesystem;

// As many refused lines are listed as the library lists for one text.
constexpr size_t kRefusedListed = 1000;
// And this many are shown to a person.
constexpr size_t kRefusedShown = 20;

struct ImportOptions {
  Operands operands;
  std::string directory;
  std::string format = "auto";
  bool no_create = false;
  bool dry_run = false;

  [[nodiscard]] std::string json() const {
    return object_text({{"format", quote(format)}, {"dry_run", dry_run ? "true" : "false"}});
  }
};

// One session and the files to import into it.
struct ImportJob {
  std::string session;
  std::vector<std::string> files;
  std::vector<ReadablePath> sources = {};  // of the files, once they were looked at
};

struct ImportReport {
  int64_t added = 0;
  int64_t existing = 0;
  int64_t refused_total = 0;
  int64_t evicted = 0;
  int64_t foreign = 0;               // those listed that have neither form nor kind
  bool exceeds_limit = false;        // only a dry run tells
  std::string format;                // of the last file
  std::vector<std::string> refused;  // JSON objects: file, line, reason
  std::vector<std::string> refused_lines;

  void merge(ImportReport&& other) {
    added += other.added;
    existing += other.existing;
    refused_total += other.refused_total;
    evicted += other.evicted;
    foreign += other.foreign;
    exceeds_limit = exceeds_limit || other.exceeds_limit;
    format = other.format;
    const size_t room = kRefusedListed - std::min(kRefusedListed, refused.size());
    const size_t taken = std::min(room, other.refused.size());
    for (size_t i = 0; i < taken; ++i) {
      refused.push_back(std::move(other.refused[i]));
      refused_lines.push_back(std::move(other.refused_lines[i]));
    }
  }
};

// The library's report about `file`.
ImportReport read_report(std::string_view text, const std::string& file) {
  const json::object document = parse_object(text);
  ImportReport report;
  report.added = integer_at(document, "added");
  report.existing = integer_at(document, "existing");
  report.format = string_at(document, "format");
  report.evicted = integer_at(document, "evicted");
  report.exceeds_limit = bool_at(document, "exceeds_limit");
  const json::array& refused = array_at(document, "refused");
  report.refused_total =
      std::max(integer_at(document, "refused_total"), static_cast<int64_t>(refused.size()));
  for (const json::value& item : refused) {
    if (!item.is_object()) continue;
    const int64_t line = integer_at(item.get_object(), "line");
    const std::string reason = string_at(item.get_object(), "reason");
    report.refused.push_back(object_text(
        {{"file", quote(file)}, {"line", std::to_string(line)}, {"reason", quote(reason)}}));
    const bool is_foreign = reason.starts_with("neither ") || reason.starts_with("invalid JSON") ||
                            reason.starts_with("an entry must be");
    report.foreign += is_foreign ? 1 : 0;
    report.refused_lines.push_back(file + ":" + std::to_string(line) + ": " + reason);
  }
  return report;
}

// The first of these files that exists, else every *.jsonl, by name. Not every *.json: in a
// session's folder, others are no entries.
std::vector<std::string> session_files(const fs::path& folder) {
  std::error_code error;
  for (const char* name : {"entries.jsonl", "entries.json", "memory.jsonl"}) {
    if (fs::is_regular_file(folder / name, error)) return {(folder / name).string()};
  }
  std::vector<std::string> files;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".jsonl") files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Result<std::vector<ImportJob>> jobs_of_directory(const std::string& directory) {
  Result<bool> is_store = has_store(directory);
  if (is_store.ok() && *is_store && session_files(fs::path(directory) / "sessions").empty()) {
    return usage_failure(directory + " is a store, not a folder of sessions",
                         "`varve restore` takes sessions from a backup; from any store, take what "
                         "`varve --root " +
                             directory + " export --all --output DIR` writes.");
  }
  std::vector<ImportJob> jobs;
  std::error_code error;
  fs::directory_iterator at(directory, error);
  for (const fs::directory_iterator end; !error && at != end; at.increment(error)) {
    if (!at->is_directory(error)) continue;
    ImportJob job{at->path().filename().string(), session_files(at->path())};
    if (!job.files.empty()) jobs.push_back(std::move(job));
  }
  if (error) return reading_failure("cannot read " + directory, error.value());
  if (jobs.empty()) {
    return Failure{
        .status = VARVE_NOT_FOUND,
        .message = "no folder in " + directory + " holds entries.json or a .jsonl file",
        .hint = "Name other files, as with `varve import SESSION " + directory + "/*/*.json`."};
  }
  std::sort(jobs.begin(), jobs.end(),
            [](const ImportJob& a, const ImportJob& b) { return a.session < b.session; });
  return jobs;
}

Result<std::vector<ImportJob>> plan(const Invocation& invocation, const ImportOptions& options) {
  if (!options.directory.empty()) {
    if (!options.operands.given().empty()) {
      return usage_failure("--all imports every session of the directory: name no other files");
    }
    if (!invocation.globals().session.empty()) {
      return usage_failure("--all imports into a session for each folder: do not name one as well");
    }
    return jobs_of_directory(options.directory);
  }
  Result<SessionOperands> words = split_session(invocation, options.operands, 1, Wanted::kOrMore);
  if (!words.ok()) return std::move(words.failure());
  std::vector<ImportJob> jobs;
  jobs.push_back({words->session, words->rest});
  return jobs;
}

int64_t total_bytes(const std::vector<ImportJob>& jobs) {
  int64_t total = 0;
  for (const ImportJob& job : jobs) {
    for (const std::string& path : job.files) {
      std::error_code error;
      // The size of a pipe is unknown, and so is that of the whole.
      if (path == kStandardInput || !fs::is_regular_file(path, error)) return 0;
      total += static_cast<int64_t>(fs::file_size(path, error));
    }
  }
  return total;
}

// Removes a session that was created for files from which nothing could be taken, unless somebody
// else uses it meanwhile.
void take_back(Store& store, Session& session) {
  Result<std::string> stats = session.stats();
  if (!stats.ok()) return;
  const json::object figures = parse_object(*stats);
  const bool is_unused = integer_at(figures, "last_seq") == 0 &&
                         integer_at(object_at(figures, "size_bytes"), "kv") == 0 &&
                         integer_at(object_at(figures, "size_bytes"), "transcript") == 0;
  if (is_unused) (void)store.delete_session(session.id());
}

// Of a directory, only what is in it: who filled it may have left links out of it, or a pipe.
Outcome look_for_strangers(const ImportJob& job) {
  for (const std::string& file : job.files) {
    const fs::path path(file);
    std::error_code error;
    const bool is_link = fs::is_symlink(path.parent_path(), error) || fs::is_symlink(path, error);
    if (!is_link && (fs::is_regular_file(path, error) || fs::is_directory(path, error))) continue;
    return usage_failure(file + (is_link ? " is behind a symbolic link" : " is not a regular file"),
                         "To import it all the same, name it: `varve import SESSION FILE`.");
  }
  return std::nullopt;
}

// Imports the files of jobs, as the options say.
class Importer {
 public:
  Importer(Invocation& invocation, const ImportOptions& options, Progress& progress)
      : invocation_(invocation), options_(options), progress_(progress) {}

  // What comes through a pipe is read here, before a store or a session is made for it: it may not
  // come at all, and whoever gives up waiting leaves none behind.
  Outcome look_at_files(ImportJob& job) {
    for (const std::string& path : job.files) {
      if (path.empty()) return usage_failure("the name of a file is empty");  // an unset variable
      Outcome failure = check_readable(path);
      std::error_code error;
      if (failure && fs::is_directory(path, error)) {
        failure->hint = "Name its files, or with --all a folder that has one for each session.";
      }
      if (failure) return failure;
    }
    for (const std::string& path : job.files) {
      Result<ReadablePath> source = ReadablePath::of(
          path, [&](size_t bytes) { progress_.advance(static_cast<int64_t>(bytes)); });
      if (!source.ok()) return std::move(source.failure());
      job.sources.push_back(std::move(*source));
    }
    return std::nullopt;
  }

  // Of a directory, the files are looked at here, once; else they were before.
  Outcome run(Store& store, ImportJob& job, ImportReport& report) {
    if (job.sources.size() < job.files.size()) {
      job.sources.clear();
      if (Outcome failure = look_for_strangers(job)) return failure;
      if (Outcome failure = look_at_files(job)) return failure;
    }
    std::optional<Store> memory;
    bool is_new = false;
    Result<Session> session = session_of(store, job.session, memory, &is_new);
    if (!session.ok()) return std::move(session.failure());
    Outcome failure = import_files(*session, job, report);
    const bool is_good = !failure && report.refused_total == 0;
    if (is_new && !is_good && report.added == 0) take_back(store, *session);
    return failure;
  }

 private:
  // Opens the session, or creates it if that is allowed; then sets *is_new. A dry run creates none:
  // an import into a missing session is tried on one in memory, which `memory` holds.
  Result<Session> session_of(Store& store, const std::string& id, std::optional<Store>& memory,
                             bool* is_new) {
    *is_new = false;
    Result<Session> session = invocation_.open_session(store, id);
    if (session.ok() || session.failure().status != VARVE_NOT_FOUND || options_.no_create) {
      return session;
    }
    const std::string made = object_text({{"session_id", quote(id)}});
    if (!options_.dry_run) {
      // Not with if_exists: a session that somebody else has just created is not to be taken back.
      session = store.create_session(made);
      *is_new = session.ok();
      return session;
    }
    Result<Store> opened = invocation_.open_trial_store();
    if (!opened.ok()) return std::move(opened.failure());
    memory.emplace(std::move(*opened));
    return memory->create_session(made);
  }

  Outcome import_files(Session& session, const ImportJob& job, ImportReport& report) {
    for (size_t i = 0; i < job.sources.size(); ++i) {
      Outcome failure = import_file(session, job.files[i], job.sources[i], report);
      if (failure) return invocation_.with_hint(*std::move(failure), job.session);
    }
    return std::nullopt;
  }

  Outcome import_file(Session& session, const std::string& path, const ReadablePath& source,
                      ImportReport& report) {
    // The bytes were counted when the copy was made: waiting for them is what takes long.
    ProgressFunction receiver;
    if (!source.is_copy()) receiver = progress_.receiver();
    if (Outcome failure = outcome_of(session.set_progress(receiver))) return failure;
    Result<std::string> result = session.import_file(source.path(), options_.json());
    if (!result.ok()) {
      Failure failure = std::move(result.failure());
      failure.message = path + ": " + failure.message;
      if (!options_.dry_run)
        failure.hint = "What comes before it may have been added; importing again adds the rest.";
      return failure;
    }
    report.merge(read_report(*result, path));
    return std::nullopt;
  }

  Invocation& invocation_;
  const ImportOptions& options_;
  Progress& progress_;
};

std::string report_text(const ImportReport& report) {
  return "\"added\":" + std::to_string(report.added) +
         ",\"existing\":" + std::to_string(report.existing) +
         ",\"refused\":" + array_text(report.refused) +
         ",\"refused_total\":" + std::to_string(report.refused_total) +
         (report.evicted > 0 ? ",\"evicted\":" + std::to_string(report.evicted) : "") +
         (report.exceeds_limit ? ",\"exceeds_limit\":true" : "") +
         ",\"format\":" + quote(report.format);
}

void show_refused(Invocation& invocation, const ImportReport& report) {
  const size_t shown = std::min(kRefusedShown, report.refused_lines.size());
  for (size_t i = 0; i < shown; ++i) invocation.warn(report.refused_lines[i]);
  const int64_t more = report.refused_total - static_cast<int64_t>(shown);
  if (more > 0) invocation.warn(format_count(more, "more line", "more lines") + " refused");
}

// Where most has another form, it is no damage: another program wrote it.
void show_way(Invocation& invocation, const ImportReport& report) {
  if (report.foreign <= report.added + report.existing) return;
  invocation.note(
      "  What another program wrote has to be converted first: "
      "docs/export-import.md#other-programs "
      "shows how.");
}

constexpr std::string_view kExceedsLimit =
    "there is no room for all of it: to stay within the size limit, the import would drop entries "
    "of little relevance, and stop when that is not enough";

std::string summary(const ImportReport& report, const std::string& where, bool dry_run) {
  std::string text = (dry_run ? "Would add " : "Added ") +
                     format_count(report.added, "entry", "entries") + " to " + where;
  if (report.existing > 0) text += ", " + format_count(report.existing) + " were there already";
  if (report.refused_total > 0) text += ", refused " + format_count(report.refused_total);
  return text + ".";
}

// Whether all that the files contain would be refused. Tried in memory, where there is no store
// yet.
bool is_all_refused(Invocation& invocation, std::vector<ImportJob>& jobs,
                    const ImportOptions& options) {
  Result<Store> store = invocation.open_store(Access::kExisting);
  if (store.ok() || store.failure().status != VARVE_NOT_FOUND) return false;
  Result<Store> memory = invocation.open_trial_store();
  if (!memory.ok()) return false;
  ImportOptions trial = options;
  trial.dry_run = true;
  Progress hidden = Progress::hidden(invocation);
  Importer importer(invocation, trial, hidden);
  return std::all_of(jobs.begin(), jobs.end(), [&](ImportJob& job) {
    ImportReport report;
    const bool has_failed = importer.run(*memory, job, report).has_value();
    // Of a directory, what fails in one folder is told, and does not stop the others.
    const bool is_refused = has_failed ? !options.directory.empty() : report.refused_total > 0;
    return is_refused && report.added == 0;
  });
}

Result<Store> store_for(Invocation& invocation, const ImportOptions& options,
                        std::vector<ImportJob>& jobs) {
  const bool may_create = !options.no_create && !options.dry_run;
  // What is refused is told the same way, and no store is left behind.
  if (may_create && is_all_refused(invocation, jobs, options)) return invocation.open_trial_store();
  if (may_create && options.directory.empty()) {
    const std::string& id = jobs.front().session;
    Result<Store> store = invocation.open_store_for(creation_of(id));
    if (!store.ok()) return invocation.creation_failure(std::move(store.failure()), id);
    return store;
  }
  Result<Store> store = invocation.open_store(may_create ? Access::kCreate : Access::kExisting);
  if (store.ok() || !options.dry_run || options.no_create ||
      store.failure().status != VARVE_NOT_FOUND) {
    return store;
  }
  return invocation.open_trial_store();
}

// `session`: the only one, unless there is a directory of them. `sessions`: what each got, as JSON.
void show_total(Invocation& invocation, const ImportOptions& options, const ImportReport& total,
                const std::string& session, const std::vector<std::string>& sessions) {
  const bool is_one = options.directory.empty();
  if (invocation.json()) {
    const std::string each = is_one ? "\"session_id\":" + quote(session) + ","
                                    : "\"sessions\":" + array_text(sessions) + ",";
    return invocation.print("{" + each + report_text(total) + "}");
  }
  const auto session_count = static_cast<int64_t>(sessions.size());
  const std::string where = is_one ? session : format_count(session_count, "session", "sessions");
  show_refused(invocation, total);
  invocation.note(summary(total, where, options.dry_run));
  if (total.exceeds_limit) invocation.warn(kExceedsLimit);
  show_way(invocation, total);
}

int run_import(Invocation& invocation, const ImportOptions& options) {
  Result<std::vector<ImportJob>> jobs = plan(invocation, options);
  if (!jobs.ok()) return invocation.fail(jobs.failure());
  Progress progress(invocation, "Importing", Progress::Unit::kBytes, total_bytes(*jobs));
  Importer importer(invocation, options, progress);
  if (options.directory.empty()) {  // the sessions of one are each looked at on their own
    if (Outcome failure = importer.look_at_files(jobs->front())) {
      progress.clear();
      return invocation.fail(*failure);
    }
  }
  Result<Store> store = store_for(invocation, options, *jobs);
  if (!store.ok()) {
    progress.clear();
    return invocation.fail(store.failure());
  }
  ImportReport total;
  std::vector<std::string> sessions;
  int code = kExitOk;
  for (ImportJob& job : *jobs) {
    ImportReport report;
    if (Outcome failure = importer.run(*store, job, report)) {
      progress.clear();
      const int failed = invocation.fail(*failure);
      if (code == kExitOk) code = failed;
      continue;  // nobody knows how much of it was added
    }
    sessions.push_back("{\"session_id\":" + quote(job.session) + "," + report_text(report) + "}");
    total.merge(std::move(report));
  }
  progress.clear();
  if (options.directory.empty() && code != kExitOk) return code;
  show_total(invocation, options, total, jobs->front().session, sessions);
  if (code == kExitOk && total.refused_total > 0) code = kExitInvalid;
  return code;
}

Runner declare_import(CLI::App& app) {
  auto options = std::make_shared<ImportOptions>();
  options->operands.declare_many(app);
  app.add_option("--all", options->directory,
                 "Every folder of DIR that contains entries.jsonl, entries.json, memory.jsonl or "
                 "other .jsonl files, into a session named after the folder")
      ->type_name("DIR");
  app.add_option("-f,--format", options->format,
                 "auto: by the content (the default); jsonl or json: entries; mcp: the file of a "
                 "memory server; chat: messages with roles")
      ->type_name("FORMAT")
      ->check(one_of({"auto", "jsonl", "json", "mcp", "chat"}));
  app.add_flag("--dry-run", options->dry_run, "Only report what would be added");
  app.add_flag("--no-create", options->no_create,
               "Do not create a session that does not exist yet");
  return [options](Invocation& invocation) { return run_import(invocation, *options); };
}

}  // namespace

Command import_command() {
  return {
      "import",
      "add entries from files",
      "[SESSION] FILE...\n--all DIR",
      "Adds the entries of the files (\"-\" is standard input) to a session, which is created "
      "if it does not exist, unless all that they contain is refused. A file contains entries "
      "as JSON lines or as a JSON array, what `varve export` wrote, the memory of an MCP "
      "memory server, or the messages of a chat; docs/export-import.md shows how to convert what "
      "other programs wrote. "
      "Importing the same file again adds nothing: an entry without an id gets one derived from "
      "what it says. What is not a valid entry, or has the id of another "
      "one, is refused one by one and reported; the others are added, and the exit code is 1.",
      "varve import notes entries.jsonl\n"
      "varve import notes chat.json --dry-run\n"
      "varve export notes | varve --root elsewhere import notes -\n"
      "varve import --all backup",
      &declare_import};
}

}  // namespace varve::cli
