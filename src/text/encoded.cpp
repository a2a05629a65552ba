#include "text/encoded.h"

#include <algorithm>

#include "base/ascii.h"

namespace varve::text {
namespace {

bool may_be_encoded(char c) {
  return is_letter(c) || is_digit(c) || c == '+' || c == '/' || c == '-' || c == '_' || c == '=';
}

bool is_mixed(std::string_view run) {
  return std::any_of(run.begin(), run.end(), is_lower) &&
         std::any_of(run.begin(), run.end(), is_upper) &&
         std::any_of(run.begin(), run.end(), is_digit);
}

}  // namespace

// A run that begins at `begin` or behind it covers the last of the next kEncodedBytesMin
// characters, or begins behind that one: so nearly all of a text is passed over unseen.
std::string_view find_encoded(std::string_view text) {
  size_t begin = 0;
  while (text.size() - begin >= kEncodedBytesMin) {
    size_t other = begin + kEncodedBytesMin;  // behind the last character that no run has
    while (other > begin && may_be_encoded(text[other - 1])) --other;
    if (other > begin) {
      begin = other;
      continue;
    }
    size_t end = begin + kEncodedBytesMin;
    while (end < text.size() && may_be_encoded(text[end])) ++end;
    const std::string_view run = text.substr(begin, end - begin);
    if (is_mixed(run)) return run;
    begin = end;
  }
  return text.substr(text.size());
}

}  // namespace varve::text
