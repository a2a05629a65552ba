#include "query/date_tokens.h"

#include <utility>

#include "base/ascii.h"
#include "text/characters.h"

namespace varve::query {

using text::character_at;
using text::CharacterClass;

namespace {

constexpr size_t kThousandsDigits = 3;

// Whether the token, a number, is the end of the one before it.
bool goes_on(const DateToken& token, const std::vector<DateToken>& before) {
  if (before.empty() || !before.back().is_number) return false;
  return token.gap == "." || token.gap == ":" ||
         (token.gap == "," && token.text.size() == kThousandsDigits);
}

}  // namespace

std::vector<DateToken> date_tokens(std::string_view question) {
  std::vector<DateToken> tokens;
  size_t gap_begin = 0;
  for (size_t at = 0; at < question.size();) {
    const auto character = character_at(question, at);
    const bool is_number = is_digit(question[at]);
    const auto is_word_part = [&](const auto& one) {
      return one.character_class == CharacterClass::kWord && one.size_bytes > 0 &&
             !(one.code_point < 128 && is_digit(static_cast<char>(one.code_point)));
    };
    if (!is_number && !is_word_part(character)) {
      at += character.size_bytes;
      continue;
    }
    const size_t begin = at;
    while (at < question.size() &&
           (is_number ? is_digit(question[at]) : is_word_part(character_at(question, at)))) {
      at += character_at(question, at).size_bytes;
    }
    DateToken token;
    for (const char c : question.substr(begin, at - begin)) token.text.push_back(ascii_lower(c));
    token.gap = question.substr(gap_begin, begin - gap_begin);
    token.is_number = is_number;
    token.goes_on = is_number && goes_on(token, tokens);
    token.is_capitalized = is_upper(question[begin]);
    tokens.push_back(std::move(token));
    gap_begin = at;
  }
  return tokens;
}

}  // namespace varve::query
