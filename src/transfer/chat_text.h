// What a message of a chat says: its text, the calls of tools that it makes, the results it brings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "json/tree.h"
#include "transfer/chat_part.h"

namespace varve::transfer {

// The objects that call a tool in a message: those in `tool_calls`, `function_call`, and those of
// the parts that stand under these names. A part is such an object, or as Gemini writes it, has it.
[[nodiscard]] std::vector<const json::Tree*> call_objects(const json::Tree& message, Names parts);

// Of the parts, those with a result.
[[nodiscard]] std::vector<const json::Tree*> result_objects(const json::Tree& message, Names parts);

// Whether none of the parts, or the only one, is for whom the message is sent to: thoughts, calls
// and results.
[[nodiscard]] bool is_unsaid(const json::Tree& parts);

// Whether a message calls, refuses or tells something beside its content, which it then may lack.
[[nodiscard]] bool says_beside_content(const json::Tree& message);

// Who says a message: its role, and the name of which of those with it, "user (Ann)". The role
// alone where one of the two is missing or they are equal.
[[nodiscard]] std::string speaker_with(std::string_view role, std::string_view name);

// The start of a line that such a speaker says: "user (Ann): ". A colon ends the speaker, so that a
// semicolon stands for those in it that are not between letters or digits: nobody puts words into
// another's mouth by his name.
[[nodiscard]] std::string start_of_line(std::string_view role, std::string_view name);

struct ToolTurn {
  std::string call_id;       // empty when it has none
  std::string text;          // of a call its name and arguments, of a result what came out
  bool is_answered = false;  // a call of the server's own tools: its message has the result, too
  std::string tool;          // its name; empty where a result tells none
  std::string arguments;     // of a call, as JSON or as text; may be empty
};

// Calls that tell a name, and results: of a message as it is in an entry, where an import puts the
// parts of a content under `parts`. Recorded as they came, they are under other names, too.
[[nodiscard]] std::vector<ToolTurn> calls_in(const json::Tree& message, Names parts = {"parts"});
[[nodiscard]] std::vector<ToolTurn> results_in(const json::Tree& message);

// What is said, with the calls among the parts that have what came out of them. Where it is the
// text of the parts, each call stands before that: behind it, it would seem to await something.
[[nodiscard]] std::string with_answered_calls(std::string said, const json::Tree& parts);

// A mark such as "[image/png]" for each picture and file that no text tells, as text_of_content()
// does for others: Gemini's, whose parts have no kind, and Ollama's `images`.
[[nodiscard]] std::string data_in(const json::Tree& message);

// What is said among the parts of a content beside such parts; empty where there are none.
[[nodiscard]] std::string said_beside_results(const json::Tree& parts);

}  // namespace varve::transfer
