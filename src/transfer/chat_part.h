// One part of what a message says, as each program writes it: whether it calls a tool or has a
// result, and how it reads.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "json/tree.h"

namespace varve::transfer {

using Names = std::initializer_list<std::string_view>;

// The first of these members that is an object; a string; a text that is not empty. Null, or an
// empty text, when there is none.
[[nodiscard]] const json::Tree* object_in(const json::Tree& object, Names names);
[[nodiscard]] const json::Tree* string_in(const json::Tree& object, Names names);
[[nodiscard]] std::string first_text(const json::Tree& object, Names names);

// What calls a tool, or has its result: the part, or as Gemini and Bedrock write it, a member of
// it. Null when it does neither.
[[nodiscard]] const json::Tree* call_in(const json::Tree& part);
[[nodiscard]] const json::Tree* result_in(const json::Tree& part);

// Whether a call has what came out beside it: it is answered.
[[nodiscard]] bool has_outcome(const json::Tree& call);

// What has the name and the arguments of a call: the call, or a member of it.
[[nodiscard]] const json::Tree& called_in(const json::Tree& call);

// The id of a call, and of one that was called, or a result, the tool; null when it tells none.
[[nodiscard]] const json::Tree* id_of_call(const json::Tree& call);
[[nodiscard]] const json::Tree* tool_of(const json::Tree& called);
// The name of the tool that a call calls, also where only its kind tells it; may be empty.
[[nodiscard]] std::string tool_name_of(const json::Tree& call);

// The id of the call that a result is of; null when it has none.
[[nodiscard]] const json::Tree* call_id_of(const json::Tree& result);

// Whether a part is a text, by its kind.
[[nodiscard]] bool is_text_part(const json::Tree& part);

// Whether a value that may be any data is a list of texts, pictures and sounds, with no member that
// only data has: nothing but bytes is lost where it is told as text.
[[nodiscard]] bool is_list_of_parts(const json::Tree& value);

// What a model thinks is not what it says; calls and results are told as such.
[[nodiscard]] bool is_thought(const json::Tree& part);
[[nodiscard]] bool is_unsaid_part(const json::Tree& part);

// "[image]", "[file a.pdf]": of what has no text.
[[nodiscard]] std::string mark(std::string_view kind, std::string_view name);

// Appends a text that is not empty as a paragraph.
void append_text(std::string_view text, std::string* out);

// The readable text of a part; and of a content, which is text, a list of parts or a single one. A
// part without text is told by its kind: "[image]".
[[nodiscard]] std::string text_of_part(const json::Tree& part);
[[nodiscard]] std::string text_of_content(const json::Tree& content);

}  // namespace varve::transfer
