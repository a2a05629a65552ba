#include "json/raw.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace varve::json {

namespace {

constexpr size_t kUnicodeDigits = 4;
constexpr size_t kNowhere = std::string_view::npos;

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// Behind the closing quote of the string whose opening one is at `at`.
size_t skip_string(std::string_view text, size_t at) {
  for (size_t from = at + 1;;) {
    const size_t quote = text.find('"', from);
    if (quote == kNowhere) return kNowhere;
    size_t backslashes = 0;
    while (text[quote - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return quote + 1;
    from = quote + 1;
  }
}

size_t skip_list(std::string_view text, size_t at) {
  for (size_t depth = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      at = skip_string(text, at);
      continue;
    }
    ++at;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return at;
  }
  return kNowhere;
}

size_t skip_value(std::string_view text, size_t at) {
  if (text[at] == '"') return skip_string(text, at);
  if (text[at] == '{' || text[at] == '[') return skip_list(text, at);
  const auto ends = [](char c) { return c == ',' || c == '}' || c == ']' || is_blank(c); };
  while (at < text.size() && !ends(text[at])) ++at;
  return at;
}

// 0: not one that stands for a single character.
char unescaped(char c) {
  switch (c) {
    case '"':
    case '\\':
    case '/': return c;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return 0;
  }
}

// The ASCII character that `digits` (4 of them in hexadecimal) name, behind \u.
std::optional<char> numbered(std::string_view digits) {
  int code = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, code, 16);
  if (digits.size() != kUnicodeDigits || read.ptr != end || code < 0 || code > 0x7f) return {};
  return static_cast<char>(code);
}

}  // namespace

bool for_each_raw_member(std::string_view text, const VisitRaw& visit) {
  size_t at = skip_blanks(text, 0);
  if (at == text.size() || text[at] != '{') return false;
  for (char next = ','; next == ',';) {
    const size_t name = skip_blanks(text, at + 1);
    if (name < text.size() && text[name] == '}') return true;  // there is none
    if (name == text.size() || text[name] != '"') return false;
    const size_t name_end = skip_string(text, name);
    if (name_end == kNowhere) return false;
    at = skip_blanks(text, name_end);
    if (at == text.size() || text[at] != ':') return false;
    const size_t value = skip_blanks(text, at + 1);
    const size_t end = value < text.size() ? skip_value(text, value) : kNowhere;
    if (end == kNowhere) return false;
    const std::string_view name_text = text.substr(name + 1, name_end - name - 2);
    if (!visit(name_text, text.substr(value, end - value))) return false;
    at = skip_blanks(text, end);
    if (at == text.size()) return false;
    next = text[at];
  }
  return text[at] == '}';
}

// Outside strings a quote begins one, and a colon stands behind names only.
bool for_each_raw_string(std::string_view value, const VisitRawString& visit) {
  for (size_t at = value.find('"'); at < value.size(); at = value.find('"', at)) {
    const size_t end = skip_string(value, at);
    if (end == kNowhere) return false;
    const size_t next = skip_blanks(value, end);
    if (next == value.size() || value[next] != ':') visit(value.substr(at, end - at));
    at = end;
  }
  return true;
}

bool decode_raw_string(std::string_view value, std::string* out) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return false;
  value = value.substr(1, value.size() - 2);
  out->clear();
  out->reserve(value.size());
  while (!value.empty()) {
    const size_t clean = std::min(value.find('\\'), value.size());
    out->append(value.substr(0, clean));
    if (clean == value.size()) break;
    const char letter = clean + 1 < value.size() ? value[clean + 1] : '\0';
    value.remove_prefix(std::min(clean + 2, value.size()));
    if (const char c = unescaped(letter); c != 0) {
      out->push_back(c);
      continue;
    }
    const auto c = letter == 'u' ? numbered(value.substr(0, kUnicodeDigits)) : std::nullopt;
    if (!c) return false;
    out->push_back(*c);
    value.remove_prefix(kUnicodeDigits);
  }
  return true;
}

}  // namespace varve::json
