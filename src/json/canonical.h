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

#include "base/result.h"
#include "json/document.h"

namespace varve::json {

// Appends the canonical text of `value`.
void append_canonical(Value value, std::string& out);

// Appends `text` as a canonical JSON string, quotes included. `text` is valid UTF-8.
void append_string(std::string_view text, std::string& out);

// Appends ECMAScript's form of a finite double.
void append_double(double number, std::string& out);

struct CanonicalNumber {
  std::string text;
  bool is_integer;  // the canonical text is digits only, with at most a leading '-'
};

// The canonical form of one JSON number token. kInvalidArgument when its magnitude exceeds a
// double's (1e400); a magnitude below a double's is 0, as ECMAScript reads it.
Result<CanonicalNumber> canonical_number(std::string_view token);

// The same without a string of its own, for the parser: appends to `out` and answers false, with
// nothing appended, when the magnitude exceeds a double's. `token` is a JSON number.
[[nodiscard]] bool append_number(std::string_view token, std::string& out, bool* is_integer);

// Order of two keys by UTF-16 code units, computed on UTF-8: negative, 0 or positive.
int compare_utf16(std::string_view left, std::string_view right) noexcept;

}  // namespace varve::json
