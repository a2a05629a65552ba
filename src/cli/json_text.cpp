#include "cli/json_text.h"

#include <array>
#include <charconv>

#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

// A line of the log nests at most 128 deep, and stands inside documents of the library.
constexpr size_t kDepthMax = 160;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

void skip_space(std::string_view text, size_t& at) {
  while (at < text.size() && is_space(text[at])) ++at;
}

// `at` is on the opening quote, and then moves to after the closing one.
void skip_string(std::string_view text, size_t& at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  ++at;
}

void skip_value(std::string_view text, size_t& at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      skip_string(text, at);
    } else if (c == '{' || c == '[') {
      ++depth;
      ++at;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return;
      --depth;
      ++at;
    } else if (depth == 0 && (c == ',' || is_space(c))) {
      return;
    } else {
      ++at;
      continue;
    }
    if (depth == 0) return;
  }
}

void new_line(std::string& out, size_t depth) {
  out += '\n';
  out.append(depth * 2, ' ');
}

}  // namespace

std::optional<json::value> parse_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = kDepthMax;
  json::error_code error;
  json::value value = json::parse({text.data(), text.size()}, error, {}, options);
  if (error) return std::nullopt;
  return value;
}

json::object parse_object(std::string_view text) {
  std::optional<json::value> value = parse_json(text);
  if (!value || !value->is_object()) return {};
  return std::move(value->get_object());
}

std::string string_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains({name.data(), name.size()});
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

int64_t integer_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains({name.data(), name.size()});
  if (value == nullptr) return 0;
  if (value->is_int64()) return value->get_int64();
  if (!value->is_double()) return 0;
  const double number = value->get_double();
  constexpr double kEnd = 9'223'372'036'854'775'808.0;  // the first that is too large
  return number >= -kEnd && number < kEnd ? static_cast<int64_t>(number) : 0;
}

double number_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains({name.data(), name.size()});
  if (value == nullptr) return 0;
  if (value->is_double()) return value->get_double();
  return static_cast<double>(integer_at(object, name));
}

bool bool_at(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains({name.data(), name.size()});
  return value != nullptr && value->is_bool() && value->get_bool();
}

const json::object& object_at(const json::object& object, std::string_view name) {
  static const json::object kEmpty;
  const json::value* value = object.if_contains({name.data(), name.size()});
  return value != nullptr && value->is_object() ? value->get_object() : kEmpty;
}

const json::array& array_at(const json::object& object, std::string_view name) {
  static const json::array kEmpty;
  const json::value* value = object.if_contains({name.data(), name.size()});
  return value != nullptr && value->is_array() ? value->get_array() : kEmpty;
}

std::string json_of(const json::value& value) {
  if (value.is_double()) {
    std::array<char, 32> digits;  // at most 24
    char* const end = digits.data() + digits.size();
    return {digits.data(), std::to_chars(digits.data(), end, value.get_double()).ptr};
  }
  std::string out;
  if (value.is_array()) {
    for (const json::value& item : value.get_array())
      out += (out.empty() ? "" : ",") + json_of(item);
    return "[" + out + "]";
  }
  if (value.is_object()) {
    for (const auto& member : value.get_object()) {
      out += (out.empty() ? "" : ",") + quote(member.key()) + ":" + json_of(member.value());
    }
    return "{" + out + "}";
  }
  return json::serialize(value);
}

std::string quote(std::string_view text) {
  const std::string formed = well_formed(text);
  return json::serialize(json::string_view(formed.data(), formed.size()));
}

std::string unquote(std::string_view quoted) {
  if (!quoted.starts_with('"')) return std::string(quoted);
  if (quoted.find('\\') == std::string_view::npos) {
    return std::string(quoted.substr(1, quoted.size() - 2));
  }
  const std::optional<json::value> value = parse_json(quoted);
  if (!value || !value->is_string()) return std::string(quoted);
  return std::string(value->get_string());
}

std::string object_text(
    std::initializer_list<std::pair<std::string_view, std::string_view>> members) {
  std::string out = "{";
  for (const auto& [name, value] : members) {
    if (out.size() > 1) out += ',';
    out += quote(name) + ":";
    out += value;
  }
  return out + "}";
}

std::string array_text(const std::vector<std::string>& items) {
  std::string out = "[";
  for (const std::string& item : items) {
    if (out.size() > 1) out += ',';
    out += item;
  }
  return out + "]";
}

json::array array_of(const std::vector<std::string>& texts) {
  return json::array(texts.begin(), texts.end());
}

std::vector<RawMember> raw_members(std::string_view text) {
  std::vector<RawMember> members;
  size_t at = 0;
  skip_space(text, at);
  if (at >= text.size() || text[at] != '{') return members;
  ++at;
  while (true) {
    skip_space(text, at);
    if (at >= text.size() || text[at] != '"') return members;
    const size_t name_start = at;
    skip_string(text, at);
    const std::string_view name = text.substr(name_start, at - name_start);
    skip_space(text, at);
    ++at;  // the colon
    skip_space(text, at);
    const size_t value_start = at;
    skip_value(text, at);
    if (at > text.size()) return members;
    members.push_back({unquote(name), text.substr(value_start, at - value_start)});
    skip_space(text, at);
    if (at >= text.size() || text[at] != ',') return members;
    ++at;
  }
}

std::vector<std::string_view> raw_items(std::string_view text) {
  std::vector<std::string_view> items;
  size_t at = 0;
  skip_space(text, at);
  if (at >= text.size() || text[at] != '[') return items;
  ++at;
  while (true) {
    skip_space(text, at);
    if (at >= text.size() || text[at] == ']') return items;
    const size_t start = at;
    skip_value(text, at);
    if (at > text.size()) return items;
    items.push_back(text.substr(start, at - start));
    skip_space(text, at);
    if (at >= text.size() || text[at] != ',') return items;
    ++at;
  }
}

std::string_view raw_member(std::string_view text, std::string_view name) {
  for (const RawMember& member : raw_members(text)) {
    if (member.name == name) return member.value;
  }
  return {};
}

std::string indent_json(std::string_view text) {
  std::string out;
  size_t depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      const size_t start = at;
      skip_string(text, at);
      out += text.substr(start, at - start);
      continue;
    }
    ++at;
    if (is_space(c)) continue;
    if (c == '{' || c == '[') {
      skip_space(text, at);
      out += c;
      if (at < text.size() && (text[at] == '}' || text[at] == ']')) {
        out += text[at++];
      } else {
        new_line(out, ++depth);
      }
    } else if (c == '}' || c == ']') {
      if (depth > 0) --depth;
      new_line(out, depth);
      out += c;
    } else {
      out += c;
      if (c == ',') new_line(out, depth);
      if (c == ':') out += ' ';
    }
  }
  return out;
}

}  // namespace varve::cli
