#include "transfer/chat_part.h"

#include <algorithm>
#include <iterator>

#include "transfer/convert.h"

namespace varve::transfer {

using json::Tree;

namespace {

// What Vercel's AI SDK keeps of a call: its kind names the tool, as "tool-weather", and it has what
// came out. What it sends to a model, a "tool-call", has no state.
bool is_kept_call(const Tree& part) {
  const std::string kind = part.get_string("type");
  return (kind.starts_with("tool-") || kind == "dynamic-tool") && !part.get_string("state").empty();
}

bool is_result(std::string_view kind) { return kind == "tool_result" || kind == "tool-result"; }

const Tree* response_in(const Tree& part) {
  return object_in(part, {"functionResponse", "function_response"});
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

// In the form of the Model Context Protocol, of Anthropic or of OpenAI.
bool is_picture_or_sound(const Tree& part) {
  const std::string kind = part.get_string("type");
  return (kind == "image" || kind == "audio" || kind == "image_url" || kind == "input_image") &&
         (string_in(part, {"data", "image_url", "file_id"}) != nullptr ||
          object_in(part, {"source", "image_url"}) != nullptr);
}

// Libraries write null for what a part does not have.
bool has_members_of_parts_only(const Tree& part) {
  static constexpr std::string_view kOfParts[] = {
      "type",   "text",        "data",  "mimeType", "source",    "image_url",    "file_id",
      "detail", "annotations", "_meta", "meta",     "citations", "cache_control"};
  return std::all_of(part.members().begin(), part.members().end(), [](const auto& member) {
    return member.second.is_null() ||
           std::find(std::begin(kOfParts), std::end(kOfParts), member.first) != std::end(kOfParts);
  });
}

bool has_failed(const Tree& part) {
  const Tree* output = part.get("output");
  return part.get_bool("is_error") || part.get_bool("isError") ||
         part.get_string("state") == "output-error" || part.get_string("status") == "error" ||
         (output != nullptr && output->get_string("type").starts_with("error-"));
}

}  // namespace

void append_text(std::string_view text, std::string* out) {
  if (text.empty()) return;
  if (!out->empty()) out->append("\n\n");
  out->append(text);
}

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

std::string first_text(const Tree& object, Names names) {
  for (const auto name : names) {
    if (std::string text = object.get_string(name); !text.empty()) return text;
  }
  return {};
}

std::string mark(std::string_view kind, std::string_view name) {
  return std::string("[").append(kind).append(name.empty() ? "" : " ").append(name).append("]");
}

// Gemini's parts have no type, nor have Bedrock's. Gemini's interface writes names in camel case,
// its library for Python others, with null for each member that a part does not have.
const Tree* call_in(const Tree& part) {
  if (is_call(part.get_string("type")) || is_kept_call(part)) return &part;
  return object_in(part, {"functionCall", "function_call", "toolUse"});
}
const Tree* result_in(const Tree& part) {
  if (is_result(part.get_string("type"))) return &part;
  const Tree* response = response_in(part);
  return response != nullptr ? response : object_in(part, {"toolResult"});
}

bool has_outcome(const Tree& call) {
  return is_answered_call(call.get_string("type")) || is_kept_call(call) ||
         call.get_bool("providerExecuted");
}

std::string tool_name_of(const Tree& call) {
  const Tree* name = tool_of(called_in(call));
  if (name != nullptr) return name->text();
  constexpr std::string_view kTool = "tool-";
  const std::string kind = call.get_string("type");
  return is_kept_call(call) && kind.starts_with(kTool) ? kind.substr(kTool.size()) : "";
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

bool is_text_part(const Tree& part) {
  const std::string kind = part.get_string("type");
  return part.is_string() || kind == "text" || kind == "input_text" || kind == "output_text";
}

bool is_list_of_parts(const Tree& value) {
  const auto is_part = [](const Tree& part) {
    if (!part.is_object() || !has_members_of_parts_only(part)) return false;
    return is_picture_or_sound(part) ||
           (is_text_part(part) && string_in(part, {"text"}) != nullptr);
  };
  return !value.items().empty() && std::all_of(value.items().begin(), value.items().end(), is_part);
}

bool is_thought(const Tree& part) {
  std::string kind = part.get_string("type");
  if (kind.empty()) kind = part.get_string("block_type");  // LlamaIndex's
  return kind.ends_with("thinking") || kind.starts_with("reasoning") || part.get_bool("thought") ||
         part.get("reasoningContent") != nullptr;
}

// Gemini ends an answer with a text that is empty, for the sake of its signature.
bool is_unsaid_part(const Tree& part) {
  const std::string kind = part.get_string("type");
  const Tree* text = part.get("text");
  if (text != nullptr && text->is_string() && text->text().empty()) return true;
  return is_thought(part) || kind.ends_with("tool_use") || kind.ends_with("_result") ||
         kind == "step-start" || call_in(part) != nullptr || result_in(part) != nullptr;
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
  append_text(text_of_outcome(part), &text);
  append_text(text_of_code(part), &text);
  if (const Tree* given = object_in(part, {"json"})) append_text(given->canonical(), &text);
  for (const auto name : {"stdout", "stderr"}) append_text(part.get_string(name), &text);
  if (const Tree* inner = part.get("content")) append_text(text_of_content(*inner), &text);
  // As Cohere has what a tool gave.
  const Tree* given = object_in(part, {"document"});
  if (given != nullptr) given = given->get("data");
  if (given != nullptr) append_text(text_of_given(*given), &text);
  for (const auto name : {"resource", "source"}) {
    const Tree* document = part.get(name);
    if (document == nullptr || !document->is_object()) continue;
    append_text(document->get_string("text"), &text);
    if (const Tree* inner = document->get("content")) append_text(text_of_content(*inner), &text);
    if (document->get_string("type") == "text") append_text(document->get_string("data"), &text);
  }
  // The model would take what failed for done.
  if (has_failed(part)) return text.empty() ? "error" : "error: " + text;
  return text.empty() ? mark_of(part) : text;
}

std::string text_of_content(const Tree& content) {
  if (content.is_string()) return content.text();
  if (content.is_object()) return text_of_part(content);  // one part, without a list
  std::string text;
  for (const Tree& part : content.items()) append_text(text_of_part(part), &text);
  return text;
}

}  // namespace varve::transfer
