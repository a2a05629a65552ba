#include <algorithm>
#include <regex>

#include "operations.h"

namespace varve_conformance {
namespace {

const std::regex kMark(R"(\$\{([^{}]*)\})");

std::string as_text(const json::value& value) {
  return value.is_string() ? std::string(value.get_string()) : to_text(value);
}

json::object members(const json::object& object, const char* name) {
  const json::value* found = object.if_contains(name);
  return found == nullptr ? json::object() : found->as_object();
}

void check_names(const json::object& object, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object) {
    const std::string_view text(name.data(), name.size());
    if (std::find(known.begin(), known.end(), text) == known.end()) {
      throw Mismatch(std::string(text) + " is not known");
    }
  }
}

}  // namespace

Run::Run(std::string directory) { variables_["dir"] = json::value(std::move(directory)); }

Run::~Run() {
  variables_.clear();
  while (!opened_.empty()) opened_.pop_back();  // last opened first
}

json::value Run::variable(std::string_view mark) const {
  const size_t dot = std::min(mark.find('.'), mark.size());
  const auto found = variables_.find(std::string(mark.substr(0, dot)));
  if (found == variables_.end()) throw Mismatch("no variable " + std::string(mark));
  json::value value = std::get<json::value>(found->second);
  std::string_view rest = mark.substr(dot);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string member(rest.substr(0, std::min(rest.find('.'), rest.size())));
    json::value part =
        value.is_array() ? value.get_array().at(std::stoul(member)) : value.as_object().at(member);
    value = std::move(part);
    rest.remove_prefix(member.size());
  }
  return value;
}

json::value Run::filled(const json::value& value) const {
  if (value.is_array()) {
    json::array out;
    for (const json::value& item : value.get_array()) out.push_back(filled(item));
    return out;
  }
  if (value.is_object()) {
    json::object out;
    for (const auto& [name, item] : value.get_object()) out[name] = filled(item);
    return out;
  }
  if (!value.is_string()) return value;
  std::string rest(value.get_string());
  std::smatch mark;
  if (std::regex_match(rest, mark, kMark)) return variable(mark[1].str());
  std::string out;
  while (std::regex_search(rest, mark, kMark)) {
    out += mark.prefix().str() + as_text(variable(mark[1].str()));
    rest = mark.suffix().str();
  }
  return json::value(out + rest);
}

void Run::step(const json::object& step, const std::string& place) {
  check_names(step, {"op", "args", "save", "expect"});
  const json::object arguments = filled(members(step, "args")).as_object();
  const json::object expect = filled(members(step, "expect")).as_object();
  check_names(expect, {"status", "value", "details", "message"});
  json::object got = {{"status", "VARVE_OK"}};
  Answer answer;
  try {
    answer = carry_out(*this, std::string(step.at("op").as_string()), arguments);
    got["value"] = answer.value;
  } catch (const varve::Error& error) {
    got = {
        {"status", error.name()}, {"details", parse(error.details())}, {"message", error.what()}};
  }
  json::object wanted = expect;
  if (!wanted.contains("status")) wanted["status"] = "VARVE_OK";
  match(wanted, got, place);
  const json::value* save = step.if_contains("save");
  if (save != nullptr) variables_[std::string(save->as_string())] = answer.kept;
}

}  // namespace varve_conformance
