#include "cli/view/entry_view.h"

#include <algorithm>
#include <array>

#include "cli/json_text.h"
#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr size_t kLabelColumns = 12;
constexpr size_t kContentIndentColumns = 4;
constexpr size_t kTypeColumns = 12;
constexpr size_t kReadableColumns = 100;
constexpr size_t kTextColumnsMin = 24;

// Shown in other places, or of no use in a list of entries.
constexpr std::array<std::string_view, 8> kShownElsewhere = {
    "id", "content", "timestamp", "type", "importance", "tags", "references", "session_id"};
constexpr std::array<std::string_view, 5> kBookkeeping = {"checksum", "schema_version", "seq",
                                                          "decay_factor", "batch"};

enum class Form { kIndented, kCompact };

struct Content {
  std::string role;
  std::string text;
};

// What `content` says: its message when it has one, else its JSON.
Content read_content(std::string_view raw, Form form) {
  if (raw.starts_with('"')) return {{}, unquote(raw)};
  const auto shown = [form](std::string_view value) {
    return form == Form::kIndented ? indent_json(value) : std::string(value);
  };
  Content content;
  std::string rest;
  bool has_message = false;
  for (const RawMember& member : raw_members(raw)) {
    if (member.name == "message" && member.value.starts_with('"')) {
      has_message = true;
      content.text = unquote(member.value);
    } else if (member.name == "role" && member.value.starts_with('"')) {
      content.role = unquote(member.value);
    } else {
      rest += "\n" + member.name + ": " + shown(member.value);
    }
  }
  if (!has_message) return {content.role, shown(raw)};
  if (!rest.empty()) content.text += "\n" + rest;
  return content;
}

std::string joined(std::string_view raw_array) {
  std::string out;
  const std::optional<json::value> value = parse_json(raw_array);
  if (!value || !value->is_array()) return out;
  for (const json::value& item : value->get_array()) {
    if (!out.empty()) out += ", ";
    out += item.is_string() ? std::string(item.get_string()) : json_of(item);
  }
  return out;
}

void print_field(Invocation& invocation, std::string_view label, std::string_view value) {
  if (value.empty()) return;
  // A label may be the name of a member that somebody gave.
  invocation.print(pad_right(printable(label, Lines::kJoin) + ": ", kLabelColumns) +
                   printable(value, Lines::kJoin));
}

void print_content(Invocation& invocation, const std::string& text, size_t lines_max) {
  const size_t columns = invocation.terminal().width();
  const size_t width = columns > kContentIndentColumns + 20
                           ? std::min(columns - kContentIndentColumns, kReadableColumns)
                           : 0;
  const std::vector<std::string> lines = wrap(printable(text, Lines::kKeep), width);
  const size_t shown = lines_max == 0 ? lines.size() : std::min(lines.size(), lines_max);
  for (size_t i = 0; i < shown; ++i) {
    invocation.print(lines[i].empty() ? "" : std::string(kContentIndentColumns, ' ') + lines[i]);
  }
  if (shown < lines.size()) {
    const auto left = static_cast<int64_t>(lines.size() - shown);
    invocation.print(std::string(kContentIndentColumns, ' ') +
                     invocation.terminal().paint(
                         Style::kFaint, "(" + format_count(left, "more line", "more lines") + ")"));
  }
}

template <size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

void print_entry(Invocation& invocation, std::string_view line, Detail detail,
                 size_t content_lines_max) {
  const std::vector<RawMember> members = raw_members(line);
  const auto value = [&](std::string_view name) {
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const RawMember& member) { return member.name == name; });
    return found == members.end() ? std::string_view() : found->value;
  };
  const Content content = read_content(value("content"), Form::kIndented);
  const Terminal& terminal = invocation.terminal();
  invocation.print(
      terminal.paint(Style::kId, "entry " + printable(unquote(value("id")), Lines::kJoin)));
  const std::string time = unquote(value("timestamp"));
  const std::string shown_time = format_time(time);
  print_field(invocation, "Date", shown_time == time ? time : shown_time + " UTC");
  print_field(invocation, "Type", unquote(value("type")));
  print_field(invocation, "Role", content.role);
  print_field(invocation, "Importance", value("importance"));
  print_field(invocation, "Tags", joined(value("tags")));
  print_field(invocation, "References", joined(value("references")));
  for (const RawMember& member : members) {
    if (contains(kShownElsewhere, member.name)) continue;
    if (detail == Detail::kUsual && contains(kBookkeeping, member.name)) continue;
    print_field(invocation, member.name, unquote(member.value));
  }
  invocation.print("");
  print_content(invocation, content.text, content_lines_max);
}

void print_entry_line(Invocation& invocation, std::string_view line) {
  std::string id;
  std::string time;
  std::string type;
  Content content;
  for (const RawMember& member : raw_members(line)) {
    if (member.name == "id") id = printable(unquote(member.value), Lines::kJoin);
    if (member.name == "timestamp") time = format_time(unquote(member.value));
    if (member.name == "type") type = printable(unquote(member.value), Lines::kJoin);
    if (member.name == "content") content = read_content(member.value, Form::kCompact);
  }
  const Terminal& terminal = invocation.terminal();
  std::string text = content.role.empty() ? content.text : content.role + ": " + content.text;
  text = printable(text, Lines::kJoin);
  std::string line_text = terminal.paint(Style::kId, truncate(id, terminal.width()));
  size_t used = display_width(id);
  // On a terminal, time and type are shortened before the text.
  const auto append = [&](const std::string& cell, Style style) {
    const size_t columns = display_width(cell) + 1;
    if (terminal.width() > 0 && used + columns + kTextColumnsMin > terminal.width()) return;
    used += columns;
    line_text += " " + terminal.paint(style, cell);
  };
  append(pad_right(type, kTypeColumns), Style::kType);
  append(time, Style::kFaint);
  if (terminal.width() > 0) {
    const size_t room = terminal.width() - std::min(used + 1, terminal.width());
    text = room == 0 ? std::string() : truncate(text, room);
  }
  invocation.print(line_text + (text.empty() ? "" : " " + text));
}

}  // namespace varve::cli
