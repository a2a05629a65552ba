// export.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "cli/arguments/command.h"
#include "cli/arguments/conditions.h"
#include "cli/arguments/operands.h"
#include "cli/arguments/option_values.h"
#include "cli/descriptor_path.h"
#include "cli/interruption.h"
#include "cli/json_text.h"
#include "cli/session_work.h"
#include "cli/view/display_text.h"
#include "cli/view/progress.h"

namespace varve::cli {
namespace {

struct ExportOptions {
  Operands operands;
  Conditions conditions;
  std::string format;
  std::string output;
  bool all = false;
};

Outcome write_descriptor(int descriptor, std::string_view text, const std::string& path) {
  Output out(descriptor);
  out.write(text);
  out.flush();
  if (out.error() != 0) return system_failure("cannot write " + path, out.error());
  return std::nullopt;
}

// Pipes and devices are written as they are, and what is open where it stands: opened by its name,
// a file would be written from its beginning.
Outcome write_in_place(const std::string& path, std::string_view text) {
  if (const auto open = descriptor_of(path)) return write_descriptor(*open, text, path);
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return system_failure("cannot open " + path, errno);
  Outcome failure = write_descriptor(descriptor, text, path);
  ::close(descriptor);
  return failure;
}

// Pipes, devices and what is open already, as /dev/stdout is: no file can take their name when it
// is whole, and none may take that of the link which leads to them.
bool is_written_in_place(const std::string& path) {
  if (descriptor_of(path)) return true;
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool is_standard_output(const std::string& path) {
  struct stat own {};
  struct stat other {};
  return ::fstat(STDOUT_FILENO, &own) == 0 && ::stat(path.c_str(), &other) == 0 &&
         own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

// As far as it is known here: the library counts entries only in files that it writes itself.
std::string in_place_report(const std::string& text, const ExportOptions& options) {
  return object_text({{"bytes", std::to_string(text.size())}, {"format", quote(options.format)}});
}

Result<std::string> query_of(const Conditions& conditions) {
  if (!conditions.raw().empty()) {
    const std::optional<json::value> query = parse_json(conditions.raw());
    if (!query || !query->is_object()) return usage_failure("--query takes a JSON object");
  }
  return conditions.query_json({});
}

// {"format":...,"query":...}; with `overwrite` for a file.
Result<std::string> options_json(const ExportOptions& options, bool has_file) {
  json::object members{{"format", options.format}};
  if (has_file) members["overwrite"] = true;
  std::string text = json_of(members);
  if (!options.conditions.given()) return text;
  Result<std::string> query = query_of(options.conditions);
  if (!query.ok()) return query;
  // As text: a number of a query that was given keeps its digits.
  text.insert(text.size() - 1, ",\"query\":" + *query);
  return text;
}

void name_option(const ExportOptions& options, Failure& failure) {
  tell_of_part(failure, "query");
  options.conditions.name_option(failure);
}

// Writes the whole text, or leaves what was there before if anything fails. Only the owner may read
// the file, as with the store's own files.
Result<std::string> write_file(Session& session, const std::string& path,
                               const ExportOptions& options) {
  Result<std::string> json = options_json(options, true);
  if (!json.ok()) return std::move(json.failure());
  Result<std::string> report = session.export_file(path, *json);
  if (!report.ok()) name_option(options, report.failure());
  return report;
}

Result<std::string> export_text(Session& session, const ExportOptions& options) {
  Result<std::string> json = options_json(options, false);
  if (!json.ok()) return std::move(json.failure());
  Result<std::string> text = session.export_text(*json);
  if (!text.ok()) name_option(options, text.failure());
  return text;
}

std::string file_name(const std::string& format) {
  return format == "markdown" ? "entries.md" : "entries." + format;
}

Outcome export_to_folder(Invocation& invocation, Session& session, const std::string& id,
                         const ExportOptions& options) {
  const std::filesystem::path folder = std::filesystem::path(options.output) / id;
  if (Outcome failure = outcome_of(session.set_progress(Interruption::receiver()))) return failure;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    Failure failure = system_failure("cannot create " + folder.string(), error.value());
    // It is the folder that is not there: the session would be taken for one that is gone.
    if (is_gone(failure)) failure.status = VARVE_IO;
    return failure;
  }
  Result<std::string> report =
      write_file(session, (folder / file_name(options.format)).string(), options);
  if (!report.ok()) return invocation.with_hint(std::move(report.failure()), id);
  return std::nullopt;
}

int export_all(Invocation& invocation, const ExportOptions& options) {
  if (options.output.empty()) {
    return invocation.fail(usage_failure("--all needs --output DIR, a folder for the sessions"));
  }
  if (options.output == "-") {
    return invocation.fail(
        usage_failure("--all needs a folder as --output, and - is standard output"));
  }
  std::error_code error;
  const auto there = std::filesystem::status(options.output, error);
  if (std::filesystem::exists(there) && !std::filesystem::is_directory(there)) {
    return invocation.fail(
        usage_failure("--all needs a folder as --output, and " + options.output + " is none"));
  }
  int64_t exported = 0;
  const Interruption interruption;
  const auto run = [&](Session& session, const std::string& id, Progress&) -> Result<int> {
    if (Outcome failure = export_to_folder(invocation, session, id, options)) {
      return *std::move(failure);
    }
    ++exported;
    return kExitOk;
  };
  Result<int> code = for_each_opened(invocation, "Exporting", run);
  if (!code.ok()) return invocation.fail(code.failure());
  if (Interruption::is_asked()) return *code;  // the signal ends the program
  if (invocation.json()) {
    invocation.print(
        object_text({{"sessions", std::to_string(exported)}, {"output", quote(options.output)}}));
  } else {
    invocation.note("Exported " + format_count(exported, "session", "sessions") + " to " +
                    options.output + ".");
  }
  return *code;
}

int export_to_file(Invocation& invocation, Session& session, const std::string& id,
                   const ExportOptions& options) {
  Progress progress(invocation, "Exporting", Progress::Unit::kBytes, -1);
  const Interruption interruption;
  const ProgressFunction receiver = Interruption::receiver(progress.receiver());
  if (Outcome failure = outcome_of(session.set_progress(receiver)))
    return invocation.fail(*failure);
  Result<std::string> report = write_file(session, options.output, options);
  progress.clear();
  if (!report.ok() && Interruption::is_asked()) {
    invocation.note("Stopped: " + options.output + " was not written.");
    return kExitOk;  // the signal ends the program
  }
  if (!report.ok()) return invocation.fail_in_session(std::move(report.failure()), id);
  if (invocation.json()) {
    invocation.print(*report);
    return kExitOk;
  }
  const json::object counts = parse_object(*report);
  invocation.note("Exported " + format_count(integer_at(counts, "entries"), "entry", "entries") +
                  " of " + id + " to " + options.output + ", " +
                  format_bytes(integer_at(counts, "bytes")) + ".");
  return kExitOk;
}

int run_export(Invocation& invocation, const ExportOptions& given) {
  ExportOptions options = given;
  if (options.format.empty()) options.format = invocation.json() ? "json" : "jsonl";
  Result<std::string> id = session_or_all(invocation, options.operands, options.all);
  if (!id.ok()) return invocation.fail(id.failure());
  if (options.all) return export_all(invocation, options);
  Result<OpenSession> open = open_session(invocation, *id);
  if (!open.ok()) return invocation.fail(open.failure());
  const std::string& path = options.output;
  if (!path.empty() && path != "-" && !is_written_in_place(path)) {
    return export_to_file(invocation, open->session, *id, options);
  }
  Result<std::string> text = export_text(open->session, options);
  if (!text.ok()) return invocation.fail_in_session(std::move(text.failure()), *id);
  // Only on a terminal: elsewhere it is to be what was remembered, byte by byte.
  const bool is_shown = options.format == "markdown" && invocation.terminal().is_terminal();
  if (path.empty() || path == "-") {
    invocation.out().write(is_shown ? printable(*text, Lines::kKeep) : *text);
    if (!text->empty() && !text->ends_with('\n')) invocation.out().write("\n");
    return kExitOk;
  }
  if (Outcome failure = write_in_place(path, *text)) {
    // A reader of standard output that has seen enough is no error, whatever it is called.
    const bool is_enough = integer_at(parse_object(failure->details), "errno") == EPIPE;
    return is_enough && is_standard_output(path) ? kExitOk : invocation.fail(*failure);
  }
  if (invocation.json()) {
    // Printed after the exported text, it would spoil that.
    if (!is_standard_output(path)) invocation.print(in_place_report(*text, options));
    return kExitOk;
  }
  invocation.note("Exported " + *id + " to " + path + ", " +
                  format_bytes(static_cast<int64_t>(text->size())) + ".");
  return kExitOk;
}

Runner declare_export(CLI::App& app) {
  auto options = std::make_shared<ExportOptions>();
  options->operands.declare(app, 1);
  app.add_option("-f,--format", options->format,
                 "jsonl: the lines as stored (the default); json: one object with metadata and "
                 "entries (the default with --json); markdown: for people")
      ->type_name("FORMAT")
      ->check(one_of({"jsonl", "json", "markdown"}));
  app.add_option("-o,--output", options->output,
                 "Write to FILE, whole or not at all (- is standard output); with --all a folder")
      ->type_name("FILE");
  app.add_flag("-a,--all", options->all,
               "Every session, each into SESSION/entries.jsonl in the folder --output, as json "
               "into entries.json; `varve import --all` reads both back");
  options->conditions.declare(app, "--query");
  return [options](Invocation& invocation) { return run_export(invocation, *options); };
}

}  // namespace

Command export_command() {
  return {"export",
          "write a session out",
          "[SESSION]\n--all --output DIR",
          "Writes all entries that are neither deleted nor expired, in the order of the log; with "
          "conditions, only those that match.",
          "varve export notes > notes.jsonl\nvarve export notes --format markdown -o notes.md\n"
          "varve export notes --type finding --since 7d -o findings.jsonl\n"
          "varve export --all --output backup",
          &declare_export};
}

}  // namespace varve::cli
