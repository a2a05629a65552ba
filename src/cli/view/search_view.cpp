#include "cli/view/search_view.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/json_text.h"
#include "cli/view/display_text.h"
#include "cli/view/excerpt.h"
#include "cli/view/explain_view.h"
#include "cli/view/highlight.h"

namespace varve::cli {
namespace {

constexpr size_t kExcerptIndentColumns = 3;
constexpr size_t kExcerptColumns = 200;  // where there is no terminal
constexpr std::string_view kBetween = " · ";

// Pieces of text with a style each, one after another on a line.
using Pieces = std::vector<std::pair<std::string, Style>>;

// On a terminal cut to its width.
std::string painted(const Terminal& terminal, const Pieces& pieces) {
  std::string out;
  size_t used = 0;
  for (const auto& [text, style] : pieces) {
    const bool limited = terminal.width() > 0;
    if (limited && used >= terminal.width()) break;
    const std::string shown = limited ? truncate(text, terminal.width() - used) : text;
    used += display_width(shown);
    out += terminal.paint(style, shown);
  }
  return out;
}

struct Shown {
  std::string id;
  std::string type;
  std::string time;
  std::string role;
  std::string tags;
  std::string text;
};

// What `content` says, on one line: its message, then its other members.
std::string content_line(std::string_view raw, std::string* role) {
  if (!raw.starts_with('{')) return unquote(raw);
  std::string message;
  std::string others;
  for (const RawMember& member : raw_members(raw)) {
    const std::string value = unquote(member.value);
    if (member.name == "role") {
      *role = value;
    } else if (member.name == "message") {
      message = value;
    } else {
      if (!others.empty()) others += kBetween;
      others += member.name + ": " + value;
    }
  }
  if (message.empty() || others.empty()) return message + others;
  return message + std::string(kBetween) + others;
}

Shown read_entry(std::string_view entry) {
  Shown shown;
  for (const RawMember& member : raw_members(entry)) {
    if (member.name == "id") shown.id = printable(unquote(member.value), Lines::kJoin);
    if (member.name == "type") shown.type = printable(unquote(member.value), Lines::kJoin);
    if (member.name == "timestamp") shown.time = format_time(unquote(member.value));
    if (member.name == "content") shown.text = content_line(member.value, &shown.role);
    if (member.name != "tags") continue;
    for (const std::string_view tag : raw_items(member.value)) {
      shown.tags += (shown.tags.empty() ? "" : ", ") + printable(unquote(tag), Lines::kJoin);
    }
  }
  shown.role = printable(shown.role, Lines::kJoin);
  shown.text = printable(shown.text, Lines::kJoin);
  return shown;
}

std::vector<std::string> terms_of(const json::object& explain) {
  std::vector<std::string> terms;
  for (const json::value& term : array_at(explain, "terms")) {
    if (term.is_object()) terms.push_back(string_at(term.get_object(), "term"));
  }
  return terms;
}

void print_heading(Invocation& invocation, size_t rank, const Shown& shown,
                   const json::object& explain, const std::string& session) {
  const double age_hours = number_at(object_at(explain, "decay"), "age_hours");
  Pieces pieces = {{std::to_string(rank) + ". ", Style::kFaint}, {shown.id, Style::kId}};
  pieces.emplace_back("  " + shown.type, Style::kType);
  if (!shown.role.empty()) pieces.emplace_back(" by " + shown.role, Style::kPlain);
  // A future time has no age.
  const std::string age = age_hours > 0 ? format_age(age_hours) : shown.time;
  pieces.emplace_back(std::string(kBetween) + age, Style::kFaint);
  if (!session.empty()) pieces.emplace_back(std::string(kBetween) + session, Style::kPlain);
  if (!shown.tags.empty()) pieces.emplace_back(std::string(kBetween) + shown.tags, Style::kTag);
  invocation.print(painted(invocation.terminal(), pieces));
}

void print_excerpt(Invocation& invocation, const Shown& shown, const json::object& explain,
                   const std::string& question) {
  if (shown.text.empty()) return;
  const size_t width = invocation.terminal().width();
  const size_t columns = width == 0
                             ? kExcerptColumns
                             : std::max(width, kExcerptIndentColumns + 1) - kExcerptIndentColumns;
  const std::vector<Match> matches = Highlighter(terms_of(explain), question).find(shown.text);
  invocation.print(std::string(kExcerptIndentColumns, ' ') +
                   excerpt(shown.text, matches, columns, invocation.terminal()));
}

// "relevance 0.2 = importance 0.9 × decay 0.24 × match 0.92": the factors as they are multiplied.
std::string relevance_figure(std::string_view result, const json::object& explain) {
  const json::object figures = parse_object(result);
  std::string text = "relevance " + format_number(number_at(figures, "relevance"), 3) +
                     " = importance " + format_number(number_at(explain, "importance"), 2) +
                     " × decay " + format_number(number_at(figures, "decay_factor"), 2);
  const double boost = number_at(explain, "recency_boost");
  if (boost != 1) text += " × recent " + format_number(boost, 2);
  if (explain.contains("bm25")) {
    text += " × match " + format_number(number_at(figures, "match_quality"), 2);
  }
  return text;
}

void print_figures(Invocation& invocation, std::string_view result, const json::object& explain) {
  std::string text;
  // Matches that are not among those ranked by the sum have no sum.
  if (explain.contains("best")) {
    text = "best " + format_number(number_at(explain, "key"), 2);
    text += kBetween;
  }
  text += relevance_figure(result, explain);
  const size_t width = invocation.terminal().width();
  const size_t room = width > kExcerptIndentColumns ? width - kExcerptIndentColumns : width;
  for (const std::string& line : wrap(text, room)) {
    invocation.print(std::string(kExcerptIndentColumns, ' ') +
                     invocation.terminal().paint(Style::kFaint, line));
  }
}

}  // namespace

void print_results(Invocation& invocation, std::string_view results_json, const SearchView& view) {
  size_t rank = 0;
  for (const std::string_view result : raw_items(raw_member(results_json, "results"))) {
    if (invocation.out().error() != 0) return;
    if (++rank > 1) invocation.print("");
    const json::object explain = parse_object(raw_member(result, "explain"));
    const Shown shown = read_entry(raw_member(result, "entry"));
    const std::string session =
        view.with_session ? printable(unquote(raw_member(result, "session_id")), Lines::kJoin)
                          : std::string();
    print_heading(invocation, rank, shown, explain, session);
    print_excerpt(invocation, shown, explain, view.question);
    print_figures(invocation, result, explain);
    if (view.explained) print_sum(invocation, explain);
  }
}

Outcome print_result_ids(Invocation& invocation, const Results& results, bool with_session) {
  const auto id_of = [](std::string_view entry) { return unquote(raw_member(entry, "id")); };
  if (with_session) {
    Result<std::string_view> text = results.json();
    if (!text.ok()) return std::move(text.failure());
    for (const std::string_view result : raw_items(raw_member(*text, "results"))) {
      const std::string session = unquote(raw_member(result, "session_id"));
      const std::string id = id_of(raw_member(result, "entry"));
      invocation.print(printable(session + " " + id, Lines::kJoin));
    }
    return {};
  }
  // As a text all results would be in memory once more.
  for (size_t i = 0; i < results.size(); ++i) {
    Result<std::string_view> entry = results.entry(i);
    if (!entry.ok()) return std::move(entry.failure());
    invocation.print(printable(id_of(*entry), Lines::kJoin));
  }
  return {};
}

}  // namespace varve::cli
