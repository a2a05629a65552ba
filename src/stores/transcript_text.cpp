#include "stores/transcript_text.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/time.h"
#include "base/utf8.h"

namespace varve::stores {

namespace {

constexpr std::string_view kHeaderMark = "### ";
constexpr std::string_view kDash = " \xe2\x80\x94 ";
constexpr std::string_view kLineBreak = "  ";  // before a line end inside content
constexpr std::string_view kNulDigits = "u0000";
constexpr std::string_view kBlankDigits = "u0020";
constexpr size_t kRoleBytesMax = 128;

// A line of a text, without its line end.
struct Line {
  std::string_view text;
  bool is_ended = false;
};

Line take_line(std::string_view& rest) {
  const size_t end = rest.find('\n');
  Line line{rest.substr(0, end), end != std::string_view::npos};
  rest.remove_prefix(line.is_ended ? end + 1 : rest.size());
  return line;
}

std::string_view without_return(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool is_text(std::string_view bytes) {
  return bytes.find('\0') == std::string_view::npos && !find_invalid_utf8(bytes);
}

// Whether the line has a header mark after any number of backslashes.
bool looks_like_header(std::string_view line) {
  const size_t first = line.find_first_not_of('\\');
  return first != std::string_view::npos && line.substr(first).starts_with(kHeaderMark);
}

// --- escapes -------------------------------------------------------------------------------------

bool starts_with_digits(std::string_view text) {
  return text.starts_with(kNulDigits) || text.starts_with(kBlankDigits);
}

// `is_last`: the last line of its content.
void append_escaped(std::string_view line, bool is_last, std::string& out) {
  if (looks_like_header(line)) out.push_back('\\');
  const bool hides_blank = is_last && line.ends_with(kLineBreak);
  if (hides_blank) line.remove_suffix(1);
  size_t backslashes = 0;  // right before `i`
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\0') {
      out.append(backslashes + 1, '\\').append(kNulDigits);
    } else {
      if (starts_with_digits(line.substr(i))) out.append(backslashes, '\\');
      out.push_back(line[i]);
    }
    backslashes = line[i] == '\\' ? backslashes + 1 : 0;
  }
  if (hides_blank) out.append("\\").append(kBlankDigits);
}

void append_plain(std::string_view line, std::string& out) {
  if (line.starts_with('\\') && looks_like_header(line)) line.remove_prefix(1);
  while (!line.empty()) {
    const size_t start = std::min(line.find('\\'), line.size());
    out.append(line.substr(0, start));
    line.remove_prefix(start);
    const size_t backslashes = std::min(line.find_first_not_of('\\'), line.size());
    line.remove_prefix(backslashes);
    if (!starts_with_digits(line)) {
      out.append(backslashes, '\\');
      continue;
    }
    out.append(backslashes / 2, '\\');
    if (backslashes % 2 == 0) continue;  // the digits stand for themselves
    out.push_back(line.starts_with(kNulDigits) ? '\0' : ' ');
    line.remove_prefix(kNulDigits.size());
  }
}

// --- headers -------------------------------------------------------------------------------------

struct Header {
  size_t begin = 0;  // offset in the text
  size_t end = 0;    // after its line end
  std::string_view role;
  std::string_view timestamp;
  bool has_return = false;  // lines end in \r\n, as some editors write them
};

std::optional<Header> read_header(std::string_view line) {
  if (!line.starts_with(kHeaderMark)) return std::nullopt;
  Header header;
  header.has_return = line.ends_with('\r');
  line.remove_prefix(kHeaderMark.size());
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  const size_t dash = line.rfind(kDash);
  if (dash == std::string_view::npos) return std::nullopt;
  header.role = line.substr(0, dash);
  header.timestamp = line.substr(dash + kDash.size());
  if (!is_valid_role(header.role) || !parse_rfc3339(header.timestamp)) return std::nullopt;
  return header;
}

std::vector<Header> find_headers(std::string_view text) {
  std::vector<Header> headers;
  std::string_view rest = without_byte_order_mark(text);
  while (!rest.empty()) {
    const size_t begin = text.size() - rest.size();
    const Line line = take_line(rest);
    if (!line.is_ended) break;
    if (auto header = read_header(line.text)) {
      header->begin = begin;
      header->end = text.size() - rest.size();
      headers.push_back(*header);
    }
  }
  return headers;
}

// --- contents ------------------------------------------------------------------------------------

// The content of these lines, without the last line end.
std::string plain_content(std::string_view lines, bool has_return) {
  std::string content;
  if (lines.ends_with('\n')) lines.remove_suffix(1);
  for (bool more = true; more;) {
    const Line line = take_line(lines);
    std::string_view text = has_return ? without_return(line.text) : line.text;
    if (line.is_ended && text.ends_with(kLineBreak)) text.remove_suffix(kLineBreak.size());
    append_plain(text, content);
    if (line.is_ended) content.push_back('\n');
    more = line.is_ended;
  }
  return content;
}

// Where the lines that one append wrote end: after the first without a line break. npos: nowhere.
size_t find_written_end(std::string_view body, bool has_return) {
  std::string_view rest = body;
  while (!rest.empty()) {
    const Line line = take_line(rest);
    if (!line.is_ended) break;
    const std::string_view text = has_return ? without_return(line.text) : line.text;
    if (!text.ends_with(kLineBreak)) return body.size() - rest.size();
  }
  return std::string_view::npos;
}

// Whether `rest`, after a whole entry, looks like the start of an append.
bool is_torn_append(std::string_view rest) {
  if (!is_text(rest)) return true;
  if (rest.ends_with('\n') || rest.find('\n') != 0) return false;
  rest.remove_prefix(1);
  return rest.starts_with(kHeaderMark) || kHeaderMark.starts_with(rest);
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text), headers_(find_headers(text)) {}

  TranscriptContents read() {
    const size_t first = headers_.empty() ? text_.size() : headers_.front().begin;
    read_preamble(text_.substr(0, first));
    for (size_t i = 0; i < headers_.size(); ++i) {
      end_ = i + 1 < headers_.size() ? headers_[i + 1].begin : text_.size();
      is_last_ = i + 1 == headers_.size();
      read_entry(headers_[i]);
    }
    const bool is_whole = contents_.damaged.empty() && contents_.torn_bytes == 0;
    contents_.ends_whole = contents_.ends_whole && is_whole;
    return std::move(contents_);
  }

 private:
  void read_preamble(std::string_view preamble) {
    if (is_blank(without_byte_order_mark(preamble))) return;
    if (headers_.empty() && (!is_text(preamble) || !preamble.ends_with('\n'))) {
      contents_.torn_bytes = preamble.size();
    } else {
      contents_.damaged.push_back({0, preamble.size(), "no header comes before this text"});
    }
  }

  void read_entry(const Header& header) {
    size_t begin = header.end;
    const std::string_view block = text_.substr(begin, end_ - begin);
    std::string_view body = block;
    const Line blank = take_line(body);
    if (!blank.is_ended || !is_blank(blank.text)) body = block;
    begin = end_ - body.size();
    const size_t written = find_written_end(body, header.has_return);
    if (written == std::string_view::npos) {
      read_unended(header, body);
      return;
    }
    if (!is_text(body.substr(0, written))) {
      damage(header.begin, "an entry is not text");
      return;
    }
    const std::string_view rest = body.substr(written);
    if (is_blank(rest)) {
      add(header, body.substr(0, written));
    } else if (is_last_ ? is_torn_append(rest) : !is_text(rest)) {
      add(header, body.substr(0, written));
      damage(begin + written, "what follows an entry is not text");
    } else {
      add_edited(header, body);
    }
  }

  void read_unended(const Header& header, std::string_view body) {
    if (is_last_ || !is_text(body)) {
      damage(header.begin, "an entry is not text");
    } else {
      add_edited(header, body);
    }
  }

  void add(const Header& header, std::string_view lines) {
    contents_.entries.push_back({std::string(header.role), plain_content(lines, header.has_return),
                                 std::string(header.timestamp)});
  }

  void add_edited(const Header& header, std::string_view body) {
    if (is_last_) contents_.ends_whole = false;
    add(header, body.substr(0, body.find_last_not_of(" \t\r\n") + 1));
  }

  // Damage from `offset` to the end of the entry.
  void damage(size_t offset, std::string_view reason) {
    if (is_last_) {
      contents_.torn_bytes = end_ - offset;
    } else {
      contents_.damaged.push_back({offset, end_ - offset, std::string(reason)});
    }
  }

  std::string_view text_;
  std::vector<Header> headers_;
  size_t end_ = 0;  // of the entry being read
  bool is_last_ = false;
  TranscriptContents contents_;
};

}  // namespace

TranscriptContents parse_transcript(std::string_view text) { return Reader(text).read(); }

std::string format_entry(const TranscriptEntry& entry) {
  std::string text(kHeaderMark);
  text.append(entry.role).append(kDash).append(entry.timestamp).append("\n\n");
  std::string_view rest = entry.content;
  for (bool more = true; more;) {
    const Line line = take_line(rest);
    append_escaped(line.text, !line.is_ended, text);
    if (line.is_ended) text.append(kLineBreak);
    text.push_back('\n');
    more = line.is_ended;
  }
  return text;
}

std::string format_transcript(const std::vector<TranscriptEntry>& entries) {
  std::string text;
  for (const TranscriptEntry& entry : entries) {
    if (!text.empty()) text.push_back('\n');
    text += format_entry(entry);
  }
  return text;
}

size_t find_header(std::string_view text) {
  for (size_t at = text.find("\n### "); at != std::string_view::npos;
       at = text.find("\n### ", at + 1)) {
    const size_t end = text.find('\n', at + 1);
    if (end == std::string_view::npos) break;
    if (read_header(text.substr(at + 1, end - at - 1))) return at + 1;
  }
  return std::string_view::npos;
}

bool is_valid_role(std::string_view role) {
  if (role.empty() || role.size() > kRoleBytesMax || find_invalid_utf8(role)) return false;
  if (role.front() == ' ' || role.back() == ' ') return false;
  return std::none_of(role.begin(), role.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

}  // namespace varve::stores
