#include "transfer/elements.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/utf8.h"

namespace varve::transfer {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 18;
constexpr size_t kWindowBytes = size_t{1} << 16;  // by which the form is recognised, mostly
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kBlanksAndCommas = " \t\r\n,";

// Whether a member is what a conversation says to the model beside its messages: the content of
// one, or as Gemini has it, an object with the parts.
bool is_of_system(std::string_view key, int first_byte) {
  const bool is_gemini = key == "systemInstruction" || key == "system_instruction";
  if (key != "system" && !is_gemini) return false;
  return first_byte == '"' || first_byte == (is_gemini ? '{' : '[');
}

// The last is what Gemini calls the messages.
bool is_array_key(std::string_view key) {
  return key == "entries" || key == "messages" || key == "contents";
}

// Position of the next byte that is not blank, or the end.
size_t skip_blanks(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(kBlanks, at), text.size());
}

// Position after the quote that closes the string at `at`, or the end.
size_t skip_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// Position of the ',' or bracket after the value at `at`, or the end.
size_t skip_value(std::string_view text, size_t at) {
  size_t depth = 0;
  while (at < text.size()) {
    const char byte = text[at];
    if (byte == '"') {
      at = skip_string(text, at);
      continue;
    }
    if (depth == 0 && (byte == ',' || byte == '}' || byte == ']')) return at;
    if (byte == '{' || byte == '[') ++depth;
    if (byte == '}' || byte == ']') --depth;
    ++at;
  }
  return at;
}

// kUnknown: the text ends before it tells.
enum class Holds : uint8_t { kNothing, kEntries, kUnknown };

// Whether the object at the start of `text` holds entries, rather than being one. What begins like
// an entry or a message may be one; where `wants_chat`, an entry is none.
Holds what_holds(std::string_view text, bool wants_chat) {
  bool begins_like_entry = false;
  size_t at = skip_blanks(text, 1);
  while (at < text.size() && text[at] == '"') {
    const size_t end = skip_string(text, at);
    const std::string_view key = text.substr(at + 1, end - at - 2);
    at = skip_blanks(text, end);
    if (at >= text.size()) break;
    if (text[at] != ':') return Holds::kNothing;
    at = skip_blanks(text, at + 1);
    const bool is_key = begins_like_entry ? key == "messages" : is_array_key(key);
    if (is_key && at < text.size() && text[at] == '[') return Holds::kEntries;
    begins_like_entry = begins_like_entry || key == "type" || key == "content";
    if (key == "role" || (begins_like_entry && !wants_chat)) return Holds::kNothing;
    at = skip_blanks(text, skip_value(text, at));
    if (at >= text.size()) break;
    if (text[at] != ',') return Holds::kNothing;
    at = skip_blanks(text, at + 1);
  }
  return at < text.size() ? Holds::kNothing : Holds::kUnknown;
}

bool holds_entries(std::string_view text, bool wants_chat) {
  return what_holds(text, wants_chat) == Holds::kEntries;
}

// The value of a member of a whole object; empty when it has none of this name.
std::string_view member_in(std::string_view text, std::string_view name) {
  size_t at = skip_blanks(text, 1);
  while (at < text.size() && text[at] == '"') {
    const size_t end = skip_string(text, at);
    const bool is_found = text.substr(at + 1, end - at - 2) == name;
    const size_t begin = skip_blanks(text, skip_blanks(text, end) + 1);
    at = skip_value(text, begin);
    if (is_found) return text.substr(begin, at - begin);
    if (at < text.size() && text[at] == ',') at = skip_blanks(text, at + 1);
  }
  return {};
}

// Empty when it says nothing.
std::string message_of_system(std::string_view said) {
  constexpr std::string_view kBegin = R"({"role":"system",)";
  if (!said.starts_with('{')) return std::string(kBegin).append(R"("content":)").append(said) + "}";
  const std::string_view parts = member_in(said, "parts");
  return parts.empty() ? "" : std::string(kBegin).append(R"("parts":)").append(parts) + "}";
}

// Whether the first line of `text` is an object that holds entries, and the next one, too. In one
// object over several lines, the second line holds none.
bool is_line_each(std::string_view text, bool wants_chat) {
  const size_t next = skip_blanks(text, std::min(text.find('\n'), text.size()));
  return next < text.size() && text[next] == '{' && holds_entries(text.substr(next), wants_chat);
}

// Whether the object at the start of `text` stands over several lines, as programs print it for
// people. Behind a line that was cut stands a whole one, which begins with no member.
bool is_spread_out(std::string_view text) {
  const size_t line_end = text.find('\n');
  if (line_end == std::string_view::npos || !text.starts_with('{')) return false;
  const size_t last = text.find_last_not_of(kBlanks, line_end);
  const size_t next = skip_blanks(text, line_end);
  return (text[last] == '{' || text[last] == ',') && next < text.size() && text[next] == '"' &&
         skip_value(text, 0) > line_end;
}

// Whether `text`, which begins with '[', is an array of objects, not the rest of a cut line.
bool is_array_of_objects(std::string_view text) {
  const size_t at = skip_blanks(text, 1);
  return at == text.size() || text[at] == '{' || text[at] == ']';
}

}  // namespace

ElementReader::ElementReader(Input& input, ImportFormat format, size_t element_bytes_max)
    : input_(input),
      format_(format),
      element_bytes_max_(element_bytes_max),
      buffer_(kBufferBytes) {}

Result<std::optional<Element>> ElementReader::next() {
  if (mode_ == Mode::kStart) VARVE_TRY(start());
  std::optional<Element> found;
  while (!found && (inner_ || mode_ != Mode::kEnd) && failure_.ok()) {
    if (inner_) {
      found = next_inner();
      continue;
    }
    switch (mode_) {
      case Mode::kLines: found = next_line(); break;
      case Mode::kValues: found = next_value(); break;
      case Mode::kArray: found = next_item(); break;
      case Mode::kObject: found = next_member(); break;
      case Mode::kBehind: found = leave_array(); break;
      case Mode::kStart:
      case Mode::kEnd: break;
    }
  }
  VARVE_TRY(failure_);
  return found;
}

Status ElementReader::start() {
  if (look(kWindowBytes).starts_with(kByteOrderMark)) {
    begin_ += kByteOrderMark.size();
    consumed_bytes_ += kByteOrderMark.size();
  }
  VARVE_TRY(failure_);
  mode_ = format_ == ImportFormat::kJsonl ? Mode::kLines : recognise();
  VARVE_TRY(failure_);
  is_lines_ = mode_ == Mode::kLines;
  if (mode_ == Mode::kArray || mode_ == Mode::kObject) {
    skip(kBlanks);
    advance();
  }
  return {};
}

ElementReader::Mode ElementReader::recognise() {
  if (is_inner_) return Mode::kObject;  // known already, from the whole text
  size_t bytes = kWindowBytes;
  const auto skipped = [](std::string_view text) { return text.substr(skip_blanks(text, 0)); };
  std::string_view window = skipped(look(bytes));
  if (window.starts_with('[')) return is_array_of_objects(window) ? Mode::kArray : Mode::kLines;
  if (!window.starts_with('{')) return Mode::kLines;
  is_spread_ = is_spread_out(window);
  const bool wants_chat = format_ == ImportFormat::kChat;
  Holds holds = what_holds(window, wants_chat);
  // Before the messages of a request its tools may stand, which are long.
  const size_t bytes_max = std::max(kWindowBytes, element_bytes_max_);
  while (holds == Holds::kUnknown && !at_end_ && failure_.ok() && bytes < bytes_max) {
    bytes = std::min(2 * bytes, bytes_max);
    window = skipped(look(bytes));
    holds = what_holds(window, wants_chat);
  }
  const bool is_object = holds == Holds::kEntries && !is_line_each(window, wants_chat);
  if (is_object) return Mode::kObject;
  return is_spread_ ? Mode::kValues : Mode::kLines;
}

// The text that is not consumed, up to this many bytes from the start of all.
std::string_view ElementReader::look(size_t bytes) {
  if (buffer_.size() < bytes) buffer_.resize(bytes);
  while (end_ < bytes && !at_end_ && failure_.ok()) fill();
  return std::string_view(buffer_.data(), std::min(end_, bytes)).substr(begin_);
}

// --- lines ---------------------------------------------------------------------------------------

std::optional<Element> ElementReader::next_line() {
  bool is_too_long = false;
  const uint64_t line = line_;
  if (!take_line(&is_too_long)) {
    mode_ = Mode::kEnd;
    return std::nullopt;
  }
  if (is_too_long) return fault(line, "the line is longer than " + limit_text());
  std::string_view text = text_;
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.find_first_not_of(kBlanks) == std::string_view::npos) return std::nullopt;
  return element(line, text);
}

// Takes the bytes up to the line's end into text_. False when there are none.
bool ElementReader::take_line(bool* is_too_long) {
  text_.clear();
  if (peek() == kNoByte) return false;
  while (peek() != kNoByte) {
    const char* from = buffer_.data() + begin_;
    const size_t rest = end_ - begin_;
    const auto* newline = static_cast<const char*>(std::memchr(from, '\n', rest));
    const size_t count = newline == nullptr ? rest : static_cast<size_t>(newline - from);
    if (text_.size() + count > element_bytes_max_) *is_too_long = true;
    if (!*is_too_long) text_.append(from, count);
    begin_ += count;
    consumed_bytes_ += count;
    if (newline == nullptr) continue;
    advance();
    break;
  }
  return true;
}

// What stands in no brackets has no end but that of its line.
std::optional<Element> ElementReader::next_value() {
  skip(kBlanksAndCommas);
  const uint64_t line = line_;
  if (peek() != '{' && peek() != '[') return next_line();
  const Value value = read_value(kOwnBracket);
  if (value.is_too_long) return fault(line, "the element is longer than " + limit_text());
  if (!value.is_whole) return fault(line, "the text ends in the middle of this element");
  return element(line, text_);
}

// --- arrays --------------------------------------------------------------------------------------

void ElementReader::enter_array(bool inside_object) {
  advance();
  inside_object_ = inside_object;
  mode_ = Mode::kArray;
}

std::optional<Element> ElementReader::next_item() {
  skip(kBlanksAndCommas);
  const uint64_t line = line_;
  const int byte = peek();
  if (byte == kNoByte) {
    mode_ = Mode::kEnd;
    return fault(line, "the text ends inside the array: the rest is missing");
  }
  if (byte == ']') {
    advance();
    mode_ = inside_object_ ? Mode::kObject : Mode::kBehind;
    return std::nullopt;
  }
  const Value value = read_value(']');
  if (value.is_too_long) return fault(line, "the element is longer than " + limit_text());
  if (!value.is_whole) return fault(line, "the text ends in the middle of this element");
  const size_t last = text_.find_last_not_of(kBlanks);
  return element(line, std::string_view(text_).substr(0, last + 1));
}

std::optional<Element> ElementReader::next_member() {
  skip(kBlanksAndCommas);
  const uint64_t line = line_;
  const int byte = peek();
  if (byte == kNoByte) {
    mode_ = Mode::kEnd;
    return fault(line, "the text ends inside the object: the rest is missing");
  }
  if (byte == '}') {
    advance();
    mode_ = Mode::kBehind;
    return std::nullopt;
  }
  if (byte != '"') {
    (void)read_value('}');
    return fault(line, "this is not a member of the object");
  }
  const std::string key = read_key();
  skip(kBlanks);
  if (peek() == ':') advance();
  skip(kBlanks);
  if (is_array_key(key) && peek() == '[') {
    enter_array(true);
    return std::nullopt;
  }
  const bool is_said = takes_chats() && is_of_system(key, peek());
  const Value value = read_value('}');
  if (!is_said || !value.is_whole) return std::nullopt;
  if (value.is_too_long) return fault(line, "the element is longer than " + limit_text());
  text_ = message_of_system(text_);
  if (text_.empty()) return std::nullopt;
  ++element_count_;
  return Element{text_, line, 0, 0, {}};  // this reader's input begins with this object
}

// More arrays may follow the array, or objects one over several lines. Text on its last line is
// reported; other lines behind it are read as lines, since it is likelier that damage looked like
// the end of the array.
std::optional<Element> ElementReader::leave_array() {
  const uint64_t line = line_;
  skip(kBlanks);
  mode_ = peek() == kNoByte ? Mode::kEnd : is_spread_ ? Mode::kValues : Mode::kLines;
  if (mode_ == Mode::kEnd) return std::nullopt;
  if (line_ != line) {
    if (peek() == '[') enter_array(false);
    return std::nullopt;
  }
  bool is_too_long = false;
  (void)take_line(&is_too_long);
  return fault(line, "text follows the end of the array");
}

// Takes the bytes of this value into text_.
ElementReader::Value ElementReader::read_value(char closing) {
  text_.clear();
  Value value;
  size_t depth = 0;
  bool in_string = false;
  bool is_escaped = false;
  bool is_last = false;
  for (;; advance()) {
    const int byte = peek();
    if (byte == kNoByte) {
      const size_t last = text_.find_last_not_of(kBlanks);
      // Only brackets tell that nothing of it is missing.
      value.is_whole = depth == 0 && !in_string && last != std::string::npos &&
                       (text_[last] == '}' || text_[last] == ']');
      return value;
    }
    if (in_string) {
      // A string contains no line end: its quote was lost, and what follows must not be lost, too.
      if (!is_escaped && (byte == '"' || byte == '\n')) in_string = false;
      is_escaped = !is_escaped && byte == '\\';
    } else if (depth == 0 && (byte == ',' || byte == closing)) {
      return value;
    } else if (byte == '"') {
      in_string = true;
    } else if (byte == '{' || byte == '[') {
      depth += 1;
    } else if ((byte == '}' || byte == ']') && depth > 0) {
      depth -= 1;
      is_last = depth == 0 && closing == kOwnBracket;
    }
    value.is_too_long = value.is_too_long || text_.size() >= element_bytes_max_;
    if (!value.is_too_long) text_ += static_cast<char>(byte);
    if (!is_last) continue;
    advance();
    return value;
  }
}

// Returns the key as written, without its quotes: the keys looked for have no escapes.
std::string ElementReader::read_key() {
  constexpr size_t kKeyBytesMax = 256;
  std::string key;
  bool is_escaped = false;
  for (advance(); peek() != kNoByte; advance()) {
    const char byte = static_cast<char>(peek());
    if (!is_escaped && byte == '"') {
      advance();
      break;
    }
    is_escaped = !is_escaped && byte == '\\';
    if (key.size() < kKeyBytesMax) key += byte;
  }
  return key;
}

// --- elements and bytes --------------------------------------------------------------------------

// A value, unless it is one of several conversations: then their messages are the elements.
std::optional<Element> ElementReader::element(uint64_t line, std::string_view text) {
  const bool wants_chat = format_ == ImportFormat::kChat;
  const std::string_view value = text.substr(skip_blanks(text, 0));
  if (!is_inner_ && takes_chats() && value.starts_with('{') && holds_entries(value, wants_chat) &&
      (wants_chat || member_in(value, "content").empty())) {
    inner_ = std::make_unique<Inner>(value, *this, line);
    return std::nullopt;
  }
  return Element{text, line, element_count_++, 0, {}};
}

struct ElementReader::Inner {
  Inner(std::string_view value, const ElementReader& outer, uint64_t first_line)
      : text(value),
        line(first_line),
        first_place(outer.element_count_),
        reader(input, outer.format_, outer.element_bytes_max_) {
    reader.is_inner_ = true;
  }
  std::string text;
  uint64_t line;
  uint64_t first_place;
  TextInput input{text};
  ElementReader reader;
};

ElementReader::~ElementReader() = default;

std::optional<Element> ElementReader::next_inner() {
  auto next = inner_->reader.next();
  std::optional<Element> found = next.ok() ? *next : std::nullopt;  // a text does not fail
  if (!found) {
    inner_.reset();
    return found;
  }
  found->line += inner_->line - 1;
  ++element_count_;
  found->place += inner_->first_place;
  found->conversation = inner_->first_place;
  return found;
}

Element ElementReader::fault(uint64_t line, std::string message) {
  return {{}, line, element_count_++, 0, std::move(message)};
}

std::string ElementReader::limit_text() const {
  return std::to_string(element_bytes_max_) + " bytes";
}

void ElementReader::advance() {
  if (buffer_[begin_] == '\n') line_ += 1;
  begin_ += 1;
  consumed_bytes_ += 1;
}

void ElementReader::skip(std::string_view bytes) {
  for (int byte = peek(); byte != kNoByte; byte = peek()) {
    if (bytes.find(static_cast<char>(byte)) == std::string_view::npos) return;
    advance();
  }
}

// Reads more bytes behind those in the buffer, or in their place when all are consumed.
bool ElementReader::fill() {
  if (at_end_ || !failure_.ok()) return false;
  if (begin_ == end_) begin_ = end_ = 0;
  auto count = input_.read(std::span(buffer_).subspan(end_));
  if (!count.ok()) {
    failure_ = std::move(count).status();
    return false;
  }
  at_end_ = *count == 0;
  end_ += *count;
  return *count > 0;
}

}  // namespace varve::transfer
