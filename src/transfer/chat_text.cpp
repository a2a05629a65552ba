#include "transfer/chat_text.h"

#include <string_view>
#include <utility>

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
  for (const auto name : {"arguments", "input"}) {
    const Tree* given = called->get(name);
    if (given == nullptr || given->is_null()) continue;
    const std::string text = given->is_string() ? given->text() : given->canonical();
    if (!text.empty()) turn.text.append(" ").append(text);
    break;
  }
  turn.is_answered = call.get_string("type") == "server_tool_use";
  calls->push_back(std::move(turn));
}

}  // namespace

std::string text_of_content(const Tree& content) {
  if (content.is_string()) return content.text();
  std::string text;
  for (const Tree& part : content.items()) {
    if (part.is_string()) append_text(part.text(), text);
    if (!part.is_object()) continue;
    append_text(part.get_string("text"), text);
    const Tree* inner = part.get("content");
    if (inner != nullptr) append_text(text_of_content(*inner), text);
  }
  return text;
}

std::vector<ToolTurn> calls_in(const Tree& message) {
  std::vector<ToolTurn> calls;
  for_each_in(message, "tool_calls", [&](const Tree& call) { append_call(call, &calls); });
  if (const Tree* call = message.get("function_call")) append_call(*call, &calls);
  for_each_in(message, "parts", [&](const Tree& part) {
    const std::string kind = part.get_string("type");
    if (kind == "tool_use" || kind == "server_tool_use") append_call(part, &calls);
  });
  return calls;
}

std::vector<ToolTurn> results_in(const Tree& message) {
  std::vector<ToolTurn> results;
  for_each_in(message, "parts", [&](const Tree& part) {
    if (part.get_string("type") != "tool_result") return;
    const Tree* content = part.get("content");
    results.push_back({part.get_string("tool_use_id"),
                       content == nullptr ? std::string() : text_of_content(*content), false});
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
