// tags.
#include <algorithm>
#include <memory>

#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/json_text.h"
#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr size_t kStepColumns = 2;
constexpr size_t kGapColumns = 2;

struct Row {
  std::string label;  // indented; the last part of the tag
  std::string count;
};

// Names come sorted, with "a-b" between "a" and "a.b". With the dot as the smallest character, the
// tags below a tag follow it.
bool comes_before(const std::string& a, const std::string& b) {
  const auto rank = [](char c) { return c == '.' ? 0 : static_cast<unsigned char>(c) + 1; };
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      [&](char x, char y) { return rank(x) < rank(y); });
}

std::vector<Row> tree_rows(std::string_view tags_json) {
  const json::object document = parse_object(tags_json);
  std::vector<std::pair<std::string, int64_t>> tags;
  for (const json::value& item : array_at(document, "tags")) {
    if (!item.is_object()) continue;
    tags.emplace_back(string_at(item.get_object(), "tag"),
                      integer_at(item.get_object(), "entries"));
  }
  std::sort(tags.begin(), tags.end(),
            [](const auto& a, const auto& b) { return comes_before(a.first, b.first); });
  std::vector<Row> rows;
  for (const auto& [tag, entries] : tags) {
    const auto depth = static_cast<size_t>(std::count(tag.begin(), tag.end(), '.'));
    const std::string part = tag.substr(tag.find_last_of('.') + 1);
    rows.push_back({std::string(depth * kStepColumns, ' ') + printable(part, Lines::kJoin),
                    format_count(entries)});
  }
  return rows;
}

void print_tree(Invocation& invocation, const std::vector<Row>& rows) {
  size_t label_columns = 0;
  size_t count_columns = 0;
  for (const Row& row : rows) {
    label_columns = std::max(label_columns, display_width(row.label));
    count_columns = std::max(count_columns, row.count.size());
  }
  const Terminal& terminal = invocation.terminal();
  // On a narrow terminal the names are cut, not the counts.
  const size_t taken = kGapColumns + count_columns;
  if (terminal.width() > taken) label_columns = std::min(label_columns, terminal.width() - taken);
  for (const Row& row : rows) {
    const std::string label = pad_right(truncate(row.label, label_columns), label_columns);
    invocation.print(terminal.paint(Style::kTag, label) + std::string(kGapColumns, ' ') +
                     pad_left(row.count, count_columns));
  }
}

int run_tags(Invocation& invocation, const Operands& operands) {
  Result<OpenSession> open = open_session(invocation, operands);
  if (!open.ok()) return invocation.fail(open.failure());
  Result<std::string> tags = open->session.tags();
  if (!tags.ok()) return invocation.fail_in_session(std::move(tags.failure()), open->session.id());
  if (invocation.json()) {
    invocation.print(*tags);
    return kExitOk;
  }
  const std::vector<Row> rows = tree_rows(*tags);
  if (rows.empty()) invocation.note("No tags.");
  print_tree(invocation, rows);
  return kExitOk;
}

Runner declare_tags(CLI::App& app) {
  auto operands = std::make_shared<Operands>();
  operands->declare(app, 1);
  return [operands](Invocation& invocation) { return run_tags(invocation, *operands); };
}

}  // namespace

Command tags_command() {
  return {"tags",
          "show the tags and how many entries have them",
          "[SESSION]",
          "Shows the tags of the session's entries as a tree: `security.login` is below "
          "`security`. The number is how many entries a search for the tag finds, including those "
          "of the tags below it.",
          "varve tags notes\nvarve tags notes --json",
          &declare_tags};
}

}  // namespace varve::cli
