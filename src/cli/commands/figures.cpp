// stats, files, metrics, version.
#include <memory>
#include <utility>

#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/json_text.h"
#include "cli/session_work.h"
#include "cli/view/display_text.h"
#include "cli/view/figures_view.h"
#include "cli/view/table.h"

namespace varve::cli {
namespace {

constexpr size_t kFigureLabelColumns = 12;

// An empty figure is left out.
void print_figure(Invocation& invocation, std::string_view label, const std::string& value) {
  if (value.empty()) return;
  invocation.print(
      invocation.terminal().paint(Style::kFaint, pad_right(label, kFigureLabelColumns)) +
      printable(value, Lines::kJoin));
}

std::string entries_figure(const json::object& stats) {
  std::string text = format_count(integer_at(stats, "entries"));
  const int64_t deleted = integer_at(stats, "deleted");
  const int64_t expired = integer_at(stats, "expired");
  if (deleted > 0) text += ", " + format_count(deleted) + " deleted";
  if (expired > 0) text += ", " + format_count(expired) + " expired";
  return text;
}

// With its parts: those that every session has, and of the others those that are there.
std::string size_figure(const json::object& sizes) {
  std::string text = format_bytes(integer_at(sizes, "total")) + " (log " +
                     format_bytes(integer_at(sizes, "log")) + ", index " +
                     format_bytes(integer_at(sizes, "index")) + ", tombstones " +
                     format_bytes(integer_at(sizes, "tombstones"));
  for (const auto& [name, label] : {std::pair{"vectors", "vectors"}, std::pair{"kv", "keys"},
                                    std::pair{"transcript", "transcript"}}) {
    const int64_t bytes = integer_at(sizes, name);
    if (bytes > 0) text += std::string(", ") + label + " " + format_bytes(bytes);
  }
  return text + ")";
}

std::string types_figure(const json::object& types) {
  std::string text;
  for (const auto& type : types) {
    if (!text.empty()) text += ", ";
    text += std::string(type.key()) + " " + format_count(integer_at(types, type.key()));
  }
  return text;
}

std::string or_none(const std::string& figure) { return figure.empty() ? "none" : figure; }

std::string of_limit(const json::object& stats) {
  const std::string part = limit_figure(stats);
  return part.empty() ? "none"
                      : part + " of " + format_bytes(integer_at(stats, "size_limit_bytes"));
}

std::string lock_since(const json::object& stats) {
  const std::string holder = lock_figure(stats);
  if (holder.empty()) return "free";
  const std::string since = string_at(object_at(stats, "lock"), "since");
  return since.empty() ? holder : holder + " since " + format_time(since);
}

// Empty when there are no vectors.
std::string vectors_figure(const json::object& stats) {
  const json::object& vectors = object_at(stats, "vectors");
  const int64_t records = integer_at(vectors, "records");
  if (records == 0) return "";
  return format_count(records) + " of dimension " +
         std::to_string(integer_at(vectors, "dimension")) + ", " +
         format_bytes(integer_at(object_at(stats, "size_bytes"), "vectors"));
}

std::string index_figure(const json::object& index) {
  const std::string reason = string_at(index, "reason");
  std::string text = bool_at(index, "loaded") ? "loaded" : "built from the log";
  if (!reason.empty()) text += " (" + reason + ")";
  return text;
}

void print_stats(Invocation& invocation, const json::object& stats) {
  print_figure(invocation, "Session", string_at(stats, "session_id"));
  print_figure(invocation, "Entries", entries_figure(stats));
  print_figure(invocation, "Types", types_figure(object_at(stats, "types")));
  print_figure(invocation, "Size", size_figure(object_at(stats, "size_bytes")));
  print_figure(invocation, "Limit", of_limit(stats));
  print_figure(invocation, "Changed", format_time(string_at(stats, "modified")));
  print_figure(invocation, "Vectors", vectors_figure(stats));
  print_figure(invocation, "In memory", format_bytes(integer_at(stats, "memory_bytes")));
  print_figure(invocation, "Durability", string_at(stats, "durability"));
  print_figure(invocation, "Lock", lock_since(stats));
  print_figure(invocation, "Sequence",
               format_count(integer_at(stats, "last_seq")) + ", durable up to " +
                   format_count(integer_at(stats, "durable_seq")));
  print_figure(invocation, "Generation", format_count(integer_at(stats, "generation")));
  print_figure(invocation, "Damage", or_none(damage_figure(stats)));
  print_figure(invocation, "Index", index_figure(object_at(stats, "index")));
  if (bool_at(stats, "read_only")) print_figure(invocation, "Writing", "no: read-only");
}

int stats_of_one(Invocation& invocation, const std::string& id) {
  Result<OpenSession> open = open_session(invocation, id);
  if (!open.ok()) return invocation.fail(open.failure());
  Result<std::string> stats = open->session.stats();
  if (!stats.ok()) return invocation.fail_in_session(std::move(stats.failure()), id);
  if (invocation.json()) {
    invocation.print(*stats);
  } else {
    print_stats(invocation, parse_object(*stats));
  }
  return kExitOk;
}

int stats_of_all(Invocation& invocation) {
  Table table({{"SESSION", Align::kLeft, Style::kId},
               {"ENTRIES", Align::kRight},
               {"DELETED", Align::kRight},
               {"SIZE", Align::kRight},
               {"LIMIT", Align::kRight},
               {"DAMAGE"}});
  std::vector<std::string> reports;
  int64_t entries = 0;
  int64_t bytes = 0;
  const auto add = [&](Session& session, const std::string& id, Progress&) -> Result<int> {
    Result<std::string> text = session.stats();
    if (!text.ok()) return std::move(text.failure());
    const json::object stats = parse_object(*text);
    const int64_t size = integer_at(object_at(stats, "size_bytes"), "total");
    table.add_row({id, format_count(integer_at(stats, "entries")),
                   format_count(integer_at(stats, "deleted")), format_bytes(size),
                   limit_figure(stats), or_none(damage_figure(stats))});
    reports.push_back(*text);
    entries += integer_at(stats, "entries");
    bytes += size;
    return kExitOk;
  };
  Result<int> code = for_each_opened(invocation, "Reading", add);
  if (!code.ok()) return invocation.fail(code.failure());
  if (invocation.json()) {
    invocation.print(object_text({{"sessions", array_text(reports)},
                                  {"entries", std::to_string(entries)},
                                  {"size_bytes", std::to_string(bytes)}}));
    return *code;
  }
  table.print(invocation.out(), invocation.terminal());
  invocation.print(format_count(static_cast<int64_t>(reports.size()), "session", "sessions") +
                   ", " + format_count(entries, "entry", "entries") + ", " + format_bytes(bytes));
  return *code;
}

Runner declare_stats(CLI::App& app) {
  auto options = std::make_shared<Sessions>();
  options->declare(app, "A table of every session");
  return [options](Invocation& invocation) {
    Result<std::string> id = session_or_all(invocation, options->operands, options->all);
    if (!id.ok()) return invocation.fail(id.failure());
    invocation.tolerate_damage();
    return options->all ? stats_of_all(invocation) : stats_of_one(invocation, *id);
  };
}

int run_files(Invocation& invocation, const Operands& operands) {
  Result<OpenSession> open = open_session(invocation, operands);
  if (!open.ok()) return invocation.fail(open.failure());
  Result<std::string> files = open->session.files();
  if (!files.ok()) return invocation.fail(files.failure());
  if (invocation.json()) {
    invocation.print(*files);
    return kExitOk;
  }
  Table table({{"FILE"}, {"SIZE", Align::kRight}, {"MODIFIED", Align::kLeft, Style::kFaint}});
  const json::object document = parse_object(*files);
  for (const json::value& item : array_at(document, "files")) {
    if (!item.is_object()) continue;
    const json::object& file = item.get_object();
    table.add_row({string_at(file, "name"), format_bytes(integer_at(file, "size_bytes")),
                   format_time(string_at(file, "modified"))});
  }
  table.print(invocation.out(), invocation.terminal());
  return kExitOk;
}

Runner declare_files(CLI::App& app) {
  auto operands = std::make_shared<Operands>();
  operands->declare(app, 1);
  return [operands](Invocation& invocation) { return run_files(invocation, *operands); };
}

int run_metrics(Invocation& invocation) {
  if (!invocation.globals().session.empty()) {
    return invocation.fail(usage_failure("the figures are of every session: do not name one",
                                         "`varve stats` shows those of one session."));
  }
  Result<Store> store = invocation.open_store(Access::kExisting);
  if (!store.ok()) return invocation.fail(store.failure());
  Result<std::string> text = invocation.json() ? store->stats() : store->metrics();
  if (!text.ok()) return invocation.fail(text.failure());
  if (invocation.json()) {
    invocation.print(raw_member(*text, "metrics"));
  } else {
    invocation.out().write(*text);
  }
  return kExitOk;
}

Runner declare_metrics(CLI::App&) { return &run_metrics; }

int run_version(Invocation& invocation) {
  const std::string abi = std::to_string(varve_abi_version());
  const std::string format = std::to_string(VARVE_FILE_FORMAT);
  if (invocation.json()) {
    invocation.print(object_text(
        {{"version", quote(varve_version())}, {"abi_version", abi}, {"file_format", format}}));
  } else {
    invocation.print(std::string("varve ") + varve_version() + " (ABI " + abi + ", file format " +
                     format + ")");
  }
  return kExitOk;
}

Runner declare_version(CLI::App&) { return &run_version; }

}  // namespace

Command stats_command() {
  return {"stats",
          "show figures",
          "[SESSION]\n--all",
          "Shows how many entries a session holds, of which types, how large its files are and how "
          "near their limit, who is writing, and what damage was met when it was opened; "
          "`varve verify` looks for damage.",
          "varve stats notes\nvarve stats --all",
          &declare_stats};
}

Command files_command() {
  return {"files",
          "list a session's files",
          "[SESSION]",
          "Lists the files of a session with size and time.",
          "varve files notes",
          &declare_files};
}

Command metrics_command() {
  return {"metrics",
          "show figures for monitoring",
          "",
          "Prints the figures of the store as text for Prometheus. Sessions, entries and size are "
          "the store's; counters and durations are this process's, which has done nothing yet: a "
          "program that uses the library gets its own from varve_store_metrics.",
          "varve metrics\nvarve metrics --json",
          &declare_metrics};
}

Command version_command() {
  return {"version",
          "show the versions",
          "",
          "Shows the version of the library, of its ABI, and of the files it writes.",
          "varve version --json",
          &declare_version};
}

}  // namespace varve::cli
