// Content keys: a scalar member of an entry's content as one comparable text, for finding entries
// by equality ({"role":"user"}).
//
// The member's name, a NUL, a letter for the kind, and the value: the characters of a string, the
// canonical text of a number. Names and values too long to keep stand as their hash.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"

namespace varve::entry {

// `value` is a string, a number, a boolean or null.
[[nodiscard]] std::string content_key(std::string_view name, json::Value value);

// The same of such a value in canonical form whose escapes, in a string, are of two characters.
[[nodiscard]] std::string content_key_of_canonical(std::string_view name, std::string_view value);

// The same of a string.
[[nodiscard]] std::string content_string_key(std::string_view name, std::string_view text);

// What the keys of all strings under `name` start with.
[[nodiscard]] std::string content_string_prefix(std::string_view name);

// The keys of all scalar members of an object; none for content of another kind. Reuses *out.
void read_content_keys(json::Value content, std::vector<std::string>* out);

}  // namespace varve::entry
