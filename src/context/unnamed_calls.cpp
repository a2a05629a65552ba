#include "context/unnamed_calls.h"

#include <algorithm>

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

bool has_unnamed_result(const EntryText& results) {
  if (!results.is_tool || results.speaker != Speaker::kTool) return false;
  if (results.turns.empty()) return results.call_id.empty();
  return std::any_of(results.turns.begin(), results.turns.end(),
                     [](const auto& result) { return result.call_id.empty(); });
}

bool UnansweredCalls::answer(EntryText* results) {
  if (results->turns.empty()) return take(results->tool, &results->call_id);
  return std::all_of(results->turns.begin(), results->turns.end(), [this](auto& result) {
    return !result.call_id.empty() || take(result.tool, &result.call_id);
  });
}

bool UnansweredCalls::take(const std::string& name, std::string* call_id) {
  const auto call = std::find_if(calls_.begin(), calls_.end(),
                                 [&name](const auto& known) { return known.tool == name; });
  if (call == calls_.end()) return false;
  *call_id = std::move(call->call_id);
  calls_.erase(call);
  return true;
}

}  // namespace varve::context
