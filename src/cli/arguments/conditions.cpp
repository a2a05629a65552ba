#include "cli/arguments/conditions.h"

#include <algorithm>

#include "cli/arguments/arguments.h"
#include "cli/arguments/option_values.h"
#include "cli/json_text.h"

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
                      ->type_name("N")
                      ->transform(decimal());
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

void Conditions::name_option(Failure& failure) const {
  if (!raw_.empty()) {
    cli::name_option(failure, raw_option_->get_name());
    return;
  }
  name_option_of_member(failure, {{"types", "--type"},
                                  {"tags.include", "--tag"},
                                  {"tags.exclude", "--exclude-tag"},
                                  {"time.start", "--since"},
                                  {"time.end", "--until"},
                                  {"references", "--related"},
                                  {"relation", "--relation"},
                                  {"max_depth", "--depth"}});
}

Outcome Conditions::add_references(json::object& query) const {
  if (related_.empty()) {
    if (!relation_.empty()) return usage_failure("--relation needs --related");
    if (depth_option_->count() > 0) return usage_failure("--depth needs --related");
    return std::nullopt;
  }
  query["references"] = array_of(related_);
  if (!relation_.empty()) query["relation"] = relation_;
  if (depth_option_->count() > 0) query["max_depth"] = depth_;
  return std::nullopt;
}

Result<json::object> Conditions::query(const std::string& words, std::string_view name) const {
  json::object query;
  if (!words.empty()) query[name] = words;
  if (!types_.empty()) query["types"] = array_of(types_);
  json::object tags;
  if (!tags_.empty()) tags["include"] = array_of(tags_);
  if (tags_.size() > 1) tags["match"] = "all";
  if (!excluded_tags_.empty()) tags["exclude"] = array_of(excluded_tags_);
  if (!tags.empty()) query["tags"] = std::move(tags);
  Result<json::object> time = time_range(since_, until_);
  if (!time.ok()) return time;
  if (!time->empty()) query["time"] = std::move(*time);
  if (importance_min_) query["min_importance"] = *importance_min_;
  if (Outcome mistake = add_references(query)) return *std::move(mistake);
  return query;
}

Result<std::string> Conditions::query_json(const std::string& words, std::string_view name) const {
  if (!raw_.empty()) return raw_;
  Result<json::object> made = query(words, name);
  if (!made.ok()) return std::move(made.failure());
  return json_of(*made);
}

}  // namespace varve::cli
