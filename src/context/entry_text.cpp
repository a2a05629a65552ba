#include "context/entry_text.h"

#include <algorithm>
#include <optional>

#include "entry/content_key.h"
#include "entry/entry.h"
#include "json/canonical.h"
#include "json/raw.h"
#include "text/line_ends.h"

namespace varve::context {

namespace {

using Names = std::initializer_list<std::string_view>;

std::optional<json::Value> first_of(json::Value object, Names names) {
  for (const auto name : names) {
    if (const auto value = object.find(name)) return value;
  }
  return std::nullopt;
}

std::string text_of(json::Value value) {
  if (value.is_string()) return std::string(value.text());
  std::string text;
  json::append_canonical(value, text);
  return text;
}

// A label stands at the start of a line, where no mark of a frame's may be but the frame's own.
std::string label_of(std::string_view text) {
  std::string label = text::make_one_line(text);
  const size_t marks = std::min(label.find_first_not_of("`="), label.size());
  return label.replace(0, marks, marks, ' ');
}

// What a tool was given or gave when it is under no name that is known: all members but those that
// are said otherwise. Empty when there are none.
std::string other_members(json::Value content) {
  static constexpr std::string_view kSaid[] = {"name", "tool", "call_id", "tool_call_id", "role"};
  std::string text;
  content.for_each_member([&](std::string_view name, json::Value value) {
    if (std::find(std::begin(kSaid), std::end(kSaid), name) != std::end(kSaid)) return true;
    text.push_back(text.empty() ? '{' : ',');
    json::append_string(name, text);
    text.push_back(':');
    json::append_canonical(value, text);
    return true;
  });
  return text.empty() ? text : text + "}";
}

std::string tool_text(json::Value content, Names details) {
  std::string text;
  const auto name = first_of(content, {"name", "tool"});
  if (name) text = text::make_one_line(text_of(*name));
  const auto detail = first_of(content, details);
  if (!name && !detail) return text_of(content);
  const std::string what = detail ? text_of(*detail) : other_members(content);
  if (!text.empty() && !what.empty()) text.push_back(' ');
  return text + what;
}

bool is_tool(std::string_view type) { return type == "tool_call" || type == "tool_result"; }

Speaker speaker_of(std::string_view role) {
  if (role == "user") return Speaker::kUser;
  if (role == "assistant") return Speaker::kAssistant;
  return Speaker::kOther;
}

void read_content(json::Value content, std::string_view type, EntryText* out) {
  if (const auto role = content.find("role"); role && role->is_string()) {
    out->role = label_of(role->text());
  }
  if (const auto call = first_of(content, {"call_id", "tool_call_id"}); call && call->is_string()) {
    const bool is_own_name = content.find("call_id").has_value();
    out->call_id = call->text();
    out->call_key = entry::content_key(is_own_name ? "call_id" : "tool_call_id", *call);
  }
  if (is_tool(type)) {
    const bool is_call = type == "tool_call";
    out->speaker = is_call ? Speaker::kAssistant : Speaker::kTool;
    out->text = is_call ? tool_text(content, {"arguments", "args", "input", "message"})
                        : tool_text(content, {"result", "output", "content", "message", "error"});
    return;
  }
  out->speaker = speaker_of(out->role);
  if (!out->role.empty()) out->label = out->role;
  const auto text = first_of(content, {"message", "content", "text"});
  out->text = text ? text_of(*text) : text_of(content);
}

// What a plain message says, as most entries are: its members as they stand in the line.
struct RawMessage {
  std::string_view type;
  std::string_view content;
  std::string_view role;
  std::string_view message;  // by its names, those of read_content()
  std::string_view other_content;
  std::string_view text;

  bool read(std::string_view line) {
    const bool is_whole = json::for_each_raw_member(line, [&](auto name, auto value) {
      if (name == "type") type = value;
      if (name == "content") content = value;
      return true;
    });
    if (!is_whole || type.empty() || content.empty()) return false;
    if (content.front() == '"') return true;
    return content.front() == '{' && json::for_each_raw_member(content, [&](auto name, auto value) {
             if (name == "role") role = value;
             if (name == "message") message = value;
             if (name == "content") other_content = value;
             if (name == "text") text = value;
             return name != "call_id" && name != "tool_call_id";
           });
  }
  [[nodiscard]] std::string_view said() const {
    if (content.front() == '"') return content;
    if (!message.empty()) return message;
    return other_content.empty() ? text : other_content;
  }
};

// The same as from a Document at a fraction of the cost; false for an entry that is not so simple.
bool read_plain(std::string_view line, EntryText* out) {
  RawMessage raw;
  std::string label;
  if (!raw.read(line) || !json::decode_raw_string(raw.type, &label) || is_tool(label)) return false;
  if (!json::decode_raw_string(raw.said(), &out->text)) return false;
  if (!raw.role.empty()) {
    if (!json::decode_raw_string(raw.role, &out->role)) return false;
    out->role = label_of(out->role);
  }
  out->speaker = speaker_of(out->role);
  out->label = out->role.empty() ? label_of(label) : out->role;
  return true;
}

}  // namespace

Result<EntryText> read_entry_text(std::string_view line, json::Document& scratch) {
  if (EntryText plain; read_plain(line, &plain)) return plain;
  VARVE_TRY(scratch.parse(line, entry::line_limits()));
  const json::Value root = scratch.root();
  const auto type = root.find("type");
  const auto content = root.find("content");
  if (!type || !content) return Status(Code::kCorruption, "a line is no entry");
  EntryText out;
  out.label = label_of(type->text());
  if (content->is_object()) {
    read_content(*content, type->text(), &out);
  } else {
    out.text = text_of(*content);
  }
  return out;
}

}  // namespace varve::context
