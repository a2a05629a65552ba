#include "json/diagnosis.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>

#include "base/ascii.h"
#include "base/hex.h"
#include "base/utf8.h"

namespace varve::json {
namespace {

constexpr std::string_view kBlank = " \t\n\r";
constexpr std::string_view kPunctuation = ",:]}";
constexpr std::string_view kDelimiters = " \t\n\r,:[]{}\"";
constexpr size_t kQuotedCharsMax = 24;

struct Token {
  size_t begin;
  size_t end;
};

// A string ends after its closing quote, or with the text.
size_t string_end(std::string_view text, size_t begin) {
  for (size_t at = begin + 1; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

// The next bracket that opens, string or word at or after `at`.
std::optional<Token> next_token(std::string_view text, size_t at) {
  while (at < text.size() && (kBlank.find(text[at]) != std::string_view::npos ||
                              kPunctuation.find(text[at]) != std::string_view::npos)) {
    ++at;
  }
  if (at >= text.size()) return std::nullopt;
  if (text[at] == '{' || text[at] == '[') return Token{at, at + 1};
  if (text[at] == '"') return Token{at, string_end(text, at)};
  return Token{at, std::min(text.find_first_of(kDelimiters, at), text.size())};
}

// The token that covers the byte at `offset`, or ends with the text right before it.
std::optional<Token> token_around(std::string_view text, size_t offset) {
  size_t at = 0;
  while (const auto token = next_token(text, at)) {
    if (token->begin > offset) return std::nullopt;
    if (offset < token->end || token->end == text.size()) return token;
    at = token->end;
  }
  return std::nullopt;
}

// The value of "\uXXXX" at `at`; nullopt when it is not that.
std::optional<uint32_t> escaped_unit(std::string_view text, size_t at) {
  if (text.substr(at, 2) != "\\u") return std::nullopt;
  const std::string_view digits = text.substr(at + 2, 4);
  const char* const end = digits.data() + digits.size();
  uint32_t unit = 0;
  const auto read = std::from_chars(digits.data(), end, unit, 16);
  return digits.size() == 4 && read.ptr == end ? std::optional(unit) : std::nullopt;
}

std::string hex_byte(char c) {
  std::string digits = "0x";
  append_hex(static_cast<uint8_t>(c), &digits);
  return digits;
}

// Checks the escape at *at and moves behind it.
std::optional<Diagnosis> check_escape(std::string_view text, size_t* at) {
  const size_t begin = *at;
  const char c = begin + 1 < text.size() ? text[begin + 1] : '\0';
  if (c != '\0' && std::string_view("\"\\/bfnrt").find(c) != std::string_view::npos) {
    *at += 2;
    return std::nullopt;
  }
  if (c != 'u') return Diagnosis{"unknown escape after '\\'", begin};
  const auto unit = escaped_unit(text, begin);
  if (!unit) return Diagnosis{"\\u without four hexadecimal digits", begin};
  *at += 6;
  if (*unit < 0xD800 || *unit > 0xDFFF) return std::nullopt;
  const uint32_t trail = *unit <= 0xDBFF ? escaped_unit(text, begin + 6).value_or(0) : 0;
  if (trail < 0xDC00 || trail > 0xDFFF) {
    return Diagnosis{"lone surrogate " + std::string(text.substr(begin, 6)), begin};
  }
  *at += 6;
  return std::nullopt;
}

// What is wrong inside the string that starts at `begin`; nullopt when nothing is.
std::optional<Diagnosis> diagnose_string(std::string_view text, size_t begin) {
  size_t at = begin + 1;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') return std::nullopt;
    if (c == '\\') {
      if (auto found = check_escape(text, &at)) return found;
    } else if (static_cast<uint8_t>(c) < 0x20) {
      return Diagnosis{"control character " + hex_byte(c) + " in a string, not escaped", at};
    } else {
      std::string_view rest = text.substr(at);
      if (!take_code_point(rest)) return Diagnosis{"invalid UTF-8, byte " + hex_byte(c), at};
      at = text.size() - rest.size();
    }
  }
  return Diagnosis{"the text ends inside a string", text.size()};
}

// Words that are no JSON: NaN, Infinity, undefined, True, nul.
std::optional<Diagnosis> diagnose_word(std::string_view text, Token token) {
  std::string_view word = text.substr(token.begin, token.end - token.begin);
  const std::string_view unsigned_word =
      !word.empty() && (word.front() == '-' || word.front() == '+') ? word.substr(1) : word;
  if (unsigned_word.empty() || !is_letter(unsigned_word.front())) return std::nullopt;
  const auto plain = [](char c) { return is_letter(c) || c == '-' || c == '+' || c == '_'; };
  const auto stop = std::find_if_not(word.begin(), word.end(), plain);
  word = word.substr(0, std::min(static_cast<size_t>(stop - word.begin()), kQuotedCharsMax));
  for (const char* name : {"NaN", "nan", "Infinity", "inf"}) {
    if (unsigned_word.starts_with(name)) {
      return Diagnosis{std::string(word) + " is not a JSON number", token.begin};
    }
  }
  return Diagnosis{"unexpected '" + std::string(word) + "'", token.begin};
}

std::string unexpected(std::string_view text, size_t at) {
  const char c = text[at];
  if (text.substr(at).starts_with(kByteOrderMark)) return "unexpected byte order mark";
  if (at == 0 && (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))) {
    return "this is UTF-16, and JSON is UTF-8";  // as PowerShell writes it
  }
  if (c == '/') return "unexpected '/' (JSON has no comments)";
  if (c > 0x20 && c < 0x7F) return std::string("unexpected '") + c + "'";
  return "unexpected byte " + hex_byte(c);
}

}  // namespace

Diagnosis diagnose(std::string_view text, size_t refused_at, bool is_complete) {
  if (text.find_first_not_of(kBlank) == std::string_view::npos) return {"the text is empty", 0};
  const auto token = token_around(text, refused_at);
  const bool inside_string =
      !is_complete && token && text[token->begin] == '"' && refused_at > token->begin;
  if (inside_string) {
    if (auto found = diagnose_string(text, token->begin)) return *std::move(found);
  }
  if (refused_at >= text.size()) return {"the text ends too early", text.size()};
  if (is_complete) return {unexpected(text, refused_at) + " after the value", refused_at};
  if (token) {
    if (auto found = diagnose_word(text, *token)) return *std::move(found);
  }
  return {unexpected(text, refused_at), refused_at};
}

size_t token_start(std::string_view text, size_t offset) {
  const auto token = token_around(text, offset);
  return token ? token->begin : offset;
}

size_t token_offset(std::string_view text, size_t index) {
  size_t at = 0;
  while (const auto token = next_token(text, at)) {
    if (index-- == 0) return token->begin;
    at = token->end;
  }
  return text.size();
}

}  // namespace varve::json
