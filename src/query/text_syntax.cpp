#include "query/text_syntax.h"

#include <optional>

#include "text/characters.h"

namespace varve::query {

namespace {

using text::behind_ignored;
using text::character_at;
using text::CharacterClass;
using text::last_character;
using Kind = TextClause::Kind;
using Sign = TextClause::Sign;

bool starts_word(std::string_view text, size_t at) {
  const auto next = text::skip_ignored(text, &at).character_class;
  return next == CharacterClass::kWord || next == CharacterClass::kUnspaced ||
         next == CharacterClass::kEmoji;
}

bool is_word_character(CharacterClass one) {
  return one == CharacterClass::kWord || one == CharacterClass::kMark ||
         one == CharacterClass::kUnspaced;
}

// Also behind wildcards: what is taken as plain words, such as *1,200 and ?src/main.c, keeps its
// sign.
bool starts_word_or_wildcard(std::string_view text, size_t at) {
  while (at < text.size() && (text[at] == '*' || text[at] == '?')) ++at;
  return starts_word(text, at);
}

// Whether the token is a word with wildcards in it, and not a path, an address or punctuation.
bool is_wildcard(std::string_view token) {
  bool has_star = false;
  bool has_question_mark = false;
  bool has_word = false;
  for (size_t at = 0; at < token.size();) {
    const auto character = character_at(token, at);
    const size_t after = at + character.size_bytes;
    if (character.code_point == '*') {
      has_star = true;
    } else if (character.code_point == '?') {
      // Only inside a word: at its end it asks.
      has_question_mark = has_question_mark || starts_word(token, after);
    } else if (character.character_class == CharacterClass::kOther ||
               character.character_class == CharacterClass::kEmoji) {
      return false;
    } else if (character.character_class == CharacterClass::kWord ||
               character.character_class == CharacterClass::kUnspaced) {
      has_word = true;
    }
    at = after;
  }
  const bool is_path = token.find('/') != std::string_view::npos;
  return has_word && (has_star || (has_question_mark && !is_path));
}

// Signs around a token that are none of ours, of any script: "(oauth*," and "«oauth*»" -> "oauth*".
// So are connectors with a word on one side only, as in "/etc/*", "@types/*" and "--no-*"; but
// "c++" and "c#" end with theirs.
std::string_view without_punctuation(std::string_view token) {
  const auto is_edge = [](const text::Character& one) {
    if (one.code_point == '*' || one.code_point == '?') return false;
    return !is_word_character(one.character_class);
  };
  const auto may_end = [](const text::Character& one) {
    return one.code_point == '+' || one.code_point == '#';
  };
  while (!token.empty() && is_edge(character_at(token, 0))) {
    token.remove_prefix(character_at(token, 0).size_bytes);
  }
  while (!token.empty() && (is_edge(last_character(token)) || token.back() == '?')) {
    if (may_end(last_character(token))) break;
    token.remove_suffix(last_character(token).size_bytes);
  }
  return token;
}

// Of the connectors of a gap: how many belong to the word before them, as in "C#/*" and
// "C++::vec*". As in a text (Words), where they are several; "a++b" is no C++.
size_t tail_size_of(std::string_view connectors) {
  if (connectors.starts_with('#')) return 1;
  const bool is_tail =
      connectors.size() > 2 && connectors.starts_with("++") && !connectors.starts_with("+++");
  return is_tail ? 2 : 0;
}

// Where two connectors stand side by side, as in "std::vec*", a text's words are not joined: the
// first of them, and what is behind them all. Nothing when there are none; "c++*" has an end.
struct Gap {
  size_t begin;
  size_t end;
};
std::optional<Gap> find_gap(std::string_view token) {
  size_t begin = 0;
  size_t count = 0;
  for (size_t at = 0; at < token.size();) {
    const auto character = character_at(token, at);
    if (character.character_class == CharacterClass::kConnector) {
      if (count++ == 0) begin = at;
    } else if (character.character_class != CharacterClass::kIgnored) {
      const bool ends_word = token.substr(begin, at - begin) == "++" &&
                             token.find_first_not_of('*', at) == std::string_view::npos;
      if (count > 1 && !ends_word) {
        return Gap{begin + tail_size_of(token.substr(begin, at - begin)), at};
      }
      count = 0;
    }
    at += character.size_bytes;
  }
  return std::nullopt;
}

class TextParser {
 public:
  enum class Syntax { kSigns, kPlain };

  TextParser(std::string_view text, Syntax syntax) : text_(text), syntax_(syntax) {}

  std::vector<TextClause> parse() {
    while (at_ < text_.size()) {
      const auto next = character_at(text_, at_);
      if (text::is_blank(next.code_point) || next.character_class == CharacterClass::kIgnored) {
        at_ += next.size_bytes;
      } else if (!read_phrase(at_, Sign::kRanked)) {
        read_signed_or_plain();
      }
    }
    return std::move(clauses_);
  }

 private:
  // A phrase that starts at `begin`, with its closing quote.
  bool read_phrase(size_t begin, Sign sign) {
    if (begin >= text_.size() || text_[begin] != '"') return false;
    const size_t end = text_.find('"', begin + 1);
    if (end == std::string_view::npos) return false;
    add(Kind::kPhrase, sign, text_.substr(begin + 1, end - begin - 1));
    at_ = end + 1;
    return true;
  }

  void read_signed_or_plain() {
    const char first = text_[at_];
    const bool is_sign = first == '+' || first == '-';
    const bool says_nothing = syntax_ == Syntax::kPlain;
    const Sign sign = says_nothing ? Sign::kRanked : first == '+' ? Sign::kMust : Sign::kNot;
    const size_t begin = at_;
    const size_t behind_sign = behind_ignored(text_, begin + 1);
    if (is_sign && read_phrase(behind_sign, sign)) return;
    at_ = end_of_token(begin);
    const std::string_view token = text_.substr(begin, at_ - begin);
    if (says_nothing) return add_words(token, Sign::kRanked);
    const std::string_view rest = text_.substr(behind_sign, at_ - behind_sign);
    // Two signs, as in --no-*, are those of a program's option.
    const bool is_option = rest.starts_with('-') || rest.starts_with('+');
    const bool has_sign =
        is_sign && !is_option &&
        (starts_word_or_wildcard(rest, 0) || is_wildcard(without_punctuation(rest)));
    add_token(has_sign ? rest : token, has_sign ? sign : Sign::kRanked);
  }

  [[nodiscard]] size_t end_of_token(size_t at) const {
    while (at < text_.size()) {
      const auto next = character_at(text_, at);
      if (text::is_blank(next.code_point)) break;
      at += next.size_bytes;
    }
    return at;
  }

  // A wildcard with gaps is what stands between them, each by itself.
  void add_token(std::string_view token, Sign sign) {
    std::string_view rest = without_punctuation(token);
    auto gap = is_wildcard(rest) ? find_gap(rest) : std::nullopt;
    if (gap && sign == Sign::kNot) return add_words(token, sign);
    if (!gap) return add_part(token, sign);
    for (; gap; gap = find_gap(rest)) {
      add_part(rest.substr(0, gap->begin), sign);
      rest = rest.substr(gap->end);
    }
    add_part(rest, sign);
  }

  void add_part(std::string_view part, Sign sign) {
    const std::string_view bare = without_punctuation(part);
    if (is_wildcard(bare)) return add(Kind::kWildcard, sign, bare);
    add_words(part, sign);
  }

  void add_words(std::string_view words, Sign sign) {
    if (sign == Sign::kRanked && !clauses_.empty() && clauses_.back().kind == Kind::kWords &&
        clauses_.back().sign == sign) {
      clauses_.back().text.append(1, ' ').append(words);
    } else {
      add(Kind::kWords, sign, words);
    }
  }

  void add(Kind kind, Sign sign, std::string_view text) {
    clauses_.push_back({kind, sign, std::string(text)});
  }

  std::string_view text_;
  Syntax syntax_;
  size_t at_ = 0;
  std::vector<TextClause> clauses_;
};

}  // namespace

std::vector<TextClause> parse_text(std::string_view text) {
  return TextParser(text, TextParser::Syntax::kSigns).parse();
}

std::vector<TextClause> parse_question(std::string_view question) {
  return TextParser(question, TextParser::Syntax::kPlain).parse();
}

}  // namespace varve::query
