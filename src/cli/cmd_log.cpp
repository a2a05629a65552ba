// log.
#include <algorithm>
#include <memory>

#include "cli/command.h"
#include "cli/display_text.h"
#include "cli/entry_view.h"
#include "cli/json_text.h"
#include "cli/operands.h"
#include "cli/option_values.h"
#include "cli/timestamp.h"

namespace varve::cli {
namespace {

constexpr size_t kContentLines = 20;

struct LogOptions {
  Operands operands;
  int64_t count = 10;
  std::vector<std::string> types;
  std::vector<std::string> tags;
  bool one_line = false;
  bool full = false;
  bool reverse = false;
};

struct LogLine {
  int64_t time_ms;
  size_t position;
  std::string_view text;
};

bool has_any(const std::vector<std::string>& wanted, const std::string& value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

bool has_tags(const std::vector<std::string>& wanted, std::string_view raw_tags) {
  if (wanted.empty()) return true;
  const std::optional<json::value> tags = parse_json(raw_tags);
  if (!tags || !tags->is_array()) return false;
  return std::all_of(wanted.begin(), wanted.end(), [&](const std::string& tag) {
    return std::any_of(tags->get_array().begin(), tags->get_array().end(),
                       [&](const json::value& item) {
                         return item.is_string() && std::string_view(item.get_string()) == tag;
                       });
  });
}

// The lines that the options ask for, newest first.
std::vector<LogLine> select_lines(std::string_view text, const LogOptions& options) {
  std::vector<LogLine> lines;
  for (size_t position = 0; !text.empty(); ++position) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string type;
    std::string time;
    std::string_view tags;
    for (const RawMember& member : raw_members(line)) {
      if (member.name == "type") type = unquote(member.value);
      if (member.name == "timestamp") time = unquote(member.value);
      if (member.name == "tags") tags = member.value;
    }
    if (type.empty() || !has_any(options.types, type) || !has_tags(options.tags, tags)) continue;
    lines.push_back({timestamp_ms(time).value_or(0), position, line});
  }
  std::stable_sort(lines.begin(), lines.end(), [](const LogLine& a, const LogLine& b) {
    return a.time_ms != b.time_ms ? a.time_ms > b.time_ms : a.position > b.position;
  });
  return lines;
}

void print_lines(Context& context, const std::vector<LogLine>& lines, const LogOptions& options) {
  if (context.json()) {
    context.out().write("[");
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) context.out().write(",\n");
      context.out().write(lines[i].text);
    }
    context.out().write("]\n");
    return;
  }
  const bool cut = context.terminal().is_terminal() && !options.full;
  for (size_t i = 0; i < lines.size() && context.out().error() == 0; ++i) {
    if (context.quiet()) {
      context.print(printable(unquote(raw_member(lines[i].text, "id")), Lines::kJoin));
    } else if (options.one_line) {
      print_entry_line(context, lines[i].text);
    } else {
      if (i > 0) context.print("");
      print_entry(context, lines[i].text, Detail::kUsual, cut ? kContentLines : 0);
    }
  }
}

int run_log(Context& context, const LogOptions& options) {
  Result<SessionOperands> words = split_session(context, options.operands, 0);
  if (!words.ok()) return context.fail(words.failure());
  Result<OpenSession> open = open_session(context, words->session);
  if (!open.ok()) return context.fail(open.failure());
  Result<Text> text = open->session.export_as("jsonl");
  if (!text.ok()) return context.fail(context.with_hint(std::move(text.failure()), words->session));
  std::vector<LogLine> lines = select_lines(text->view(), options);
  const size_t found = lines.size();
  if (options.count > 0) lines.resize(std::min(found, static_cast<size_t>(options.count)));
  if (options.reverse) std::reverse(lines.begin(), lines.end());
  print_lines(context, lines, options);
  if (context.json()) return kExitOk;
  if (found == 0) context.note("No entries.");
  if (lines.size() < found && context.terminal().is_terminal()) {
    context.note(context.err_terminal().paint(
        Style::kFaint, "(" + format_count(static_cast<int64_t>(lines.size())) + " of " +
                           format_count(static_cast<int64_t>(found), "entry", "entries") +
                           "; -n 0 shows all)"));
  }
  return kExitOk;
}

Runner declare_log(CLI::App& app) {
  auto options = std::make_shared<LogOptions>();
  options->operands.declare(app, 1);
  app.add_option("-n,--number", options->count, "At most this many entries; 0 for all (10)")
      ->type_name("N")
      ->check(whole_number());
  app.add_option("-t,--type", options->types, "Only this type; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TYPE");
  app.add_option("--tag", options->tags,
                 "Only entries with this tag; if repeated, with all of them")
      ->allow_extra_args(false)
      ->type_name("TAG");
  app.add_flag("--oneline", options->one_line, "One line for each entry");
  app.add_flag("--full", options->full, "Do not cut long contents on a terminal");
  app.add_flag("--reverse", options->reverse, "Show the oldest of them first");
  return [options](Context& context) { return run_log(context, *options); };
}

}  // namespace

Command log_command() {
  return {"log",
          "show the latest entries, newest first",
          "[SESSION]",
          "Shows entries by timestamp, newest first. On a terminal, contents of more than 20 lines "
          "are cut; elsewhere nothing is. With --quiet only the ids, with --json an array of the "
          "stored lines.",
          "varve log notes\nvarve log notes -n 0 --oneline | grep tea\n"
          "varve log notes --type decision --tag database",
          &declare_log};
}

}  // namespace varve::cli
