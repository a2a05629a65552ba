#include "text/line_ends.h"

#include <cstdint>
#include <cstring>

namespace varve::text {

namespace {

// Bytes of the line end that stands at the front; 0: there is none.
size_t line_end_bytes(std::string_view text) {
  if (text.starts_with("\r\n")) return 2;
  if (text.front() >= '\n' && text.front() <= '\r') return 1;
  if (text.front() >= '\x1c' && text.front() <= '\x1e') return 1;
  if (text.starts_with("\xc2\x85")) return 2;
  return text.starts_with("\xe2\x80\xa8") || text.starts_with("\xe2\x80\xa9") ? 3 : 0;
}

// The same of any control character.
size_t control_bytes(std::string_view text) {
  if (const size_t bytes = line_end_bytes(text); bytes > 0) return bytes;
  const auto first = static_cast<unsigned char>(text.front());
  return first < 0x20 || first == 0x7f ? 1 : 0;
}

// Whether eight bytes are printable ASCII, as most are: no line end begins there.
bool is_plain(const char* bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return ((word | (word - kOnes * ' ')) & (kOnes * 0x80)) == 0;
}

}  // namespace

void append_indented(std::string_view text, std::string_view indent, std::string* out) {
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    if (at + sizeof(uint64_t) <= text.size() && is_plain(text.data() + at)) {
      at += sizeof(uint64_t);
      continue;
    }
    const size_t bytes = line_end_bytes(text.substr(at));
    if (bytes == 0) {
      ++at;
      continue;
    }
    out->append(text.substr(start, at - start)).append("\n").append(indent);
    at += bytes;
    start = at;
  }
  out->append(text.substr(start));
}

bool is_one_line(std::string_view text) {
  for (; !text.empty(); text.remove_prefix(1)) {
    if (control_bytes(text) > 0) return false;
  }
  return true;
}

std::string make_one_line(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const size_t bytes = control_bytes(text);
    line.push_back(bytes > 0 ? ' ' : text.front());
    text.remove_prefix(bytes > 0 ? bytes : 1);
  }
  return line;
}

}  // namespace varve::text
