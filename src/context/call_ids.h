// The ids by which interfaces that take messages tie a result to its call: made where there are
// none, as those of several calls in one message of Gemini's or Ollama's APIs, and shortened.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "context/entry_text.h"

namespace varve::context {

// Gives each call of a message an id, made of its entry's and its number, where it makes several
// and none has one. Whether it did.
bool name_calls(const std::string& entry_id, EntryText* message);

// OpenAI's interface refuses ids of more than forty bytes. Of one id, a call and its result have
// the same afterwards.
void shorten_call_ids(EntryText* entry);

// Whether an entry has results of which one has no id of its call.
[[nodiscard]] bool has_unnamed_result(const EntryText& results);

class UnansweredCalls {
 public:
  explicit UnansweredCalls(std::vector<transfer::ToolTurn> calls);

  // Gives each of these results the id of the first call of its tool that none before it answers.
  // False where there is none.
  bool answer(EntryText* results);

 private:
  bool take(const std::string& name, std::string* call_id);

  std::map<std::string, std::vector<std::string>> ids_;  // by tool, those of its calls, last first
};

}  // namespace varve::context
