// Content keys: a scalar member of an entry's content as one comparable text, to find entries by
// equality ({"role":"user"}).
//
// A key is the member's name, a NUL, a letter for the kind, and the value: a string's characters or
// a number's canonical text. Names and values that are too long are replaced by their hash.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"
#include "json/plain.h"

namespace varve::entry {

// `value` is a string, a number, a boolean or null.
[[nodiscard]] std::string content_key(std::string_view name, json::Value value);

// The same for a string.
[[nodiscard]] std::string content_string_key(std::string_view name, std::string_view text);

// The beginning that the keys of all strings under `name` share.
[[nodiscard]] std::string content_string_prefix(std::string_view name);

// The keys of all scalar members of an object; none for any other content. Reuses *out.
void read_content_keys(json::Value content, std::vector<std::string>* out);
// The same for plain content: its canonical text, and its members in that.
void read_content_keys(std::string_view content, const json::PlainMembers& members,
                       std::vector<std::string>* out);

}  // namespace varve::entry
