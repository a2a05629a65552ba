// JSON as text: reads what the library gives, builds what it takes, and shows it without changing a
// digit.
#pragma once

#include <boost/json.hpp>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace varve::cli {

namespace json = boost::json;

// nullopt when `text` is not JSON.
[[nodiscard]] std::optional<json::value> parse_json(std::string_view text);
// As above for an object; an empty one for anything else.
[[nodiscard]] json::object parse_object(std::string_view text);

// One member; if it is missing, mistyped or too large: "", 0, false or an empty one.
[[nodiscard]] std::string string_at(const json::object& object, std::string_view name);
[[nodiscard]] int64_t integer_at(const json::object& object, std::string_view name);
[[nodiscard]] double number_at(const json::object& object, std::string_view name);
[[nodiscard]] bool bool_at(const json::object& object, std::string_view name);
[[nodiscard]] const json::object& object_at(const json::object& object, std::string_view name);
[[nodiscard]] const json::array& array_at(const json::object& object, std::string_view name);

// A value as JSON; its numbers as a person would write them (0.1, where the library of values has
// 1E-1).
[[nodiscard]] std::string json_of(const json::value& value);

// `text` as a JSON string, with its quotes. Bytes of it that are no UTF-8, as names of files may
// have, become U+FFFD.
[[nodiscard]] std::string quote(std::string_view text);

// The text of a JSON string; anything else is returned unchanged.
[[nodiscard]] std::string unquote(std::string_view quoted);

// The texts as an array of strings.
[[nodiscard]] json::array array_of(const std::vector<std::string>& texts);

// {"name":value,...} of members whose values are JSON text already.
[[nodiscard]] std::string object_text(
    std::initializer_list<std::pair<std::string_view, std::string_view>> members);
// [item,...] of items that are JSON text already.
[[nodiscard]] std::string array_text(const std::vector<std::string>& items);

struct RawMember {
  std::string name;        // without quotes and escapes
  std::string_view value;  // its bytes in the text
};

// Members of the object in `text`, which is valid JSON. Values keep their digits.
[[nodiscard]] std::vector<RawMember> raw_members(std::string_view text);
// Items of the array in `text`, which is valid JSON, as they are written there.
[[nodiscard]] std::vector<std::string_view> raw_items(std::string_view text);
// The bytes of one member's value; empty when there is none.
[[nodiscard]] std::string_view raw_member(std::string_view text, std::string_view name);

// Valid JSON with one line for each member and item; numbers and strings are unchanged.
[[nodiscard]] std::string indent_json(std::string_view text);

}  // namespace varve::cli
