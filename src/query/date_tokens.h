// The words and numbers of a question, for those who look for dates among them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace varve::query {

struct DateToken {
  std::string text;      // lower case
  std::string_view gap;  // what stands before it, in the question
  bool is_number = false;
  bool goes_on = false;  // the end of a number: 30 of 12:30, 5 of 2.5, 000 of 1,000
  bool is_capitalized = false;
};

// Digits and letters that stand together are two: "3rd" is "3" and "rd".
[[nodiscard]] std::vector<DateToken> date_tokens(std::string_view question);

}  // namespace varve::query
