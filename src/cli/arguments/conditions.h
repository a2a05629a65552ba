// The options that say which entries are meant: of search, explain, count, log, export and delete.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/failure.h"
#include "cli/json_text.h"

namespace varve::cli {

class Conditions {
 public:
  // Declares the options.
  void declare(CLI::App& app);
  // As well `raw_name` ("--query"), which takes a whole query as JSON, and excludes all other
  // conditions.
  void declare(CLI::App& app, std::string_view raw_name);
  // Counts one more option as a condition, after those of the second `declare`.
  void add(CLI::Option* option);

  // Whether any condition was given.
  [[nodiscard]] bool given() const;
  // The query of the options, with `words` as its member `name`; empty when none were given.
  [[nodiscard]] Result<json::object> query(const std::string& words,
                                           std::string_view name = "text") const;
  // The whole query as it was given, else that of the options.
  [[nodiscard]] Result<std::string> query_json(const std::string& words,
                                               std::string_view name = "text") const;
  // The whole query as it was given; empty when there is none.
  [[nodiscard]] const std::string& raw() const { return raw_; }
  // Says which of the options the library found to be wrong.
  void name_option(Failure& failure) const;

 private:
  [[nodiscard]] Outcome add_references(json::object& query) const;

  std::vector<CLI::Option*> options_;
  std::string raw_;
  std::vector<std::string> types_;
  std::vector<std::string> tags_;
  std::vector<std::string> excluded_tags_;
  std::string since_;
  std::string until_;
  std::optional<double> importance_min_;
  std::vector<std::string> related_;
  std::string relation_;
  int64_t depth_ = 1;
  CLI::Option* depth_option_ = nullptr;
  CLI::Option* raw_option_ = nullptr;
};

}  // namespace varve::cli
