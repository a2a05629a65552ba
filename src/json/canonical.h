// The canonical form of JSON: RFC 8785 (JCS), byte for byte, with one extension.
//
//   objects  members sorted by the UTF-16 code units of their keys, no white space
//   strings  \b \t \n \f \r \" \\ short, other C0 controls as \u00xx, everything else raw UTF-8
//   doubles  ECMAScript Number::toString: shortest digits that read back the same; -0 is 0
//   integers like doubles, except that an integer token keeps its digits where ECMAScript's form
//            would denote another integer (9007199254740993, 2^60): a 64-bit id must survive
//
// source: RFC 8785 section 3.2; docs/format.md#canonical-json.
#pragma once

#include <string>
#include <string_view>

#include "json/document.h"

namespace varve::json {

// Appends the canonical text of `value`.
void append_canonical(Value value, std::string& out);

// Appends `text` as a canonical JSON string, quotes included. `text` is valid UTF-8.
void append_string(std::string_view text, std::string& out);

// Appends ECMAScript's form of a finite double.
void append_double(double number, std::string& out);

// Appends the canonical form of `token`, a JSON number; *is_integer tells whether that is digits
// only, with at most a leading '-'. False, with nothing appended, when the magnitude exceeds a
// double's (1e400); one below a double's is 0, as ECMAScript reads it.
[[nodiscard]] bool append_number(std::string_view token, std::string& out, bool* is_integer);

// Order of two keys by UTF-16 code units, computed on UTF-8: negative, 0 or positive.
int compare_utf16(std::string_view left, std::string_view right) noexcept;

}  // namespace varve::json
