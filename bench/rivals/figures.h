// What was measured, and its tables.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace varve::bench {

// A target of the design: varve's figure against `factor` times that of `rival`, or against
// `factor` itself where no rival is named.
struct Target {
  double factor = 0;
  std::string rival;
};

struct Row {
  std::string work;  // with statistic and unit
  std::vector<Target> targets = {};
  bool more_is_better = false;
};

class Figures {
 public:
  // `is_large`: of the two sizes that targets are given for, the one of a gigabyte.
  explicit Figures(bool is_large);

  // One figure of one round. The work must be one of the rows.
  void note(const std::string& work, const std::string& rival, double figure);
  // p50 and p99 of "WORK, p50, UNIT" and "WORK, p99, UNIT".
  void note_percentiles(const std::string& work, const std::string& rival, const char* unit,
                        const std::vector<double>& values);

  // Markdown: medians of the rounds, ratios and targets; then the spread. Columns as in `rivals`.
  void print(const std::vector<std::string>& rivals) const;

 private:
  [[nodiscard]] const std::vector<double>* values_of(const std::string& work,
                                                     const std::string& rival) const;
  [[nodiscard]] std::string ratio_to_best(const Row& row,
                                          const std::vector<std::string>& rivals) const;
  [[nodiscard]] std::string targets_of(const Row& row) const;
  void print_medians(const std::vector<std::string>& rivals) const;
  void print_spread(const std::vector<std::string>& rivals) const;

  std::vector<Row> rows_;
  std::map<std::string, std::map<std::string, std::vector<double>>> values_;
};

}  // namespace varve::bench
