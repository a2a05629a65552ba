#include "cli/view/explain_view.h"

#include <array>
#include <string>

#include "cli/view/display_text.h"
#include "cli/view/table.h"

namespace varve::cli {
namespace {

constexpr size_t kExplainIndentColumns = 5;
constexpr size_t kExplainLabelColumns = 12;
constexpr size_t kNumberColumns = 7;
constexpr int kDigits = 3;

struct Addend {
  std::string_view name;
  std::string_view meaning;
};

// As docs of the order "best" name them.
constexpr std::array kAddends = {
    Addend{"match", "the words, measured against the best match"},
    Addend{"neighbours", "matches of the entries before and after it"},
    Addend{"answer", "the entry before it asks something"},
    Addend{"stretch", "the best match in the same conversation"},
    Addend{"role", "the question names who says it"},
    Addend{"date", "the question names its time"},
    Addend{"relevance", "importance, decay and recency"},
};

// "0.120": all of the same width, so that the decimal points are aligned.
std::string fixed_number(double number) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%.*f", kDigits, number);
  return length < 0 ? std::string() : std::string(text.data());
}

void print_line(Invocation& invocation, std::string_view label, double number,
                std::string_view note) {
  const std::string line = std::string(kExplainIndentColumns, ' ') +
                           pad_right(label, kExplainLabelColumns) +
                           pad_left(fixed_number(number), kNumberColumns) +
                           (note.empty() ? "" : "  " + std::string(note));
  invocation.print(truncate(printable(line, Lines::kKeep), invocation.terminal().width()));
}

// "board 1.09, silent 2.4 (2 times)"
std::string terms_note(const json::object& explain) {
  std::string text;
  for (const json::value& item : array_at(explain, "terms")) {
    if (!item.is_object()) continue;
    const json::object& term = item.get_object();
    if (!text.empty()) text += ", ";
    text += string_at(term, "term") + " " + format_number(number_at(term, "score"), 2);
    const int64_t frequency = integer_at(term, "frequency");
    if (frequency > 1) text += " (" + format_count(frequency, "time", "times") + ")";
  }
  return text;
}

void print_figure(Invocation& invocation, std::string_view label, const std::string& value) {
  const std::string line = pad_right(label, kExplainLabelColumns) + printable(value, Lines::kJoin);
  invocation.print(truncate(line, invocation.terminal().width()));
}

}  // namespace

void print_sum(Invocation& invocation, const json::object& explain) {
  const std::string terms = terms_note(explain);
  const json::object& best = object_at(explain, "best");
  for (const Addend& addend : kAddends) {
    if (best.empty()) break;
    const double number = number_at(best, addend.name);
    print_line(invocation, addend.name, number, number > 0 ? addend.meaning : std::string_view());
  }
  if (!best.empty()) print_line(invocation, "best", number_at(explain, "key"), "the sum");
  if (!terms.empty()) print_line(invocation, "words", number_at(explain, "bm25"), terms);
}

void print_answer(Invocation& invocation, const json::object& explain) {
  const int64_t sessions = integer_at(explain, "sessions");
  if (sessions > 0)
    print_figure(invocation, "Asked", format_count(sessions, "session", "sessions"));
  const std::string strategy = string_at(explain, "strategy");
  if (!strategy.empty()) print_figure(invocation, "Found by", strategy);
  if (explain.contains("rows_walked_at_most")) {
    print_figure(
        invocation, "Looked at",
        "at most " + format_count(integer_at(explain, "rows_walked_at_most"), "entry", "entries"));
  }
  print_figure(invocation, "Order", string_at(explain, "sort_by"));
  Table table({{"WORD", Align::kLeft, Style::kId},
               {"ENTRIES", Align::kRight},
               {"WEIGHT (IDF)", Align::kRight}});
  for (const json::value& item : array_at(explain, "terms")) {
    if (!item.is_object()) continue;
    const json::object& term = item.get_object();
    table.add_row({string_at(term, "term"), format_count(integer_at(term, "entries")),
                   fixed_number(number_at(term, "idf"))});
  }
  table.print(invocation.out(), invocation.terminal());
}

}  // namespace varve::cli
