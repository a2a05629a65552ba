// Converts an element of an import to an entry. docs/export-import.md has the tables.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/document.h"
#include "json/tree.h"
#include "transfer/format.h"

namespace varve::transfer {

// What an element is: kJsonl for an entry, kMcp, or kChat. With `format` kAuto its members decide;
// else `format` does.
[[nodiscard]] ImportFormat kind_of(json::Value element, ImportFormat format);

// The entry for a line of the memory server: an entity or a relation.
Result<json::Tree> entry_of_knowledge(json::Value element);

// Kinds of parts that call a tool. Calls of a server's own tools have their results beside them.
[[nodiscard]] constexpr bool is_answered_call(std::string_view kind) {
  return kind == "server_tool_use" || kind == "mcp_tool_use";
}
[[nodiscard]] constexpr bool is_call(std::string_view kind) {
  return kind == "tool_use" || kind == "tool-call" || is_answered_call(kind);
}

// The kind of an item of OpenAI's responses whose `result` is the bytes of a picture.
inline constexpr std::string_view kPictureItem = "image_generation_call";
// Kinds that are calls of OpenAI's own tools, with what came out.
[[nodiscard]] constexpr bool is_answered_item(std::string_view kind) {
  return kind == "mcp_call" || kind == "web_search_call" || kind == "file_search_call" ||
         kind == "code_interpreter_call" || kind == kPictureItem;
}
// What such a kind, and one that a program answers ("computer_call"), ends with.
inline constexpr std::string_view kItemCall = "_call";
inline constexpr std::string_view kItemOutput = "_call_output";

// The entry for a message; `place` is that of the element.
Result<json::Tree> entry_of_message(json::Value element, uint64_t place);

// Of a call of a tool, or a result, that is no part of a message, as in OpenAI's responses: the
// type of its entry. Empty for anything else.
[[nodiscard]] std::string_view type_of_item(json::Value element);

// The type of that entry: "message", "tool_call" or "tool_result".
[[nodiscard]] std::string_view type_of_message(const json::Tree& message);

// "<prefix>_" and 32 digits that depend only on `text`: the same text always gets the same id.
[[nodiscard]] std::string stable_id(std::string_view prefix, std::string_view text);

}  // namespace varve::transfer
