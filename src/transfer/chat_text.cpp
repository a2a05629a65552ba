#include "transfer/chat_text.h"

#include <algorithm>
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

// Each of the parts under these names; a part may stand there without a list.
template <typename Visit>
void for_each_part(const Tree& message, Names names, Visit visit) {
  for (const auto name : names) {
    const Tree* parts = message.get(name);
    if (parts == nullptr) continue;
    if (parts->is_object()) visit(*parts);
    for (const Tree& part : parts->items()) visit(part);
  }
}

// The first of these members that is an object.
const Tree* object_in(const Tree& object, Names names) {
  for (const auto name : names) {
    const Tree* inner = object.get(name);
    if (inner != nullptr && inner->is_object()) return inner;
  }
  return nullptr;
}

const Tree* string_in(const Tree& object, Names names) {
  for (const auto name : names) {
    const Tree* text = object.get(name);
    if (text != nullptr && text->is_string()) return text;
  }
  return nullptr;
}

// What Vercel's AI SDK keeps of a call: its kind names the tool, as "tool-weather", and it has what
// came out. What it sends to a model, a "tool-call", has no state.
bool is_kept_call(const Tree& part) {
  const std::string kind = part.get_string("type");
  return (kind.starts_with("tool-") || kind == "dynamic-tool") && !part.get_string("state").empty();
}

bool is_result(std::string_view kind) { return kind == "tool_result" || kind == "tool-result"; }

// Gemini's parts have no type, nor have Bedrock's. Gemini's interface writes names in camel case,
// its library for Python others, with null for each member that a part does not have.
const Tree* call_in(const Tree& part) {
  if (is_call(part.get_string("type")) || is_kept_call(part)) return &part;
  return object_in(part, {"functionCall", "function_call", "toolUse"});
}
const Tree* response_in(const Tree& part) {
  return object_in(part, {"functionResponse", "function_response"});
}
const Tree* result_in(const Tree& part) {
  if (is_result(part.get_string("type"))) return &part;
  const Tree* response = response_in(part);
  return response != nullptr ? response : object_in(part, {"toolResult"});
}

std::string tool_name_of(const Tree& call) {
  const Tree* name = tool_of(called_in(call));
  if (name != nullptr) return name->text();
  constexpr std::string_view kTool = "tool-";
  const std::string kind = call.get_string("type");
  return is_kept_call(call) && kind.starts_with(kTool) ? kind.substr(kTool.size()) : "";
}

// Unless it tells no name.
void append_call(const Tree& call, std::vector<ToolTurn>* calls) {
  const Tree& called = called_in(call);
  const std::string tool = tool_name_of(call);
  const Tree* id = id_of_call(call);
  ToolTurn turn{id == nullptr ? std::string() : id->text(), tool, false, tool};
  if (turn.text.empty()) return;
  for (const auto name : {"arguments", "args", "input"}) {
    const Tree* given = called.get(name);
    if (given == nullptr || given->is_null()) continue;
    const std::string text = given->is_string() ? given->text() : given->canonical();
    if (!text.empty()) turn.text.append(" ").append(text);
    break;
  }
  turn.is_answered = is_answered_call(call.get_string("type")) || is_kept_call(call) ||
                     call.get_bool("providerExecuted");
  calls->push_back(std::move(turn));
}

bool is_thought(const Tree& part) {
  std::string kind = part.get_string("type");
  if (kind.empty()) kind = part.get_string("block_type");  // LlamaIndex's
  return kind.ends_with("thinking") || kind.starts_with("reasoning") || part.get_bool("thought") ||
         part.get("reasoningContent") != nullptr;
}

// What a model thinks is not what it says; calls and results are told as such. Gemini ends an
// answer with a text that is empty, for the sake of its signature.
bool is_unsaid_part(const Tree& part) {
  const std::string kind = part.get_string("type");
  const Tree* text = part.get("text");
  if (text != nullptr && text->is_string() && text->text().empty()) return true;
  return is_thought(part) || kind.ends_with("tool_use") || kind.ends_with("_result") ||
         kind == "step-start" || call_in(part) != nullptr || result_in(part) != nullptr;
}

// The first text under one of these names.
std::string first_text(const Tree& object, Names names) {
  for (const auto name : names) {
    if (std::string text = object.get_string(name); !text.empty()) return text;
  }
  return {};
}

std::string mark(std::string_view kind, std::string_view name) {
  return std::string("[").append(kind).append(name.empty() ? "" : " ").append(name).append("]");
}

// Bedrock's.
std::string mark_of_media(const Tree& part) {
  for (const auto name : {"image", "document", "video"}) {
    const Tree* media = object_in(part, {name});
    if (media != nullptr) return mark(name, media->get_string("name"));
  }
  return {};
}

// Of a part that has no text, such as a picture: its kind, and the name of its file. Its bytes say
// nothing to who reads.
std::string mark_of(const Tree& part) {
  const std::string kind = part.get_string("type");
  if (is_unsaid_part(part) || part.get("text") != nullptr) return {};
  if (kind.empty()) return mark_of_media(part);
  const Tree* file = part.get("file");
  const Tree& named = file != nullptr && file->is_object() ? *file : part;
  return mark(kind, first_text(named, {"filename", "title", "name"}));
}

// What a function gave is an object, which often has a single member for all of it.
std::string text_of_given(const Tree& given) {
  if (given.is_string()) return given.text();
  if (given.members().size() != 1) return given.canonical();
  const auto& [name, value] = given.members().front();
  std::string text = value.is_string() ? value.text() : value.canonical();
  if (name == "error") return "error: " + text;
  for (const auto usual : {"result", "output", "content", "message"}) {
    if (name == usual) return text;
  }
  return given.canonical();
}

// Its name, since it may have no id, and what it gave.
std::string text_of_response(const Tree& response) {
  std::string text = response.get_string("name");
  const Tree* given = response.get("response");
  if (given == nullptr || given->is_null()) return text;
  const std::string what = text_of_given(*given);
  return text.append(text.empty() || what.empty() ? "" : " ").append(what);
}

// What came out of a tool, as Vercel's AI SDK has it: to show it is any JSON, to a model it has a
// kind and a value.
std::string text_of_outcome(const Tree& part) {
  if (!is_kept_call(part) && part.get_string("type") != "tool-result") return {};
  for (const auto name : {"errorText", "output", "result"}) {
    const Tree* given = part.get(name);
    if (given == nullptr || given->is_null()) continue;
    const std::string kind = given->get_string("type");
    const Tree* value = kind.empty() ? nullptr : given->get("value");
    if (value == nullptr) value = given;
    if (value->is_string()) return value->text();
    return kind == "content" ? text_of_content(*value) : value->canonical();
  }
  return {};
}

// What Gemini runs itself, and what came out.
std::string text_of_code(const Tree& part) {
  if (const Tree* code = object_in(part, {"executableCode", "executable_code"}))
    return code->get_string("code");
  const Tree* outcome = object_in(part, {"codeExecutionResult", "code_execution_result"});
  if (outcome == nullptr) return {};
  const std::string text = outcome->get_string("output");
  const bool is_done = outcome->get_string("outcome") == "OUTCOME_OK";
  return is_done ? text : text.empty() ? "error" : "error: " + text;
}

bool has_failed(const Tree& part) {
  const Tree* output = part.get("output");
  return part.get_bool("is_error") || part.get_bool("isError") ||
         part.get_string("state") == "output-error" || part.get_string("status") == "error" ||
         (output != nullptr && output->get_string("type").starts_with("error-"));
}

// Its own, what it refuses, and that of a document in it.
std::string text_of_part(const Tree& part) {
  if (part.is_string()) return part.text();
  if (!part.is_object() || is_thought(part)) return {};
  if (const Tree* response = response_in(part)) return text_of_response(*response);
  if (const Tree* result = object_in(part, {"toolResult"})) return text_of_part(*result);
  std::string text = first_text(part, {"text", "refusal"});
  // As a message of OpenAI's assistants has it, with its annotations.
  const Tree* annotated = part.get("text");
  if (annotated != nullptr && annotated->is_object()) text = annotated->get_string("value");
  append_text(text_of_outcome(part), text);
  append_text(text_of_code(part), text);
  if (const Tree* given = object_in(part, {"json"})) append_text(given->canonical(), text);
  for (const auto name : {"stdout", "stderr"}) append_text(part.get_string(name), text);
  if (const Tree* inner = part.get("content")) append_text(text_of_content(*inner), text);
  // As Cohere has what a tool gave.
  const Tree* given = object_in(part, {"document"});
  if (given != nullptr) given = given->get("data");
  if (given != nullptr) append_text(text_of_given(*given), text);
  for (const auto name : {"resource", "source"}) {
    const Tree* document = part.get(name);
    if (document == nullptr || !document->is_object()) continue;
    append_text(document->get_string("text"), text);
    if (const Tree* inner = document->get("content")) append_text(text_of_content(*inner), text);
    if (document->get_string("type") == "text") append_text(document->get_string("data"), text);
  }
  // The model would take what failed for done.
  if (has_failed(part)) return text.empty() ? "error" : "error: " + text;
  return text.empty() ? mark_of(part) : text;
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

const Tree& called_in(const Tree& call) {
  const Tree* called = object_in(call, {"function", "custom"});
  return called == nullptr ? call : *called;
}

const Tree* id_of_call(const Tree& call) {
  return string_in(call, {"id", "toolCallId", "toolUseId"});
}

const Tree* tool_of(const Tree& called) { return string_in(called, {"name", "toolName"}); }

// The Model Context Protocol has the second name, the AI SDK the third. A part may have an id of
// its own.
const Tree* call_id_of(const Tree& result) {
  if (!is_result(result.get_string("type"))) return string_in(result, {"id", "toolUseId"});
  return string_in(result, {"tool_use_id", "toolUseId", "toolCallId"});
}

std::string text_of_content(const Tree& content) {
  if (content.is_string()) return content.text();
  if (content.is_object()) return text_of_part(content);  // one part, without a list
  std::string text;
  for (const Tree& part : content.items()) append_text(text_of_part(part), text);
  return text;
}

bool is_unsaid(const Tree& parts) {
  if (parts.is_object()) return is_unsaid_part(parts);
  return std::all_of(parts.items().begin(), parts.items().end(),
                     [](const Tree& part) { return part.is_object() && is_unsaid_part(part); });
}

std::vector<ToolTurn> calls_in(const Tree& message) {
  std::vector<ToolTurn> calls;
  for (const Tree* call : call_objects(message, {"parts"})) append_call(*call, &calls);
  return calls;
}

std::vector<ToolTurn> results_in(const Tree& message) {
  std::vector<ToolTurn> results;
  for_each_part(message, {"parts"}, [&](const Tree& part) {
    const Tree* result = result_in(part);
    if (result == nullptr) return;
    const Tree* id = call_id_of(*result);
    const Tree* tool = tool_of(*result);
    results.push_back({id == nullptr ? std::string() : id->text(), text_of_part(part), false,
                       tool == nullptr ? std::string() : tool->text()});
  });
  return results;
}

std::string data_in(const Tree& message) {
  std::string marks;
  for_each_part(message, {"parts"}, [&](const Tree& part) {
    const Tree* data = object_in(part, {"inlineData", "inline_data", "fileData", "file_data"});
    if (data == nullptr || is_thought(part)) return;
    const std::string kind = first_text(*data, {"mimeType", "mime_type"});
    const std::string name = first_text(*data, {"displayName", "display_name"});
    append_text(mark(kind.empty() ? "file" : kind, name), marks);
  });
  const Tree* images = message.get("images");
  if (images == nullptr) return marks;
  for (const Tree& image : images->items()) {
    if (image.is_string()) append_text(mark("image", {}), marks);
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
