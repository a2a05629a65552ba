#include "context/call_ids.h"

#include <algorithm>
#include <utility>

#include "transfer/convert.h"

namespace varve::context {

bool name_calls(const std::string& entry_id, EntryText* message) {
  auto& calls = message->turns;
  const bool is_named = std::any_of(calls.begin(), calls.end(),
                                    [](const auto& call) { return !call.call_id.empty(); });
  if (calls.size() < 2 || is_named || message->speaker != Speaker::kAssistant) return false;
  size_t number = 0;
  for (auto& call : calls) call.call_id = entry_id + "_" + std::to_string(++number);
  return true;
}

void shorten_call_ids(EntryText* entry) {
  constexpr size_t kBytesMax = 40;
  const auto shorten = [](std::string* id) {
    if (id->size() > kBytesMax) *id = transfer::stable_id("call", *id);
  };
  shorten(&entry->call_id);
  for (auto& turn : entry->turns) shorten(&turn.call_id);
}

bool has_unnamed_result(const EntryText& results) {
  if (!results.is_tool || results.speaker != Speaker::kTool) return false;
  if (results.turns.empty()) return results.call_id.empty();
  return std::any_of(results.turns.begin(), results.turns.end(),
                     [](const auto& result) { return result.call_id.empty(); });
}

UnansweredCalls::UnansweredCalls(std::vector<transfer::ToolTurn> calls) {
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    ids_[call->tool].push_back(std::move(call->call_id));
  }
}

bool UnansweredCalls::answer(EntryText* results) {
  if (results->turns.empty()) return take(results->tool, &results->call_id);
  return std::all_of(results->turns.begin(), results->turns.end(), [this](auto& result) {
    return !result.call_id.empty() || take(result.tool, &result.call_id);
  });
}

bool UnansweredCalls::take(const std::string& name, std::string* call_id) {
  const auto ids = ids_.find(name);
  if (ids == ids_.end() || ids->second.empty()) return false;
  *call_id = std::move(ids->second.back());
  ids->second.pop_back();
  return true;
}

}  // namespace varve::context
