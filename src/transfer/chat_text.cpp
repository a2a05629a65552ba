#include "transfer/chat_text.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace varve::transfer {
namespace {

using json::Tree;

// A part may stand there without a list.
template <typename Visit>
void for_each_part(const Tree& parts, Visit visit) {
  if (parts.is_object()) visit(parts);
  for (const Tree& part : parts.items()) visit(part);
}

// Each of the parts under these names.
template <typename Visit>
void for_each_part(const Tree& message, Names names, Visit visit) {
  for (const auto name : names) {
    if (const Tree* parts = message.get(name)) for_each_part(*parts, visit);
  }
}

// Unless it tells no name.
void append_call(const Tree& call, std::vector<ToolTurn>* calls) {
  const Tree& called = called_in(call);
  const std::string tool = tool_name_of(call);
  const Tree* id = id_of_call(call);
  ToolTurn turn{id == nullptr ? std::string() : id->text(), tool, false, tool, {}};
  if (turn.text.empty()) return;
  for (const auto name : {"arguments", "args", "input"}) {
    const Tree* given = called.get(name);
    if (given == nullptr || given->is_null()) continue;
    turn.arguments = given->is_string() ? given->text() : given->canonical();
    break;
  }
  if (!turn.arguments.empty()) turn.text.append(" ").append(turn.arguments);
  turn.is_answered = has_outcome(call);
  calls->push_back(std::move(turn));
}

}  // namespace

std::vector<const Tree*> call_objects(const Tree& message, Names parts) {
  std::vector<const Tree*> calls;
  if (const Tree* list = message.get("tool_calls")) {
    for (const Tree& call : list->items()) calls.push_back(&call);
  }
  const Tree* function = message.get("function_call");
  if (function != nullptr && !function->is_null()) calls.push_back(function);
  for_each_part(message, parts, [&](const Tree& part) {
    if (const Tree* call = call_in(part)) calls.push_back(call);
  });
  return calls;
}

std::vector<const Tree*> result_objects(const Tree& message, Names parts) {
  std::vector<const Tree*> results;
  for_each_part(message, parts, [&](const Tree& part) {
    if (const Tree* result = result_in(part)) results.push_back(result);
  });
  return results;
}

bool is_unsaid(const Tree& parts) {
  if (parts.is_object()) return is_unsaid_part(parts);
  return std::all_of(parts.items().begin(), parts.items().end(),
                     [](const Tree& part) { return part.is_object() && is_unsaid_part(part); });
}

bool says_beside_content(const Tree& message) {
  static constexpr std::string_view kSaid[] = {"function_call", "parts", "refusal", "tool_calls"};
  return std::any_of(std::begin(kSaid), std::end(kSaid), [&](std::string_view name) {
    const Tree* said = message.get(name);
    return said != nullptr && !said->is_null();
  });
}

std::string speaker_with(std::string_view role, std::string_view name) {
  std::string speaker(role);
  if (role.empty() || name.empty() || name == role) return speaker;
  return speaker.append(" (").append(name).append(")");
}

std::string start_of_line(std::string_view role, std::string_view name) {
  const auto is_inside = [](char c) { return is_letter(c) || is_digit(c); };
  std::string speaker = speaker_with(role, name);
  for (size_t i = speaker.find(':'); i != std::string::npos; i = speaker.find(':', i + 1)) {
    const bool is_between =
        i > 0 && i + 1 < speaker.size() && is_inside(speaker[i - 1]) && is_inside(speaker[i + 1]);
    if (!is_between) speaker[i] = ';';
  }
  return speaker.append(": ");
}

std::vector<ToolTurn> calls_in(const Tree& message, Names parts) {
  std::vector<ToolTurn> calls;
  for (const Tree* call : call_objects(message, parts)) append_call(*call, &calls);
  return calls;
}

std::vector<ToolTurn> results_in(const Tree& message) {
  std::vector<ToolTurn> results;
  for_each_part(message, {"parts"}, [&](const Tree& part) {
    const Tree* result = result_in(part);
    if (result == nullptr) return;
    const Tree* id = call_id_of(*result);
    const Tree* tool = tool_of(*result);
    results.push_back({id == nullptr ? std::string() : id->text(),
                       text_of_part(part),
                       false,
                       tool == nullptr ? std::string() : tool->text(),
                       {}});
  });
  return results;
}

std::string with_answered_calls(std::string said, const Tree& parts) {
  const auto is_answered = [](const Tree& part) {
    const Tree* call = call_in(part);
    return call != nullptr && has_outcome(*call);
  };
  bool has_one = false;
  for_each_part(parts, [&](const Tree& part) { has_one = has_one || is_answered(part); });
  if (!has_one) return said;
  std::string in_order;
  std::string behind;
  for_each_part(parts, [&](const Tree& part) {
    std::vector<ToolTurn> calls;
    if (is_answered(part)) append_call(*call_in(part), &calls);
    const std::string text = text_of_part(part);
    if (calls.empty()) {
      append_text(text, &in_order);
      return;
    }
    behind.append("\n").append(calls.front().text);
    in_order.append(in_order.empty() ? "" : "\n").append(calls.front().text);
    if (!text.empty()) in_order.append("\n").append(text);
  });
  if (behind.empty()) return said;
  if (said == text_of_content(parts)) return in_order;
  return said.empty() ? behind.substr(1) : said + behind;
}

std::string data_in(const Tree& message) {
  std::string marks;
  for_each_part(message, {"parts"}, [&](const Tree& part) {
    const Tree* data = object_in(part, {"inlineData", "inline_data", "fileData", "file_data"});
    if (data == nullptr || is_thought(part)) return;
    const std::string kind = first_text(*data, {"mimeType", "mime_type"});
    const std::string name = first_text(*data, {"displayName", "display_name"});
    append_text(mark(kind.empty() ? "file" : kind, name), &marks);
  });
  const Tree* images = message.get("images");
  if (images == nullptr) return marks;
  for (const Tree& image : images->items()) {
    if (image.is_string()) append_text(mark("image", {}), &marks);
  }
  return marks;
}

std::string said_beside_results(const Tree& parts) {
  Tree said = Tree::array();
  bool has_result = false;
  for (const Tree& part : parts.items()) {
    const bool is_result = result_in(part) != nullptr;
    has_result = has_result || is_result;
    if (!is_result) said.push(part);
  }
  return has_result ? text_of_content(said) : std::string();
}

}  // namespace varve::transfer
