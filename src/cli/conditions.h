// The options that say which entries are meant: of search, explain, count, log, export and delete.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/failure.h"

namespace varve::cli {

class Conditions {
 public:
  // Declares the options.
  void declare(CLI::App& app);
  // As well `raw_name` ("--query"), which takes a whole query as JSON, and excludes all other
  // conditions.
  void declare(CLI::App& app, std::string_view raw_name);
  // Counts one more option as a condition.
  void add(CLI::Option* option);

  // Whether any condition was given.
  [[nodiscard]] bool given() const;
  // Members of the query, with `text` as its words: "\"types\":[...]"; empty when none were given.
  [[nodiscard]] Result<std::string> members(std::string_view text) const;
  // The whole query as it was given; empty when there is none.
  [[nodiscard]] const std::string& raw() const { return raw_; }

 private:
  [[nodiscard]] Result<std::string> time_member() const;
  [[nodiscard]] Result<std::string> reference_members() const;

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

// Members one after another, with commas; empty ones are left out.
[[nodiscard]] std::string joined_members(const std::vector<std::string>& members);

}  // namespace varve::cli
