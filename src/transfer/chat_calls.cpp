#include "transfer/chat_calls.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "transfer/convert.h"

namespace varve::transfer {
namespace {

using json::Value;

std::optional<std::string_view> text_in(Value object, std::string_view name) {
  const auto value = object.is_object() ? object.find(name) : std::nullopt;
  if (!value || !value->is_string()) return std::nullopt;
  return value->text();
}

template <typename Visit>
void for_each_in(Value message, std::string_view list, Visit visit) {
  const auto items = message.find(list);
  if (!items || !items->is_array()) return;
  items->for_each_item([&](Value item) {
    visit(item);
    return true;
  });
}

uint64_t key_of_id(std::string_view id) { return hash64(id); }

uint64_t key_of_name(std::string_view name) {
  constexpr uint64_t kNames = 1;  // an id that is equal to a name is something else
  return hash64(name, kNames);
}

// Visits the keys of the calls that the message makes.
template <typename Visit>
void for_each_call(Value message, Visit visit) {
  const auto visit_id = [&](Value call) {
    if (const auto id = text_in(call, "id")) visit(key_of_id(*id));
  };
  for_each_in(message, "tool_calls", visit_id);
  for_each_in(message, "content", [&](Value part) {
    if (is_call(text_in(part, "type").value_or(""))) visit_id(part);
  });
  // An item of a response, and a call as a context tells it, are the call themselves.
  if (type_of_item(message) == "tool_call") visit(key_of_id(*text_in(message, "call_id")));
  const auto told = text_in(message, "tool_call_id");
  if (told && text_in(message, "role") == "assistant") visit(key_of_id(*told));
  const auto call = message.find("function_call");
  const auto name = call ? text_in(*call, "name") : std::nullopt;
  if (name) visit(key_of_name(*name));
}

// Visits the keys of the calls that the message has results of.
template <typename Visit>
void for_each_answered(Value message, Visit visit) {
  const bool is_call = text_in(message, "role") == "assistant";
  const auto id_of_call = text_in(message, "tool_call_id");
  if (id_of_call && !is_call) visit(key_of_id(*id_of_call));
  if (type_of_item(message) == "tool_result") visit(key_of_id(*text_in(message, "call_id")));
  for_each_in(message, "content", [&](Value part) {
    const auto id = text_in(part, "tool_use_id");
    if (id && text_in(part, "type") == "tool_result") visit(key_of_id(*id));
  });
  const auto name = text_in(message, "name");
  if (name && text_in(message, "role") == "function") visit(key_of_name(*name));
}

}  // namespace

std::vector<std::string> ChatCalls::answered_by(Value message) const {
  std::vector<std::string> ids;
  for_each_answered(message, [&](uint64_t key) {
    const auto call = std::find_if(calls_.begin(), calls_.end(),
                                   [&](const Call& known) { return known.key == key; });
    if (call == calls_.end()) return;
    if (std::find(ids.begin(), ids.end(), call->entry_id) == ids.end()) {
      ids.push_back(call->entry_id);
    }
  });
  return ids;
}

void ChatCalls::note(Value message, const std::string& entry_id) {
  for_each_call(message, [&](uint64_t key) {
    calls_.push_front({key, entry_id});
    if (calls_.size() > kCallsMax) calls_.pop_back();
  });
}

}  // namespace varve::transfer
