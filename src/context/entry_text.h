// EntryText: what a model is to read of an entry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/document.h"
#include "transfer/chat_text.h"

namespace varve::context {

enum class Speaker : uint8_t { kOther, kUser, kAssistant, kTool };

struct EntryText {
  std::string label;  // who speaks, else what it is; one line
  std::string text;
  std::string role;  // as in the content; empty when it has none
  std::string name;  // of a message, which of those with this role says it; one line; may be empty
  Speaker speaker = Speaker::kOther;
  bool is_tool = false;  // a call, or a result
  // Of a tool's entry from a message of a chat, which may have several calls or results: each of
  // them, and what was said beside them, unless it is blank. Both are in the text.
  std::vector<transfer::ToolTurn> turns;
  std::string said;
  bool is_answered = false;  // a call that awaits no result
  std::string call_id;
  // Of a single call or result: the name of the tool, where it tells one, and the arguments or what
  // came out.
  std::string tool;
  std::string detail;
  std::string call_key;  // entry::content_key of the call id; empty when there is none
};

// Whether no interface takes it as the text of a message.
[[nodiscard]] bool is_blank(std::string_view text);

// `line` as stored, of an entry of this type. The text is the content when that is a string; its
// `message`, `content` or `text`, and the calls of a chat's message after it; of a tool call the
// name and the arguments, of its result the name and the result; else the content as JSON.
// errors: kCorruption for a line without content.
Result<EntryText> read_entry_text(std::string_view line, std::string_view type,
                                  json::Document& scratch);

}  // namespace varve::context
