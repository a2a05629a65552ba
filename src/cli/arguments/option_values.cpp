#include "cli/arguments/option_values.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr int kDigitsMax = 6;  // after the point, of a bound

void drop_leading_zeros(std::string& number) {
  const size_t digits = number.find_first_not_of("0123456789");
  if (digits == 0) return;
  const size_t first = number.find_first_not_of('0');
  const size_t last = std::min(digits, number.size()) - 1;
  number.erase(0, std::min(first, last));
}

// Without a description, so that the help shows only the value's name.
CLI::Validator taking(std::string what, std::function<bool(const std::string&)> fits) {
  return CLI::Validator(
      [what = std::move(what), fits = std::move(fits)](std::string& given) {
        if (!fits(given)) return "takes " + what + ", not \"" + given + "\"";
        drop_leading_zeros(given);
        return std::string();
      },
      "");
}

template <typename Number>
bool read_number(const std::string& text, Number* value) {
  const char* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, *value);
  return parsed.ec == std::errc() && parsed.ptr == end;
}

}  // namespace

CLI::Validator one_of(std::vector<std::string> choices) {
  std::string what;
  for (size_t i = 0; i < choices.size(); ++i) {
    if (i > 0) what += i + 1 == choices.size() ? " or " : ", ";
    what += choices[i];
  }
  return taking(what, [choices = std::move(choices)](const std::string& given) {
    return std::find(choices.begin(), choices.end(), given) != choices.end();
  });
}

CLI::Validator number_between(double min, double max) {
  const std::string what =
      "a number from " + format_number(min, kDigitsMax) + " to " + format_number(max, kDigitsMax);
  return taking(what, [min, max](const std::string& given) {
    double value = 0;
    return read_number(given, &value) && value >= min && value <= max;
  });
}

CLI::Validator whole_number() {
  return taking("a whole number from 0", [](const std::string& given) {
    int64_t value = 0;
    return read_number(given, &value) && value >= 0;
  });
}

CLI::Validator decimal() {
  return taking("", [](const std::string&) { return true; });
}

std::string mistake_text(const CLI::ParseError& error) {
  std::string text = error.what();
  const size_t colon = text.find(": ");
  if (colon == std::string::npos) return text;
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const std::string option = text.substr(0, colon);
    const bool is_repeated = text.find("At Most", colon) != std::string::npos;
    return is_repeated ? option + " is given more than once"
                       : "the value of " + option + " is missing";
  }
  if (dynamic_cast<const CLI::ValidationError*>(&error) != nullptr) return text.erase(colon, 1);
  if (dynamic_cast<const CLI::ConversionError*>(&error) == nullptr) return text;
  const std::string pair = text.substr(colon + 2);  // "--depth = x"
  const size_t equals = std::min(pair.find(" = "), pair.size());
  return pair.substr(0, equals) + " takes a whole number, not \"" +
         pair.substr(std::min(equals + 3, pair.size())) + "\"";
}

}  // namespace varve::cli
