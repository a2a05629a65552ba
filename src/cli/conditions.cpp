#include "cli/conditions.h"

#include <algorithm>

#include "cli/arguments.h"
#include "cli/json_text.h"
#include "cli/option_values.h"

namespace varve::cli {

void Conditions::declare(CLI::App& app) {
  const auto add_list = [&](const char* name, std::vector<std::string>& values,
                            const char* description, const char* type) {
    options_.push_back(
        app.add_option(name, values, description)->allow_extra_args(false)->type_name(type));
  };
  const auto add_text = [&](const char* name, std::string& value, const char* description,
                            const char* type) {
    options_.push_back(app.add_option(name, value, description)->type_name(type));
  };
  add_list("-t,--type", types_, "Only this type; may be repeated", "TYPE");
  add_list(
      "--tag", tags_,
      "Only entries with this tag or one below it (a finds a.b); if repeated, with all of them",
      "TAG");
  add_list("--exclude-tag", excluded_tags_, "No entries with this tag or one below it", "TAG");
  add_text("--since", since_, "Only entries of this time or later", "TIME");
  add_text("--until", until_, "Only entries before this time", "TIME");
  options_.push_back(app.add_option("--min-importance", importance_min_,
                                    "Only entries of at least this importance, from 0 to 1")
                         ->type_name("N")
                         ->check(number_between(0, 1)));
  add_list("--related", related_,
           "Only entries that this one refers to, or that refer to it; may be repeated", "ID");
  add_text("--relation", relation_, "With --related: only along relations of this name", "NAME");
  depth_option_ = app.add_option("--depth", depth_, "With --related: within this many steps (1)")
                      ->type_name("N");
  options_.push_back(depth_option_);
}

void Conditions::declare(CLI::App& app, std::string_view raw_name) {
  declare(app);
  raw_option_ = app.add_option(std::string(raw_name), raw_,
                               "The whole query as JSON, instead of other conditions "
                               "(varve/query.h explains the language)")
                    ->type_name("JSON");
  for (CLI::Option* option : options_) raw_option_->excludes(option);
}

void Conditions::add(CLI::Option* option) {
  options_.push_back(option);
  raw_option_->excludes(option);
}

bool Conditions::given() const {
  return !raw_.empty() ||
         std::any_of(options_.begin(), options_.end(),
                     [](const CLI::Option* option) { return option->count() > 0; });
}

Result<std::string> Conditions::time_member() const {
  Result<json::object> range = time_range(since_, until_);
  if (!range.ok()) return std::move(range.failure());
  if (range->empty()) return std::string();
  return "\"time\":" + json::serialize(*range);
}

Result<std::string> Conditions::reference_members() const {
  if (related_.empty()) {
    if (!relation_.empty()) return usage_failure("--relation needs --related");
    if (depth_option_->count() > 0) return usage_failure("--depth needs --related");
    return std::string();
  }
  std::vector<std::string> members = {"\"references\":" + quoted_array(related_)};
  if (!relation_.empty()) members.push_back("\"relation\":" + quote(relation_));
  if (depth_option_->count() > 0) members.push_back("\"max_depth\":" + std::to_string(depth_));
  return joined_members(members);
}

Result<std::string> Conditions::members(std::string_view text) const {
  std::vector<std::string> members;
  if (!text.empty()) members.push_back("\"text\":" + quote(text));
  if (!types_.empty()) members.push_back("\"types\":" + quoted_array(types_));
  std::vector<std::string> tags;
  if (!tags_.empty()) tags.push_back("\"include\":" + quoted_array(tags_));
  if (tags_.size() > 1) tags.emplace_back("\"match\":\"all\"");
  if (!excluded_tags_.empty()) tags.push_back("\"exclude\":" + quoted_array(excluded_tags_));
  if (!tags.empty()) members.push_back("\"tags\":{" + joined_members(tags) + "}");
  Result<std::string> time = time_member();
  if (!time.ok()) return time;
  members.push_back(*time);
  if (importance_min_) members.push_back("\"min_importance\":" + number_text(*importance_min_));
  Result<std::string> references = reference_members();
  if (!references.ok()) return references;
  members.push_back(*references);
  return joined_members(members);
}

std::string joined_members(const std::vector<std::string>& members) {
  std::string out;
  for (const std::string& member : members) {
    if (member.empty()) continue;
    if (!out.empty()) out += ',';
    out += member;
  }
  return out;
}

}  // namespace varve::cli
