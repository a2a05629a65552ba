// What a message of a chat says: its text, the calls of tools that it makes, the results it brings.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "json/tree.h"

namespace varve::transfer {

using Names = std::initializer_list<std::string_view>;

// The objects that call a tool in a message: those in `tool_calls`, `function_call`, and those of
// the parts that stand under these names. A part is such an object, or as Gemini writes it, has it.
[[nodiscard]] std::vector<const json::Tree*> call_objects(const json::Tree& message, Names parts);

// Of the parts, those with a result.
[[nodiscard]] std::vector<const json::Tree*> result_objects(const json::Tree& message, Names parts);

// What has the name and the arguments of a call: the call, or a member of it.
[[nodiscard]] const json::Tree& called_in(const json::Tree& call);

// The id of a call, and of one that was called, or a result, the tool; null when it tells none.
[[nodiscard]] const json::Tree* id_of_call(const json::Tree& call);
[[nodiscard]] const json::Tree* tool_of(const json::Tree& called);

// The id of the call that a result is of; null when it has none.
[[nodiscard]] const json::Tree* call_id_of(const json::Tree& result);

// The readable text of a content, which is text or a list of parts. A part without text is told by
// its kind: "[image]".
[[nodiscard]] std::string text_of_content(const json::Tree& content);

// Whether none of the parts, or the only one, is for whom the message is sent to: thoughts, calls
// and results.
[[nodiscard]] bool is_unsaid(const json::Tree& parts);

struct ToolTurn {
  std::string call_id;       // empty when it has none
  std::string text;          // of a call its name and arguments, of a result what came out
  bool is_answered = false;  // a call of the server's own tools: its message has the result, too
  std::string tool;          // its name; empty where a result tells none
};

// Calls that tell a name, and results: of a message as it is in an entry, where an import puts the
// parts of a content under `parts`.
[[nodiscard]] std::vector<ToolTurn> calls_in(const json::Tree& message);
[[nodiscard]] std::vector<ToolTurn> results_in(const json::Tree& message);

// A mark such as "[image/png]" for each picture and file that no text tells, as text_of_content()
// does for others: Gemini's, whose parts have no kind, and Ollama's `images`.
[[nodiscard]] std::string data_in(const json::Tree& message);

// What is said among the parts of a content beside such parts; empty where there are none.
[[nodiscard]] std::string said_beside_results(const json::Tree& parts);

}  // namespace varve::transfer
