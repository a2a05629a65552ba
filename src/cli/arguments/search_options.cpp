#include "cli/arguments/search_options.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <initializer_list>

#include "cli/arguments/arguments.h"
#include "cli/arguments/option_values.h"
#include "cli/input.h"
#include "cli/json_text.h"

namespace varve::cli {
namespace {

// `raw`, an object, with one more member at its end, so that the offsets that the library reports
// stay right.
std::string with_member(const std::string& raw, const json::object& object,
                        std::string_view member) {
  const size_t end = raw.find_last_of('}');
  return raw.substr(0, end) + (object.empty() ? "" : ",") + std::string(member) + "}";
}

std::string with_explain(const std::string& raw) {
  const std::optional<json::value> value = parse_json(raw);
  if (!value || !value->is_object() || value->get_object().contains("explain")) return raw;
  return with_member(raw, value->get_object(), "\"explain\":true");
}

// Whether a word may begin so. Characters of other scripts are letters here, too.
bool begins_word(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte >= 0x80 || std::isalnum(byte) != 0;
}

bool has_any(const json::object& object, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const auto name) { return object.contains(name); });
}

// A number that is too large for a double, such as 1e400, is read as infinite: it has no JSON.
bool is_finite(const json::value& value) {
  return value.is_number() && (!value.is_double() || std::isfinite(value.get_double()));
}

Result<json::array> read_vector(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (!text.ok()) return std::move(text.failure());
  std::optional<json::value> value = parse_json(*text);
  bool is_vector = value && value->is_array();
  if (is_vector) {
    for (const json::value& number : value->get_array()) is_vector &= is_finite(number);
  }
  const std::string name = path == kStandardInput ? "standard input" : path;
  if (!is_vector) {
    return usage_failure(name + " does not hold a vector",
                         "A vector is a JSON array of numbers, such as [0.12,-0.5].");
  }
  return std::move(value->get_array());
}

}  // namespace

void SearchOptions::declare_selection(CLI::App& app) {
  words_.declare_many(app);
  conditions_.declare(app, "--query");
  conditions_.add(app.add_flag("--question", is_question_,
                               "The WORDs are what a person asks: +, - and * have no meaning"));
  CLI::Option* all =
      app.add_flag("-a,--all", all_, "Every session, instead of the one named by --session");
  conditions_.add(app.add_option("--user", user_, "With --all: only sessions of this user")
                      ->type_name("ID")
                      ->needs(all));
  conditions_.add(app.add_option("--agent", agent_, "With --all: only sessions of this agent")
                      ->type_name("ID")
                      ->needs(all));
}

void SearchOptions::declare_order(CLI::App& app) {
  conditions_.add(app.add_option("--sort", sort_,
                                 "best (the default with words), relevance (the default without), "
                                 "match, time or importance")
                      ->type_name("ORDER")
                      ->check(one_of({"best", "relevance", "match", "time", "importance"})));
  conditions_.add(app.add_option("-n,--limit", limit_, "At most this many results; 0 for all (10)")
                      ->type_name("N")
                      ->transform(whole_number()));
  conditions_.add(
      app.add_option("--after", after_, "Continue after this cursor of the previous page")
          ->type_name("CURSOR"));
  CLI::Option* vector =
      app.add_option("--vector-file", vector_path_,
                     "Also find what is near this vector: a JSON array; - reads standard input");
  conditions_.add(vector->type_name("FILE"));
  conditions_.add(app.add_option("--vector-weight", vector_weight_,
                                 "With words too: how much the vector counts, from 0 to 1 (0.5)")
                      ->type_name("N")
                      ->check(number_between(0, 1))
                      ->needs(vector));
}

void SearchOptions::name_option(Failure& failure) const {
  if (!is_raw()) {
    name_option_of_member(failure, {{"text", "WORD"},
                                    {"question", "WORD"},
                                    {"user_id", "--user"},
                                    {"agent_id", "--agent"},
                                    {"after", "--after"},
                                    {"vector", "--vector-file"}});
  }
  conditions_.name_option(failure);
}

Outcome SearchOptions::check(const Invocation& invocation) const {
  if (is_raw() && !words_.given().empty()) {
    return usage_failure("--query is the whole query: put the words into its member \"text\"");
  }
  const Globals& globals = invocation.globals();
  if (all_) {
    if (globals.session.empty()) return std::nullopt;
    return usage_failure("--all means every session: do not name one as well");
  }
  if (!globals.named_session().empty()) return std::nullopt;
  return usage_failure("no session is named",
                       "Name it with --session or in VARVE_SESSION, not as a word; --all means "
                       "every session.");
}

std::string SearchOptions::excluded_word() const {
  if (is_question_) return {};
  const std::string said = words_.joined();
  bool is_phrase = false;
  for (size_t at = 0; at + 1 < said.size(); ++at) {
    if (said[at] == '"') is_phrase = !is_phrase;
    const bool is_sign = !is_phrase && said[at] == '-' && (at == 0 || said[at - 1] == ' ');
    if (!is_sign || !begins_word(said[at + 1])) continue;
    return said.substr(at, said.find(' ', at) - at);
  }
  return {};
}

Result<std::string> SearchOptions::query(bool explained) const {
  if (is_raw()) {
    return explained ? with_explain(conditions_.raw()) : conditions_.raw();
  }
  Result<json::object> query = conditions_.query(words_.joined(), words_member());
  if (!query.ok()) return std::move(query.failure());
  if (!user_.empty()) (*query)["user_id"] = user_;
  if (!agent_.empty()) (*query)["agent_id"] = agent_;
  if (!sort_.empty()) (*query)["sort_by"] = sort_;
  if (!vector_path_.empty()) {
    Result<json::array> vector = read_vector(vector_path_);
    if (!vector.ok()) return std::move(vector.failure());
    (*query)["vector"] = std::move(*vector);
  }
  if (vector_weight_) (*query)["vector_weight"] = *vector_weight_;
  (*query)["limit"] = limit_of_query(limit_);
  if (!after_.empty()) (*query)["after"] = after_;
  if (explained) (*query)["explain"] = true;
  return json_of(*query);
}

Result<std::string> SearchOptions::conditions() const {
  return conditions_.query_json(words_.joined(), words_member());
}

bool SearchOptions::has_raw_cursor() const {
  return parse_object(conditions_.raw()).contains("after");
}

std::optional<std::string> SearchOptions::store_query_to_count() const {
  const std::optional<json::value> value = parse_json(conditions_.raw());
  if (!value || !value->is_object()) return std::nullopt;
  const json::object& query = value->get_object();
  if (!has_any(query, {"min_relevance", "user_id", "agent_id", "session_ids", "after"})) {
    return std::nullopt;
  }
  const std::string limit = "\"limit\":" + std::to_string(limit_of_query(0));
  static constexpr std::initializer_list<const char*> kOfOnePage = {"limit", "after", "explain",
                                                                    "vector"};
  if (!has_any(query, kOfOnePage)) return with_member(conditions_.raw(), query, limit);
  // What has no say in a count would have one here. Offsets in errors are then of another text.
  json::object counted = query;
  for (const std::string_view name : kOfOnePage) counted.erase(name);
  return with_member(json::serialize(counted), counted, limit);
}

}  // namespace varve::cli
