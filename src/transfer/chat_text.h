// What a message of a chat says: its text, the calls of tools that it makes, the results it brings.
#pragma once

#include <string>
#include <vector>

#include "json/tree.h"

namespace varve::transfer {

// The readable text of a content, which is text or a list of parts. A part without text is told by
// its kind: "[image]".
[[nodiscard]] std::string text_of_content(const json::Tree& content);

// Whether none of the parts is for whom the message is sent to: thoughts, calls and results.
[[nodiscard]] bool is_unsaid(const json::Tree& parts);

struct ToolTurn {
  std::string call_id;       // empty when it has none
  std::string text;          // of a call its name and arguments, of a result what came out
  bool is_answered = false;  // a call of the server's own tools: its message has the result, too
};

// Calls as the APIs of OpenAI and Anthropic write them, in this order: `tool_calls`,
// `function_call`, and `tool_use` among the `parts`, where an import puts the parts of a content.
[[nodiscard]] std::vector<ToolTurn> calls_in(const json::Tree& message);

// The parts `tool_result`.
[[nodiscard]] std::vector<ToolTurn> results_in(const json::Tree& message);

// What is said among the parts of a content beside such parts; empty where there are none.
[[nodiscard]] std::string said_beside_results(const json::Tree& parts);

}  // namespace varve::transfer
