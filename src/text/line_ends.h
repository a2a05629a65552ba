// Line ends: what a reader of a text may take for the end of a line.
//
// \n, \r, \r\n, \v, \f, U+001C to U+001E (to Python's splitlines), U+0085, U+2028, U+2029. Where
// text of others stands among lines of ours, none of these may begin a line that passes for one of
// them.
#pragma once

#include <string>
#include <string_view>

namespace varve::text {

// Appends the text; each line end in it becomes \n and `indent`.
void append_indented(std::string_view text, std::string_view indent, std::string* out);

// Whether the text has neither a line end nor another control character.
[[nodiscard]] bool is_one_line(std::string_view text);
// The text with a blank in the place of each line end and each other control character.
[[nodiscard]] std::string make_one_line(std::string_view text);

}  // namespace varve::text
