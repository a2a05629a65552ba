// Raw: members of an object as they stand in the text, without parsing all of it.
//
// For text that a Document has accepted before, as every line of a log was when it was indexed.
// Other text does no harm, but the answers about it mean nothing.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace varve::json {

// Calls `visit` with the name and the value of each member of the object that `text` is, as they
// stand in it, escapes and all. False when `visit` answered false, and when it is no object. Cost:
// one pass over the text.
using VisitRaw = std::function<bool(std::string_view name, std::string_view value)>;
bool for_each_raw_member(std::string_view text, const VisitRaw& visit);

// Calls `visit` with every string inside `value` that is no member's name, as it stands in it,
// quotes and escapes and all. False when a string has no end.
using VisitRawString = std::function<void(std::string_view text)>;
bool for_each_raw_string(std::string_view value, const VisitRawString& visit);

// Sets *out to the characters of a string, with its quotes. False when it is none, or has an
// escape by number of a character beyond ASCII: a Document reads those.
bool decode_raw_string(std::string_view value, std::string* out);

}  // namespace varve::json
