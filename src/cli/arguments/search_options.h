// The options of search, explain and count, which query one session or all.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/arguments/conditions.h"
#include "cli/arguments/operands.h"
#include "cli/invocation.h"

namespace varve::cli {

class SearchOptions {
 public:
  // The words and what they are, --session or --all, and the conditions.
  void declare_selection(CLI::App& app);
  // Order and page.
  void declare_order(CLI::App& app);

  // Mistakes that single options do not show.
  [[nodiscard]] Outcome check(const Invocation& invocation) const;
  [[nodiscard]] bool all() const { return all_; }
  // Empty: anybody's.
  [[nodiscard]] const std::string& user() const { return user_; }
  [[nodiscard]] const std::string& agent() const { return agent_; }

  // Whether the whole query was given as JSON.
  [[nodiscard]] bool is_raw() const { return !conditions_.raw().empty(); }
  // Says which of the options the library found to be wrong.
  void name_option(Failure& failure) const;
  // The query as JSON; `explained` also asks for explanations.
  [[nodiscard]] Result<std::string> query(bool explained) const;
  // The first of the words that must not be there, with its sign; empty when there is none.
  [[nodiscard]] std::string excluded_word() const;
  // For counting: the conditions only.
  [[nodiscard]] Result<std::string> conditions() const;
  // Whether a raw query asks for the page behind a cursor.
  [[nodiscard]] bool has_raw_cursor() const;
  // Of a raw query that the counts of single sessions do not add up to, since it selects sessions,
  // measures each match by the best of all, or has a cursor of the store: the query of the store
  // whose results are to be counted.
  [[nodiscard]] std::optional<std::string> store_query_to_count() const;

 private:
  // The member of a query that has the words.
  [[nodiscard]] std::string_view words_member() const { return is_question_ ? "question" : "text"; }

  Operands words_;
  bool is_question_ = false;
  Conditions conditions_;
  bool all_ = false;
  std::string user_;
  std::string agent_;
  std::string sort_;
  int64_t limit_ = 10;
  std::string after_;
  std::string vector_path_;
  std::optional<double> vector_weight_;
};

}  // namespace varve::cli
