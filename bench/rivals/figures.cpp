#include "figures.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "rival.h"
#include "timing.h"

namespace varve::bench {

namespace {

constexpr const char* kOurs = "varve";
constexpr const char* kAbsent = "–";

// Rows in the order of the report.
std::vector<Row> rows_of(bool is_large) {
  const double open_factor = is_large ? 2 : 1.5;
  return {
      {"durable add, p50, us", {{0.9, "SQLite"}}},
      {"durable add, p99, us", {{1, "LevelDB"}}},
      {"buffered add, p50, us", {{1, "LevelDB"}, {0.1, "SQLite+FTS5"}}},
      {"buffered add, p99, us"},
      {"buffered add and text query that finds it, p50, us"},
      {"buffered add and text query that finds it, p99, us"},
      {"batch of 100, durable, entries/s", {{1.5, "LevelDB"}, {7, "SQLite+FTS5"}}, true},
      {"durable adds by 1 thread, entries/s", {}, true},
      {"durable adds by 8 threads, entries/s", {}, true},
      {"durable adds, 8 threads for 1", {{4, ""}}, true},
      {"buffered adds by 4 processes, entries/s", {{3, "LMDB"}}, true},
      {"durable adds by 4 processes, entries/s", {{2, "SQLite"}}, true},
      {"get by id, its first time, p50, us"},
      {"get by id, its first time, p99, us"},
      {"get by id, p50, us", {{1, "LMDB"}}},
      {"get by id, p99, us"},
      {"tag + type + range, 10 newest, p50, us", {{0.3, "LMDB"}}},
      {"tag + type + range, 10 newest, p99, us"},
      {"text, any of 3 words, top 10, p50, us", {{0.02, "SQLite+FTS5"}, {0.1, "Xapian"}}},
      {"text, any of 3 words, top 10, p99, us"},
      {"text, all of 3 words, top 10, p50, us"},
      {"text, all of 3 words, top 10, p99, us"},
      {"text, common and rare word, top 10, p50, us"},
      {"text, common and rare word, top 10, p99, us"},
      {"context of 4,000 tokens for a question, p50, ms", {{1, ""}}},
      {"context of 4,000 tokens for a question, p99, ms"},
      {"context, question with frequent words, p50, ms", {{1, ""}}},
      {"context, question with frequent words, p99, ms"},
      {"decay-ranked top 10 of all, p50, us", {{0.1, "LMDB"}}},
      {"decay-ranked top 10 of all, p99, us"},
      {"open and first get, fresh process, ms", {{open_factor, "LMDB"}}},
      {"open and first text query, fresh process, ms"},
      {"load all, ms"},
      {"rebuild all indexes (or load), ms", {{1, "LMDB"}}},
      {"delete by tag, a tenth of the entries, ms", {{0.5, "LevelDB"}}},
      {"compact after it, ms", {{0.8, "LMDB"}}},
      {"bytes on disk per byte given", {{1.35, ""}}},
      {"bytes of memory per byte given, open and asked", {{0.35, ""}}},
  };
}

std::string number_text(double number, std::chars_format format, int precision) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, format, precision);
  return {text.data(), end.ptr};
}

std::string ratio_text(double ratio) { return number_text(ratio, std::chars_format::general, 3); }

// Three digits that mean something.
std::string figure_text(double figure) {
  const int decimals = figure >= 99.95 ? 0 : figure >= 9.995 ? 1 : 2;
  return number_text(figure, std::chars_format::fixed, decimals);
}

double median(const std::vector<double>& values) { return percentile(values, 0.5); }

void print_head(const char* first, const std::vector<std::string>& columns) {
  std::string names = std::string("| ") + first + " |";
  std::string rule = "|---|";
  for (const auto& column : columns) {
    names += " " + column + " |";
    rule += "---|";
  }
  std::printf("%s\n%s\n", names.c_str(), rule.c_str());
}

}  // namespace

Figures::Figures(bool is_large) : rows_(rows_of(is_large)) {}

void Figures::note(const std::string& work, const std::string& rival, double figure) {
  const auto is_it = [&](const Row& row) { return row.work == work; };
  if (std::none_of(rows_.begin(), rows_.end(), is_it)) give_up("the table has no row " + work);
  values_[work][rival].push_back(figure);
}

void Figures::note_percentiles(const std::string& work, const std::string& rival, const char* unit,
                               const std::vector<double>& values) {
  note(work + ", p50, " + unit, rival, percentile(values, 0.5));
  note(work + ", p99, " + unit, rival, percentile(values, 0.99));
}

const std::vector<double>* Figures::values_of(const std::string& work,
                                              const std::string& rival) const {
  const auto by_rival = values_.find(work);
  if (by_rival == values_.end()) return nullptr;
  const auto found = by_rival->second.find(rival);
  return found == by_rival->second.end() ? nullptr : &found->second;
}

std::string Figures::ratio_to_best(const Row& row, const std::vector<std::string>& rivals) const {
  const std::vector<double>* ours = values_of(row.work, kOurs);
  double best = 0;
  std::string best_name;
  for (const auto& rival : rivals) {
    const std::vector<double>* values = rival == kOurs ? nullptr : values_of(row.work, rival);
    if (values == nullptr) continue;
    const double theirs = median(*values);
    if (best_name.empty() || (row.more_is_better ? theirs > best : theirs < best)) {
      best = theirs;
      best_name = rival;
    }
  }
  if (ours == nullptr || best_name.empty()) return kAbsent;
  return ratio_text(median(*ours) / best) + " (" + best_name + ")";
}

std::string Figures::targets_of(const Row& row) const {
  const std::vector<double>* ours = values_of(row.work, kOurs);
  std::string text;
  for (const auto& target : row.targets) {
    if (!text.empty()) text += "; ";
    text += (row.more_is_better ? "≥ " : "≤ ") + ratio_text(target.factor);
    if (!target.rival.empty()) text += " × " + target.rival;
    const std::vector<double>* theirs = values_of(row.work, target.rival);
    if (ours == nullptr || (theirs == nullptr && !target.rival.empty())) continue;
    const double ratio = median(*ours) / (theirs == nullptr ? 1 : median(*theirs));
    const bool is_met = row.more_is_better ? ratio >= target.factor : ratio <= target.factor;
    text += ": " + ratio_text(ratio) + (is_met ? " met" : " **missed**");
  }
  return text;
}

void Figures::print_medians(const std::vector<std::string>& rivals) const {
  std::vector<std::string> columns = rivals;
  columns.emplace_back("varve / best rival");
  columns.emplace_back("target");
  print_head("median of the rounds", columns);
  for (const auto& row : rows_) {
    if (values_.find(row.work) == values_.end()) continue;
    std::string line = "| " + row.work + " |";
    for (const auto& rival : rivals) {
      const std::vector<double>* values = values_of(row.work, rival);
      line += " " + (values == nullptr ? kAbsent : figure_text(median(*values))) + " |";
    }
    line += " " + ratio_to_best(row, rivals) + " | " + targets_of(row) + " |";
    std::printf("%s\n", line.c_str());
  }
}

void Figures::print_spread(const std::vector<std::string>& rivals) const {
  print_head("least to most of the rounds", rivals);
  for (const auto& row : rows_) {
    if (values_.find(row.work) == values_.end()) continue;
    std::string line = "| " + row.work + " |";
    for (const auto& rival : rivals) {
      const std::vector<double>* values = values_of(row.work, rival);
      if (values == nullptr) {
        line += std::string(" ") + kAbsent + " |";
        continue;
      }
      const auto [least, most] = std::minmax_element(values->begin(), values->end());
      line += " " + figure_text(*least) + " – " + figure_text(*most) + " |";
    }
    std::printf("%s\n", line.c_str());
  }
}

void Figures::print(const std::vector<std::string>& rivals) const {
  print_medians(rivals);
  std::printf("\n");
  print_spread(rivals);
}

}  // namespace varve::bench
