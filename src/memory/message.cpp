#include "memory/message.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/time.h"
#include "entry/entry.h"
#include "json/object_reader.h"
#include "text/characters.h"
#include "text/line_ends.h"
#include "transfer/chat_text.h"
#include "transfer/convert.h"

namespace varve::memory {

namespace {

constexpr size_t kRoleBytesMax = 64;
constexpr std::string_view kIndent = "  ";
constexpr std::array<std::string_view, 4> kOfTheLog = {"batch", "checksum", "schema_version",
                                                       "seq"};

// What a message says, calls or answers beside its content, and who says it. In the log it is in
// the content, where queries and contexts look.
constexpr std::array<std::string_view, 8> kSaidBesideContent = {
    "function_call", "images",       "name",       "parts",
    "refusal",       "tool_call_id", "tool_calls", "tool_name"};

bool is_role(std::string_view text) {
  return !text.empty() && text.size() <= kRoleBytesMax && text::is_one_line(text);
}

Status missing_content(std::string_view text, json::Value root) {
  const uint64_t offset = root.document().offset_of(root, text);
  return {Code::kInvalidArgument,
          "a message needs \"content\"",
          {.member = "content", .offset = offset}};
}

// Many programs write null for what is not there.
void leave_out_nulls(json::Tree* message) {
  const auto leave_out = [message](std::string_view name) {
    const json::Tree* member = message->get(name);
    if (member != nullptr && member->is_null()) message->erase(name);
  };
  std::for_each(entry::kGivenMembers.begin(), entry::kGivenMembers.end(), leave_out);
  leave_out("type");
}

// As an import has it: the item is the content, but for what an entry is given. Its own id and kind
// are the item's.
json::Tree message_of_item(std::string_view type, const json::Tree& item) {
  json::Tree message = json::Tree::object();
  json::Tree content = json::Tree::object();
  for (const auto& [name, value] : item.members()) {
    const bool is_entrys = name != "id" && entry::is_given_member(name);
    (is_entrys ? message : content).set(name, value);
  }
  message.set("content", std::move(content));
  message.set("type", json::Tree::string(type));
  return message;
}

// Null when the content is no object or has no such member.
const json::Tree* member_of_content(const json::Tree& message, std::string_view name) {
  const json::Tree* content = message.get("content");
  return content != nullptr && content->is_object() ? content->get(name) : nullptr;
}

bool has_any(const json::Tree& entry, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return member_of_content(entry, name) != nullptr;
  });
}

// Whether the content is what an import leaves of a message without text, as of a model that only
// called tools.
bool is_without_text(const json::Tree& entry) {
  const std::string type = entry.get_string("type");
  return (type == "message" || type == "tool_call" || type == "tool_result") &&
         has_any(entry, {"function_call", "parts", "refusal", "tool_calls"}) &&
         !has_any(entry, {"message", "content", "text", "result", "output"});
}

// Whether an entry is a message in the log's form. A fact about somebody's role is none.
bool is_said(const json::Tree& entry) {
  const json::Tree* role = member_of_content(entry, "role");
  if (role == nullptr || !role->is_string()) return false;
  return entry.get_string("type") == "message" || has_any(entry, {"message"}) ||
         is_without_text(entry);
}

// Whether a content was given as it is, as an object that would pass for a message.
bool is_wrapped(const json::Tree& entry) {
  const json::Tree* role = member_of_content(entry, "role");
  return role != nullptr && role->is_null() && member_of_content(entry, "message") != nullptr &&
         entry.get("content")->members().size() == 2;
}

// Whether a message was given in the form of the log, which has the role in the content. What a
// tool returns may be any object: it is not said by the role in it.
bool is_given_as_entry(const json::Tree& message) {
  return message.get("role") == nullptr && message.get_string("type") == "message" &&
         is_said(message);
}

// Blanks at the start of a line would make it one more line of the message before it. Empty when
// there is nothing else.
std::string without_unseen_start(std::string text) {
  return text.erase(0, text::behind_unseen(text));
}

std::string speaker_of(const json::Tree& message) {
  std::string role = without_unseen_start(message.get_string("role"));
  if (!role.empty()) return role;
  if (is_given_as_entry(message)) {
    role = without_unseen_start(member_of_content(message, "role")->text());
    if (is_role(role)) return role;
  }
  std::string type = without_unseen_start(message.get_string("type"));
  return is_role(type) ? type : "entry";
}

// What somebody says, with the role: the message, or the content of one in the form of the log.
const json::Tree& said_in(const json::Tree& message) {
  return is_given_as_entry(message) ? *message.get("content") : message;
}

// Which of those with its role says it. Empty when nobody is named.
std::string name_of(const json::Tree& message) {
  const json::Tree& said = said_in(message);
  std::string name = said.get_string("name");
  return said.get_string("role").empty() || !is_role(name) ? std::string() : name;
}

std::string text_or_json(const json::Tree& content) {
  return content.is_string() ? content.text() : content.canonical();
}

// Of a list of parts, without the bytes of pictures. What a tool gives may be any list.
std::string text_of_list(const json::Tree& list, std::string_view role) {
  const bool is_of_tool = role == "tool" || role == "function";
  if (is_of_tool && !transfer::is_list_of_parts(list)) return list.canonical();
  std::string text = transfer::text_of_content(list);
  return text.empty() && !transfer::is_unsaid(list) ? list.canonical() : text;
}

// Where there is no content: what a model refuses, the parts that Gemini has beside it, and what
// was said aloud.
std::string text_beside_content(const json::Tree& said) {
  std::string text = said.get_string("refusal");
  const json::Tree* parts = said.get("parts");
  if (text.empty() && parts != nullptr) text = transfer::text_of_content(*parts);
  const json::Tree* audio = said.get("audio");
  if (text.empty() && audio != nullptr) text = audio->get_string("transcript");
  return text;
}

std::string content_text(const json::Tree& message) {
  const json::Tree& said = said_in(message);
  const json::Tree* content = message.get("content");
  if (&said != &message && said.get("message") != nullptr) content = said.get("message");
  if (content == nullptr) return {};
  const std::string role = said.get_string("role");
  if (role.empty()) return text_or_json(*content);
  if (content->is_null()) return text_beside_content(said);
  return content->is_array() ? text_of_list(*content, role) : text_or_json(*content);
}

// A model that calls tools may say nothing else.
std::string text_of(const json::Tree& message) {
  std::string text = content_text(message);
  const json::Tree& said = said_in(message);
  const auto append = [&text](const std::string& line) {
    if (!line.empty()) text.append(text.empty() ? "" : "\n").append(line);
  };
  const std::string_view content = &said == &message ? "content" : "message";
  for (const auto name : {content, std::string_view("parts")}) {
    const json::Tree* parts = said.get(name);
    if (parts != nullptr) text = transfer::with_answered_calls(std::move(text), *parts);
  }
  append(transfer::data_in(said));
  for (const auto& call : transfer::calls_in(said, {content, "parts"})) {
    if (!call.is_answered) append(call.text);
  }
  return text;
}

}  // namespace

Result<json::Tree> read_message(std::string_view text) {
  json::Document document;
  VARVE_TRY(document.parse(text));
  const json::Value root = document.root();
  if (!root.is_object()) return json::invalid_at(text, root, "a message must be a JSON object");
  json::Tree message = json::Tree::from(root);
  leave_out_nulls(&message);
  if (const auto item_type = transfer::type_of_item(root); !item_type.empty()) {
    message = message_of_item(item_type, message);
  } else if (!root.find("content")) {
    if (!root.find("role") || !transfer::says_beside_content(message)) {
      return missing_content(text, root);
    }
    message.set("content", json::Tree());
  }
  if (const auto role = root.find("role")) {
    if (!role->is_string() || !is_role(role->text())) {
      return json::invalid_at(text, *role, "must be one line of 1 to 64 bytes");
    }
  }
  if (const auto timestamp = root.find("timestamp"); message.get("timestamp") != nullptr) {
    const auto time_ms = timestamp->is_string() ? parse_rfc3339(timestamp->text()) : std::nullopt;
    if (!time_ms)
      return json::invalid_at(text, *timestamp,
                              "must be an RFC 3339 time such as \"2026-01-10T14:23:45.678Z\"");
    message.set("timestamp", json::Tree::string(format_rfc3339(*time_ms)));
  }
  return message;
}

json::Tree entry_of_message(json::Tree message) {
  const bool has_role = message.get("role") != nullptr;
  if (message.get("type") == nullptr) {
    const auto type = has_role ? transfer::type_of_message(message) : "observation";
    message.set("type", json::Tree::string(type));
  }
  if (is_given_as_entry(message)) return message;
  if (!has_role && !is_said(message) && !is_wrapped(message)) return message;
  json::Tree content = json::Tree::object();
  content.set("role", has_role ? *message.get("role") : json::Tree());
  content.set("message", *message.get("content"));
  for (const auto name : kSaidBesideContent) {
    const json::Tree* said = has_role ? message.get(name) : nullptr;
    if (said == nullptr) continue;
    content.set(name, *said);
    message.erase(name);
  }
  message.erase("role");
  message.set("content", std::move(content));
  return message;
}

Result<json::Tree> message_of_entry(std::string_view line) {
  auto parsed = json::Tree::parse(line, entry::line_limits());
  if (!parsed.ok() || !parsed->is_object()) {
    return Status(Code::kCorruption, "a stored entry is not a JSON object");
  }
  json::Tree message = *std::move(parsed);
  for (const auto name : kOfTheLog) message.erase(name);
  for (const auto name : {"tags", "references"}) {
    const json::Tree* list = message.get(name);
    if (list != nullptr && list->items().empty()) message.erase(name);
  }
  if (message.get_double("decay_factor") == 1) message.erase("decay_factor");  // not given
  if (message.get("role") != nullptr) return message;
  if (!is_wrapped(message) && !is_said(message)) return message;
  const json::Tree content = *message.get("content");
  if (is_without_text(message)) message.set("content", json::Tree());
  if (const json::Tree* text = content.get("message")) message.set("content", *text);
  for (const auto& [name, value] : content.members()) {
    const bool is_mark = name == "role" && value.is_null();
    if (!is_mark && name != "message" && message.get(name) == nullptr) message.set(name, value);
  }
  return message;
}

std::string prompt_line(const json::Tree& message) {
  std::string line = transfer::start_of_line(speaker_of(message), name_of(message));
  text::append_indented(text_of(message), kIndent, &line);
  line += '\n';
  return line;
}

}  // namespace varve::memory
