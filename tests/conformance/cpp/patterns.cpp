#include "patterns.h"

#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <vector>

namespace varve_conformance {
namespace {

constexpr size_t kDigitsOfDouble = 15;  // every integer of so many digits is a double

void expect(bool holds, const json::value& pattern, const json::value& value,
            const std::string& place) {
  if (holds) return;
  throw Mismatch(place + ": expected " + json::serialize(pattern) + ", got " +
                 json::serialize(value));
}

bool matches(const json::value& pattern, const json::value& value) {
  try {
    match(pattern, value, "");
    return true;
  } catch (const Mismatch&) {
    return false;
  }
}

// The end of the string literal that begins at `start`.
size_t string_end(std::string_view text, size_t start) {
  for (size_t at = start + 1; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return text.size();
}

bool is_type(std::string_view name, const json::value& value) {
  if (name == "string") return value.is_string();
  if (name == "number") {
    return value.is_number() || (value.is_object() && value.get_object().contains("$number"));
  }
  if (name == "boolean") return value.is_bool();
  if (name == "null") return value.is_null();
  if (name == "object") return value.is_object();
  return name == "array" && value.is_array();
}

void unordered(const json::value& patterns, const json::value& value, const std::string& place) {
  expect(value.is_array() && value.get_array().size() == patterns.as_array().size(), patterns,
         value, place);
  std::vector<const json::value*> left;
  for (const json::value& item : value.get_array()) left.push_back(&item);
  for (const json::value& pattern : patterns.as_array()) {
    const auto found = std::find_if(
        left.begin(), left.end(), [&](const json::value* item) { return matches(pattern, *item); });
    expect(found != left.end(), pattern, value, place);
    left.erase(found);
  }
}

void contains(const json::value& patterns, const json::value& value, const std::string& place) {
  expect(value.is_array(), patterns, value, place);
  for (const json::value& pattern : patterns.as_array()) {
    const json::array& items = value.get_array();
    expect(std::any_of(items.begin(), items.end(),
                       [&](const json::value& item) { return matches(pattern, item); }),
           pattern, value, place);
  }
}

void lines(const json::value& pattern, const json::value& value, const std::string& place) {
  expect(value.is_string(), pattern, value, place);
  json::array parsed;
  std::string_view rest(value.get_string());
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (end > 0) parsed.push_back(parse(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  match(pattern, parsed, place);
}

void between(const json::value& limits, const json::value& value, const std::string& place) {
  expect(value.is_number(), limits, value, place);
  const double number = value.to_number<double>();
  expect(number >= limits.at(0).to_number<double>() && number <= limits.at(1).to_number<double>(),
         limits, value, place);
}

void exact(const json::value& digits, const json::value& value, const std::string& place) {
  const json::value wanted = parse(std::string_view(digits.as_string()));
  expect(value == wanted, digits, value, place);
}

void found_in(const json::value& pattern, const json::value& value, const std::string& place) {
  expect(value.is_string(), pattern, value, place);
  const std::regex expression(std::string(pattern.as_string()),
                              std::regex::ECMAScript | std::regex::multiline);
  expect(std::regex_search(std::string(value.get_string()), expression), pattern, value, place);
}

using Check = std::function<void(const json::value&, const json::value&, const std::string&)>;

const std::map<std::string_view, Check>& checks() {
  static const std::map<std::string_view, Check> all = {
      {"$any", [](const json::value& p, const json::value& v,
                  const std::string& at) { expect(p == true, p, v, at); }},
      {"$type", [](const json::value& p, const json::value& v,
                   const std::string& at) { expect(is_type(p.as_string(), v), p, v, at); }},
      {"$matches", found_in},
      {"$length",
       [](const json::value& p, const json::value& v, const std::string& at) {
         expect(v.is_array() && v.get_array().size() == p.to_number<size_t>(), p, v, at);
       }},
      {"$unordered", unordered},
      {"$contains", contains},
      {"$number", exact},
      {"$between", between},
      {"$jsonl", lines},
      {"$json", [](const json::value& p, const json::value& v,
                   const std::string& at) { match(p, parse(std::string(v.as_string())), at); }},
  };
  return all;
}

void match_object(const json::object& pattern, const json::value& value, const std::string& place) {
  for (const auto& [name, part] : pattern) {
    if (name.substr(0, 1) != "$") continue;
    const auto check = checks().find(std::string_view(name.data(), name.size()));
    if (check == checks().end() || pattern.size() != 1) {
      throw Mismatch(place + ": the pattern " + json::serialize(pattern) + " is not known");
    }
    check->second(part, value, place);
    return;
  }
  expect(value.is_object(), pattern, value, place);
  static const json::value absent = {{"$absent", true}};
  for (const auto& [name, part] : pattern) {
    const json::value* member = value.get_object().if_contains(name);
    expect((member == nullptr) == (part == absent), pattern, value, place);
    if (member != nullptr) match(part, *member, place + "." + std::string(name));
  }
}

}  // namespace

json::value parse(std::string_view text) {
  std::string marked;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    if (text[at] == '"') {
      end = string_end(text, at);
    } else if (text[at] == '-' || (text[at] >= '0' && text[at] <= '9')) {
      end = std::min(text.find_first_not_of("+-.0123456789eE", at), text.size());
    }
    const std::string_view piece = text.substr(at, end - at);
    const bool long_integer = text[at] != '"' && piece.size() > kDigitsOfDouble &&
                              piece.find_first_of(".eE") == piece.npos;
    marked += long_integer ? "{\"$number\":\"" + std::string(piece) + "\"}" : std::string(piece);
    at = end;
  }
  return json::parse(marked);
}

std::string to_text(const json::value& value) {
  static const std::regex marked(R"re(\{"\$number":"(-?[0-9]+)"\})re");
  return std::regex_replace(json::serialize(value), marked, "$1");
}

void match(const json::value& pattern, const json::value& value, const std::string& place) {
  if (pattern.is_object()) {
    match_object(pattern.get_object(), value, place);
  } else if (pattern.is_array()) {
    const json::array& parts = pattern.get_array();
    expect(value.is_array() && value.get_array().size() == parts.size(), pattern, value, place);
    for (size_t index = 0; index < parts.size(); ++index) {
      match(parts[index], value.get_array()[index], place + "[" + std::to_string(index) + "]");
    }
  } else if (pattern.is_number()) {
    expect(value.is_number() && value.to_number<double>() == pattern.to_number<double>(), pattern,
           value, place);
  } else {
    expect(value == pattern, pattern, value, place);
  }
}

}  // namespace varve_conformance
