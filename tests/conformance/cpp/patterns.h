// Patterns of the conformance cases (tests/conformance/README.md#patterns).
#pragma once

#include <boost/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

namespace varve_conformance {

namespace json = boost::json;

// A case's expectation is not met, or the case is not understood.
class Mismatch : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Boost.JSON makes doubles of long integers; here they are {"$number": "9007199254740993"}, as they
// are written in the cases.
json::value parse(std::string_view text);
std::string to_text(const json::value& value);

// Throws Mismatch, which names `place`, unless `value` is as `pattern` says.
void match(const json::value& pattern, const json::value& value, const std::string& place);

}  // namespace varve_conformance
