#include "query/date_tokens.h"

#include <utility>

#include "base/ascii.h"
#include "text/characters.h"

namespace varve::query {

using text::character_at;
using text::CharacterClass;

std::vector<DateToken> date_tokens(std::string_view question) {
  std::vector<DateToken> tokens;
  size_t gap_begin = 0;
  for (size_t at = 0; at < question.size();) {
    const auto character = character_at(question, at);
    const bool is_number = is_digit(question[at]);
    const auto is_letter = [&](const auto& one) {
      return one.character_class == CharacterClass::kWord && one.size_bytes > 0 &&
             !(one.code_point < 128 && is_digit(static_cast<char>(one.code_point)));
    };
    if (!is_number && !is_letter(character)) {
      at += character.size_bytes;
      continue;
    }
    const size_t begin = at;
    while (at < question.size() &&
           (is_number ? is_digit(question[at]) : is_letter(character_at(question, at)))) {
      at += character_at(question, at).size_bytes;
    }
    DateToken token;
    for (const char c : question.substr(begin, at - begin)) {
      token.text.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c);
    }
    token.gap = question.substr(gap_begin, begin - gap_begin);
    token.is_number = is_number;
    token.is_capitalized = question[begin] >= 'A' && question[begin] <= 'Z';
    tokens.push_back(std::move(token));
    gap_begin = at;
  }
  return tokens;
}

}  // namespace varve::query
