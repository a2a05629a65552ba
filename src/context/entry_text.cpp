#include "context/entry_text.h"

#include <algorithm>
#include <optional>

#include "entry/content_key.h"
#include "entry/entry.h"
#include "json/canonical.h"

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

// A label is one line, whatever the entry calls itself.
std::string one_line(std::string_view text) {
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return line;
}

std::string tool_text(json::Value content, Names details) {
  std::string text;
  const auto name = first_of(content, {"name", "tool"});
  if (name) text = one_line(text_of(*name));
  const auto detail = first_of(content, details);
  if (!name && !detail) return text_of(content);
  if (detail) {
    if (!text.empty()) text.push_back(' ');
    text += text_of(*detail);
  }
  return text;
}

Speaker speaker_of(std::string_view role) {
  if (role == "user") return Speaker::kUser;
  if (role == "assistant") return Speaker::kAssistant;
  return Speaker::kOther;
}

void read_content(json::Value content, std::string_view type, EntryText* out) {
  if (const auto role = content.find("role"); role && role->is_string()) {
    out->role = one_line(role->text());
  }
  if (const auto call = first_of(content, {"call_id", "tool_call_id"}); call && call->is_string()) {
    const bool is_own_name = content.find("call_id").has_value();
    out->call_id = call->text();
    out->call_key = entry::content_key(is_own_name ? "call_id" : "tool_call_id", *call);
  }
  if (type == "tool_call" || type == "tool_result") {
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

}  // namespace

Result<EntryText> read_entry_text(std::string_view line, json::Document& scratch) {
  VARVE_TRY(scratch.parse(line, entry::line_limits()));
  const json::Value root = scratch.root();
  const auto type = root.find("type");
  const auto content = root.find("content");
  if (!type || !content) return Status(Code::kCorruption, "a line is no entry");
  EntryText out;
  out.label = one_line(type->text());
  if (content->is_object()) {
    read_content(*content, type->text(), &out);
  } else {
    out.text = text_of(*content);
  }
  return out;
}

}  // namespace varve::context
