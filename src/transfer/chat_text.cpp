#include "transfer/chat_text.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "transfer/convert.h"

namespace varve::transfer {
namespace {

using json::Tree;

void append_text(std::string_view text, std::string& out) {
  if (text.empty()) return;
  if (!out.empty()) out += "\n\n";
  out += text;
}

template <typename Visit>
void for_each_in(const Tree& message, std::string_view list, Visit visit) {
  const Tree* found = message.get(list);
  if (found == nullptr) return;
  for (const Tree& item : found->items()) visit(item);
}

// Unless it tells no name. What is called may be in a member of the call.
void append_call(const Tree& call, std::vector<ToolTurn>* calls) {
  const Tree* called = &call;
  for (const auto name : {"function", "custom"}) {
    const Tree* inner = call.get(name);
    if (inner != nullptr && inner->is_object()) called = inner;
  }
  ToolTurn turn{call.get_string("id"), called->get_string("name"), false};
  if (turn.text.empty()) return;
  for (const auto name : {"arguments", "args", "input"}) {
    const Tree* given = called->get(name);
    if (given == nullptr || given->is_null()) continue;
    const std::string text = given->is_string() ? given->text() : given->canonical();
    if (!text.empty()) turn.text.append(" ").append(text);
    break;
  }
  turn.is_answered = is_answered_call(call.get_string("type"));
  calls->push_back(std::move(turn));
}

// Gemini's parts have no type.
bool is_thought(const Tree& part) {
  const std::string kind = part.get_string("type");
  return kind.ends_with("thinking") || kind.starts_with("reasoning") || part.get_bool("thought");
}

// What a model thinks is not what it says; calls and results are told as such.
bool is_unsaid_part(const Tree& part) {
  const std::string kind = part.get_string("type");
  return is_thought(part) || kind.ends_with("tool_use") || kind.ends_with("_result");
}

// The first text under one of these names.
std::string first_text(const Tree& object, std::initializer_list<std::string_view> names) {
  for (const auto name : names) {
    if (std::string text = object.get_string(name); !text.empty()) return text;
  }
  return {};
}

// Of a part that has no text, such as a picture: its kind, and the name of its file. Its bytes say
// nothing to who reads.
std::string mark_of(const Tree& part) {
  const std::string kind = part.get_string("type");
  if (kind.empty() || is_unsaid_part(part) || part.get("text") != nullptr) return {};
  const Tree* file = part.get("file");
  const Tree& named = file != nullptr && file->is_object() ? *file : part;
  const std::string name = first_text(named, {"filename", "title", "name"});
  return "[" + kind + (name.empty() ? "" : " " + name) + "]";
}

// Its own, what it refuses, and that of a document in it.
std::string text_of_part(const Tree& part) {
  if (part.is_string()) return part.text();
  if (!part.is_object() || is_thought(part)) return {};
  std::string text = first_text(part, {"text", "refusal"});
  // As a message of OpenAI's assistants has it, with its annotations.
  const Tree* annotated = part.get("text");
  if (annotated != nullptr && annotated->is_object()) text = annotated->get_string("value");
  if (const Tree* inner = part.get("content")) append_text(text_of_content(*inner), text);
  for (const auto name : {"resource", "source"}) {
    const Tree* document = part.get(name);
    if (document == nullptr || !document->is_object()) continue;
    append_text(document->get_string("text"), text);
    if (const Tree* inner = document->get("content")) append_text(text_of_content(*inner), text);
    if (document->get_string("type") == "text") append_text(document->get_string("data"), text);
  }
  // The model would take what failed for done.
  if (part.get_bool("is_error")) return text.empty() ? "error" : "error: " + text;
  return text.empty() ? mark_of(part) : text;
}

}  // namespace

std::string text_of_content(const Tree& content) {
  if (content.is_string()) return content.text();
  if (content.is_object()) return text_of_part(content);  // one part, without a list
  std::string text;
  for (const Tree& part : content.items()) append_text(text_of_part(part), text);
  return text;
}

bool is_unsaid(const Tree& parts) {
  return std::all_of(parts.items().begin(), parts.items().end(),
                     [](const Tree& part) { return part.is_object() && is_unsaid_part(part); });
}

std::vector<ToolTurn> calls_in(const Tree& message) {
  std::vector<ToolTurn> calls;
  for_each_in(message, "tool_calls", [&](const Tree& call) { append_call(call, &calls); });
  if (const Tree* call = message.get("function_call")) append_call(*call, &calls);
  for_each_in(message, "parts", [&](const Tree& part) {
    if (is_call(part.get_string("type"))) append_call(part, &calls);
  });
  return calls;
}

std::vector<ToolTurn> results_in(const Tree& message) {
  std::vector<ToolTurn> results;
  for_each_in(message, "parts", [&](const Tree& part) {
    if (part.get_string("type") != "tool_result") return;
    results.push_back({part.get_string("tool_use_id"), text_of_part(part), false});
  });
  return results;
}

std::string said_beside_results(const Tree& parts) {
  Tree said = Tree::array();
  bool has_result = false;
  for (const Tree& part : parts.items()) {
    const bool is_result = part.is_object() && part.get_string("type") == "tool_result";
    has_result = has_result || is_result;
    if (!is_result) said.push(part);
  }
  return has_result ? text_of_content(said) : std::string();
}

}  // namespace varve::transfer
