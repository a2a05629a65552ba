// Messages of a conversation with a model: {"role","content"}, where content is text or a list of
// parts. Tool calls and their results are in the message or among the parts.
#include <charconv>
#include <cmath>

#include "base/time.h"
#include "transfer/chat_text.h"
#include "transfer/convert.h"

namespace varve::transfer {
namespace {

using json::Tree;

constexpr double kSecondsBelow = 1e11;  // larger numbers are taken for milliseconds
constexpr double kTimeMsMax = 2.5e14;   // the year 9892; larger numbers are taken for smaller units
constexpr double kTimeNsMax = 9.3e18;

std::optional<int64_t> time_of_number(double number) {
  if (!(number >= 0 && number <= kTimeNsMax)) return std::nullopt;
  if (number < kSecondsBelow) number *= 1000;
  while (number > kTimeMsMax) number /= 1000;
  return static_cast<int64_t>(std::llround(number));
}

// With the offset as RFC 3339 has it: Python, git and PostgreSQL write "+0100", " +0100", "+01" and
// " UTC". Many programs say nothing: that is taken for UTC, which is nearer to the truth than the
// time of the import.
std::string with_offset(const std::string& text) {
  constexpr size_t kTimeBegin = 11;  // behind the day, which has signs of its own
  const size_t end = text.find_first_of(" +-", kTimeBegin);
  if (end == std::string::npos) return text + "Z";
  std::string offset = text.substr(text[end] == ' ' ? end + 1 : end);
  if (offset == "UTC") offset = "Z";
  constexpr size_t kHourEnd = 3;  // "+01"
  if (offset.size() == kHourEnd) offset += "00";
  if (offset.size() == kHourEnd + 2) offset.insert(kHourEnd, ":");
  return text.substr(0, end) + offset;
}

// Slack and others write a number.
std::optional<int64_t> time_of_text(const std::string& text) {
  if (const auto read = parse_rfc3339(text)) return read;
  if (const auto read = parse_rfc3339(with_offset(text))) return read;
  if (text.find_first_not_of("0123456789.") != std::string::npos) return std::nullopt;
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && rest == end ? time_of_number(number) : std::nullopt;
}

// The first time in the message.
std::optional<int64_t> time_of(const Tree& message) {
  for (const auto name : {"timestamp", "created_at", "createdAt", "created"}) {
    const Tree* time = message.get(name);
    if (time == nullptr) continue;
    const auto read = time->is_string() ? time_of_text(time->text())
                                        : time_of_number(message.get_double(name, -1));
    if (read) return read;
  }
  return std::nullopt;
}

// Whether a list of parts, or a single one, holds no more than its text.
bool is_one_text(const Tree& content) {
  if (!content.is_object() && content.items().size() != 1) return false;
  const Tree& part = content.is_object() ? content : content.items().front();
  if (part.is_string()) return true;
  return part.is_object() && part.members().size() == 2 && part.get("text") != nullptr &&
         part.get("text")->is_string() && is_text_part(part);
}

// Many programs write null for what is not there.
bool has(const Tree& message, std::string_view name) {
  const Tree* member = message.get(name);
  return member != nullptr && !member->is_null();
}

// The entry's content: the message's text under "message", a list of parts under "parts", every
// other member unchanged. Names that the message uses itself are not overwritten.
Tree content_of(const Tree& message) {
  Tree content = Tree::object();
  for (const auto& [name, value] : message.members()) {
    if (name != "content") content.set(name, value);
  }
  const Tree* given = message.get("content");
  if (given == nullptr || given->is_null()) {
    const Tree* audio = message.get("audio");  // what a model said aloud
    std::string said = audio == nullptr ? "" : audio->get_string("transcript");
    for (const auto name : {"parts", "blocks"}) {  // as Gemini and LlamaIndex have them
      const Tree* parts = message.get(name);
      if (said.empty() && parts != nullptr && !parts->is_string()) said = text_of_content(*parts);
    }
    if (!said.empty() && !has(message, "message")) {
      content.set("message", Tree::string(said));
    }
    return content;
  }
  const auto free_name = [&](std::string name, std::string_view other) {
    if (has(message, name)) name = other;
    while (has(message, name)) name += '_';
    return name;
  };
  const std::string text = text_of_content(*given);
  if (!text.empty() || given->is_string()) {
    content.set(free_name("message", "content_text"), Tree::string(text));
  }
  if (!given->is_string() && !is_one_text(*given)) {
    content.set(free_name("parts", "content_parts"), *given);
  }
  return content;
}

// All members; of an output in parts, or a single one, the text and the parts, as of a message's.
Tree content_of_item(const Tree& item) {
  const Tree* output = item.get("output");
  if (output == nullptr) return item;
  const bool is_part = output->is_object() && !output->get_string("type").empty();
  if (!output->is_array() && !is_part) return item;
  Tree message = item;
  message.erase("output");
  message.set("content", *output);
  return content_of(message);
}

}  // namespace

std::string_view type_of_message(const Tree& message) {
  const std::string role = message.get_string("role");
  if (role == "tool" || role == "function") return "tool_result";
  if (!call_objects(message, {"content", "parts"}).empty()) return "tool_call";
  return result_objects(message, {"content", "parts"}).empty() ? "message" : "tool_result";
}

Result<Tree> entry_of_message(json::Value element, uint64_t place) {
  const auto role = element.is_object() ? element.find("role") : std::nullopt;
  const std::string_view item_type = type_of_item(element);
  if (item_type.empty() && (!role || !role->is_string())) {
    return Status(Code::kInvalidArgument, "a message must be an object with a \"role\"");
  }
  const Tree message = Tree::from(element);
  Tree entry = Tree::object();
  entry.set("id",
            Tree::string(stable_id("chat", std::to_string(place) + ":" + message.canonical())));
  entry.set("type", Tree::string(item_type.empty() ? type_of_message(message) : item_type));
  if (const auto time_ms = time_of(message)) {
    entry.set("timestamp", Tree::string(format_rfc3339(*time_ms)));
  }
  entry.set("content", item_type.empty() ? content_of(message) : content_of_item(message));
  return entry;
}

}  // namespace varve::transfer
