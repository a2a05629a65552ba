// chat-log.
#include <algorithm>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "cli/arguments/arguments.h"
#include "cli/arguments/command.h"
#include "cli/arguments/operands.h"
#include "cli/arguments/option_values.h"
#include "cli/json_text.h"
#include "cli/view/display_text.h"

namespace varve::cli {
namespace {

constexpr size_t kSpeakerColumnsMax = 16;
constexpr size_t kTimeColumns = 5;  // 14:23
constexpr size_t kTextColumnsMin = 20;
constexpr size_t kTextColumnsMax = 100;
constexpr size_t kDayChars = 10;  // 2026-01-10
constexpr size_t kTimeStart = 11;

const std::vector<std::string> kTurnTypes = {"message", "conversation", "tool_call", "tool_result"};

struct ChatLogOptions {
  Operands operands;
  int64_t limit = 50;
  std::vector<std::string> types;
};

struct Turn {
  std::string day;
  std::string time;
  std::string speaker;
  std::string text;
  Style style = Style::kId;
};

// The text of the first of these members that says something, or its JSON.
std::string text_at(const json::object& object, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto* found = object.if_contains(name);
    if (found == nullptr || found->is_null()) continue;
    std::string text = found->is_string() ? std::string(found->get_string()) : json_of(*found);
    if (!text.empty()) return text;
  }
  return {};
}

// One call of a tool as chat programs write it, after the lines of `said`.
void append_call(const json::value& call, std::string* said) {
  if (!call.is_object()) return;
  const json::object* called = &call.get_object();
  for (const char* name : {"function", "custom"}) {
    const auto* inner = called->if_contains(name);
    if (inner != nullptr && inner->is_object()) called = &inner->get_object();
  }
  const std::string name = string_at(*called, "name");
  if (name.empty()) return;
  const std::string given = text_at(*called, {"arguments", "args", "input"});
  said->append(said->empty() ? "" : "\n").append(name);
  if (!given.empty()) said->append(" ").append(given);
}

// Of the parts of a message, calls are these (docs/export-import.md). Gemini has them in the part.
void append_call_of_part(const json::value& part, std::string* said) {
  if (!part.is_object()) return;
  const std::string type = string_at(part.get_object(), "type");
  if (type == "tool_use" || type == "server_tool_use" || type == "mcp_tool_use") {
    return append_call(part, said);
  }
  for (const char* name : {"functionCall", "function_call"}) {
    if (const auto* call = part.get_object().if_contains(name)) append_call(*call, said);
  }
}

void append_lines(const std::string& text, std::string* said) {
  said->append(said->empty() || text.empty() ? "" : "\n\n").append(text);
}

// A picture or a file that no text tells, after what was said: its kind, and its name.
void append_data(std::string_view kind, const std::string& name, std::string* said) {
  append_lines("[" + std::string(kind) + (name.empty() ? "" : " ") + name + "]", said);
}

// What a model thinks, as Anthropic and Gemini have it among the parts of a message.
bool is_thought_part(const json::value& part) {
  if (!part.is_object()) return false;
  const std::string type = string_at(part.get_object(), "type");
  return type.ends_with("thinking") || type.starts_with("reasoning") ||
         bool_at(part.get_object(), "thought");
}

// Of what a model thinks and calls, nothing; of a picture, and what else has no text, its kind and
// its name.
std::string text_of_part(const json::value& part) {
  if (part.is_string()) return std::string(part.get_string());
  if (!part.is_object() || is_thought_part(part)) return {};
  const json::object& object = part.get_object();
  std::string text = string_at(object, "text");
  if (text.empty()) text = string_at(object_at(object, "text"), "value");
  if (text.empty()) text = string_at(object, "refusal");
  if (text.empty()) text = string_at(object, "content");
  for (const auto& inner : array_at(object, "content")) append_lines(text_of_part(inner), &text);
  if (bool_at(object, "is_error")) text.insert(0, text.empty() ? "error" : "error: ");
  const std::string kind = string_at(object, "type");
  const bool is_told = kind.empty() || kind.ends_with("tool_use") || kind.ends_with("_result");
  if (!text.empty() || is_told || object.contains("text")) return text;
  const json::object& file = object_at(object, "file");
  append_data(kind, text_at(file.empty() ? object : file, {"filename", "title", "name"}), &text);
  return text;
}

// Gemini has them in the part.
void append_data_of_part(const json::value& part, std::string* said) {
  if (!part.is_object() || bool_at(part.get_object(), "thought")) return;
  for (const char* name : {"inlineData", "inline_data", "fileData", "file_data"}) {
    const auto* data = part.get_object().if_contains(name);
    if (data == nullptr || !data->is_object()) continue;
    const std::string kind = text_at(data->get_object(), {"mimeType", "mime_type"});
    append_data(kind.empty() ? "file" : kind,
                text_at(data->get_object(), {"displayName", "display_name"}), said);
  }
}

// Of a fact without a role, these names may mean anything.
void append_data_of_message(const json::object& message, std::string* said) {
  if (string_at(message, "role").empty()) return;
  for (const auto& part : array_at(message, "parts")) append_data_of_part(part, said);
  const auto* part = message.if_contains("parts");  // the only one, without a list
  if (part != nullptr) append_data_of_part(*part, said);
  for (const auto& image : array_at(message, "images")) {
    if (image.is_string()) append_data("image", {}, said);
  }
}

// An import has the parts of a content beside their text; recorded as it is, it is a list.
json::object as_imported(json::object message) {
  if (string_at(message, "role").empty() || message.contains("parts")) return message;
  for (const char* name : {"message", "content"}) {
    const json::array parts = array_at(message, name);
    if (parts.empty()) continue;
    std::string text;
    std::string beside;
    for (const auto& part : parts) {
      append_lines(text_of_part(part), &text);
      append_data_of_part(part, &beside);
      append_call_of_part(part, &beside);
    }
    const bool is_thought = std::all_of(parts.begin(), parts.end(), is_thought_part);
    if (text.empty() && beside.empty() && !is_thought) return message;
    message[name] = text;
    message["parts"] = parts;
    return message;
  }
  return message;
}

// What a message of a chat says and what it calls, a line each.
std::string message_text(const json::object& message) {
  std::string said = text_at(message, {"message", "content", "text", "refusal"});
  append_data_of_message(message, &said);
  for (const auto& call : array_at(message, "tool_calls")) append_call(call, &said);
  if (const auto* call = message.if_contains("function_call")) append_call(*call, &said);
  for (const auto& part : array_at(message, "parts")) append_call_of_part(part, &said);
  const auto* part = message.if_contains("parts");  // the only one, without a list
  if (part != nullptr) append_call_of_part(*part, &said);
  return said;
}

// "web_search" of the kind of an item of OpenAI's responses, "web_search_call". Empty otherwise.
std::string tool_of_item(const json::object& object) {
  constexpr std::string_view kCall = "_call";
  std::string kind = string_at(object, "type");
  const bool has_id = object.contains("call_id") || object.contains("id");
  if (!kind.ends_with(kCall) || !has_id || object.contains("role")) return {};
  return kind.erase(kind.size() - kCall.size());
}

std::string tool_name(const json::object& object) {
  return text_at(object, {"name", "tool", "tool_name"});
}

// All members but those that are told otherwise.
std::string other_members(json::object object) {
  for (const char* said : {"name", "tool", "tool_name", "call_id", "tool_call_id", "role"}) {
    object.erase(said);
  }
  return object.empty() ? "" : json_of(object);
}

std::string detail_of_item(json::object item) {
  if (tool_of_item(item) == "image_generation") item.erase("result");  // the bytes of a picture
  for (const char* said : {"type", "id", "status"}) item.erase(said);
  return other_members(std::move(item));
}

// Of a call of a server's tool, which has what came out.
std::string outcome_of_item(const json::object& item) {
  const std::string output = text_at(item, {"output"});
  const std::string error = text_at(item, {"error"});
  return (output.empty() ? "" : "\n" + output) + (error.empty() ? "" : "\nerror: " + error);
}

// A tool's input or output: under one of the usual names, else everything not shown otherwise.
std::string tool_detail(const json::object& object) {
  const bool is_item = !tool_of_item(object).empty();
  if (std::string input = text_at(object, {"arguments", "args", "input"}); !input.empty()) {
    return is_item ? input + outcome_of_item(object) : input;
  }
  if (is_item && tool_name(object).empty()) return detail_of_item(object);
  std::string detail = text_at(object, {"result", "output"});
  if (detail.empty()) detail = message_text(object);
  const auto* error = object.if_contains("error");
  const bool is_failure = error != nullptr && *error != json::value(false);
  const std::string why = is_failure ? text_at(object, {"error"}) : std::string();
  if (detail.empty())
    detail = why;
  else if (!why.empty())
    detail += "\nerror: " + why;
  return detail.empty() ? other_members(object) : detail;
}

// Whether it has a role, and no other member that is more than null or empty, but whose it is, when
// it came, what it took and what the model thought. As in a context (docs/context.md#formats): of a
// fact about somebody with a role, all of that is what is known.
bool is_silent(const json::object& message, std::string_view type) {
  if (string_at(message, "role").empty()) return false;
  static constexpr std::string_view kUnsaid[] = {"call_id",
                                                 "tool_call_id",
                                                 "id",
                                                 "type",
                                                 "name",
                                                 "model",
                                                 "timestamp",
                                                 "created_at",
                                                 "created",
                                                 "usage",
                                                 "reasoning_content"};
  const auto is_unsaid = [](std::string_view name, const json::value& value) {
    if (name != "parts") {
      return std::find(std::begin(kUnsaid), std::end(kUnsaid), name) != std::end(kUnsaid);
    }
    return value.is_array() &&
           std::all_of(value.get_array().begin(), value.get_array().end(), is_thought_part);
  };
  const bool is_of_chat = type == "message" || type == "tool_call" || type == "tool_result";
  return std::all_of(message.begin(), message.end(), [&](const auto& member) {
    const std::string value = json_of(member.value());
    const bool is_empty = value == "null" || value == "\"\"" || value == "[]";
    return is_empty || member.key() == "role" ||
           (is_of_chat && is_unsaid(member.key(), member.value()));
  });
}

Style style_of(std::string_view type, std::string_view role) {
  if (type == "tool_call" || type == "tool_result") return Style::kTag;
  return role == "assistant" ? Style::kType : Style::kId;
}

Turn turn_of(const json::object& entry) {
  Turn turn;
  const std::string time = format_time(string_at(entry, "timestamp"));
  turn.day = time.substr(0, kDayChars);
  if (time.size() > kTimeStart) turn.time = time.substr(kTimeStart, kTimeColumns);
  const std::string type = string_at(entry, "type");
  turn.speaker = type;
  const auto* content = entry.if_contains("content");
  if (content != nullptr && content->is_object()) {
    const json::object object = as_imported(content->get_object());
    const std::string role = string_at(object, "role");
    const bool is_tool = type == "tool_call" || type == "tool_result";
    if (!role.empty() && !is_tool) turn.speaker = role;
    if (is_tool) turn.text = tool_name(object);
    if (is_tool && turn.text.empty()) turn.text = tool_of_item(object);
    const std::string said = is_tool ? tool_detail(object) : message_text(object);
    turn.text += (turn.text.empty() || said.empty() ? "" : " ") + said;
    if (turn.text.empty() && !is_silent(object, type)) turn.text = json_of(object);
    turn.style = style_of(type, role);
  } else if (content != nullptr) {
    turn.text = content->is_string() ? std::string(content->get_string()) : json_of(*content);
  }
  turn.speaker = truncate(printable(turn.speaker, Lines::kJoin), kSpeakerColumnsMax);
  return turn;
}

void print_turn(Invocation& invocation, const Turn& turn, size_t speaker_columns) {
  const Terminal& terminal = invocation.terminal();
  const size_t indent = kTimeColumns + 2 + speaker_columns + 2;
  const size_t width = terminal.width() == 0
                           ? 0
                           : std::clamp(terminal.width() - std::min(indent, terminal.width()),
                                        kTextColumnsMin, kTextColumnsMax);
  const std::vector<std::string> lines = wrap(printable(turn.text, Lines::kKeep), width);
  invocation.print(terminal.paint(Style::kFaint, pad_right(turn.time, kTimeColumns)) + "  " +
                   terminal.paint(turn.style, pad_right(turn.speaker, speaker_columns)) +
                   (lines.empty() || lines[0].empty() ? "" : "  " + lines[0]));
  for (size_t i = 1; i < lines.size(); ++i) {
    invocation.print(lines[i].empty() ? "" : std::string(indent, ' ') + lines[i]);
  }
}

void print_turns(Invocation& invocation, const json::array& results) {
  std::vector<Turn> turns;
  size_t columns = 0;
  for (auto result = results.rbegin(); result != results.rend(); ++result) {
    turns.push_back(turn_of(object_at(result->as_object(), "entry")));
    columns = std::max(columns, display_width(turns.back().speaker));
  }
  std::string day;
  for (const Turn& turn : turns) {
    if (turn.day != day) {
      if (!day.empty()) invocation.print("");
      invocation.print(invocation.terminal().paint(Style::kHeading, turn.day));
    }
    day = turn.day;
    print_turn(invocation, turn, columns);
  }
}

int run_chat_log(Invocation& invocation, const ChatLogOptions& options) {
  Result<OpenSession> open = open_session(invocation, options.operands);
  if (!open.ok()) return invocation.fail(open.failure());
  json::object query{{"types", array_of(options.types.empty() ? kTurnTypes : options.types)},
                     {"sort_by", "time"},
                     {"limit", limit_of_query(options.limit)}};
  Result<Results> results = open->session.query(json_of(query));
  if (!results.ok()) {
    name_option_of_member(results.failure(), {{"types", "--type"}});
    return invocation.fail_in_session(std::move(results.failure()), open->session.id());
  }
  Result<std::string_view> text = results->json();
  if (!text.ok()) return invocation.fail(text.failure());
  const json::object answer = parse_object(*text);
  if (invocation.json()) {
    std::vector<std::string> entries;
    for (const std::string_view item : raw_items(raw_member(*text, "results"))) {
      entries.emplace_back(raw_member(item, "entry"));
    }
    std::reverse(entries.begin(), entries.end());
    invocation.print(array_text(entries));
    return kExitOk;
  }
  print_turns(invocation, array_at(answer, "results"));
  if (results->empty()) invocation.note("No turns.");
  if (!string_at(answer, "next").empty()) {
    invocation.note("(The last " + format_count(static_cast<int64_t>(results->size())) +
                    "; -n 0 shows all.)");
  }
  return kExitOk;
}

Runner declare_chat_log(CLI::App& app) {
  auto options = std::make_shared<ChatLogOptions>();
  options->operands.declare(app, 1);
  app.add_option(kLimitNames, options->limit, "At most this many turns; 0 for all (50)")
      ->type_name("N")
      ->transform(whole_number());
  app.add_option("-t,--type", options->types,
                 "Entries of this type, instead of messages and tool calls; may be repeated")
      ->allow_extra_args(false)
      ->type_name("TYPE");
  return [options](Invocation& invocation) { return run_chat_log(invocation, *options); };
}

}  // namespace

Command chat_log_command() {
  return {"chat-log",
          "show a session as a conversation",
          "[SESSION]",
          "Shows the last messages, tool calls and their results in order of time, by day: the "
          "time in UTC, who speaks, and what they say. With --json an array of the stored entries.",
          "varve chat-log support\nvarve chat-log support -n 0 | less\n"
          "varve chat-log support --type message --type summary",
          &declare_chat_log};
}

}  // namespace varve::cli
