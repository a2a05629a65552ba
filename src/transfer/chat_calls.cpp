#include "transfer/chat_calls.h"

#include <algorithm>

#include "base/hash.h"
#include "transfer/chat_text.h"

namespace varve::transfer {
namespace {

using json::Tree;

std::optional<uint64_t> hash_of(const Tree* text) {
  if (text == nullptr || !text->is_string()) return std::nullopt;
  return hash64(text->text());
}

}  // namespace

// An import leaves the parts of a message beside its text, or in "content_parts"; one that was
// recorded as it is has them under "message" or "content". An item of a response, which has no
// role, is the call itself. The name of one who speaks is that of no tool.
std::vector<ChatCalls::Key> ChatCalls::keys_of_calls(const Tree& entry) {
  const Tree& content = *entry.get("content");
  std::vector<Key> keys;
  for (const Tree* call : call_objects(content, {"parts", "content_parts", "message", "content"})) {
    keys.push_back({hash_of(id_of_call(*call)), hash_of(tool_of(called_in(*call)))});
  }
  if (content.get_string("role").empty() && entry.get_string("type") == "tool_call") {
    keys.push_back({hash_of(content.get("call_id")), hash_of(content.get("name"))});
  }
  return keys;
}

std::vector<ChatCalls::Key> ChatCalls::keys_of_answers(const Tree& entry) {
  const Tree& content = *entry.get("content");
  const std::string role = content.get_string("role");
  Key own;
  if (role.empty() && entry.get_string("type") == "tool_result") {
    own.id = hash_of(content.get("call_id"));
    if (!own.id) own.id = hash_of(content.get("id"));  // as of a local shell
  } else if (role != "assistant") {
    own.id = hash_of(content.get("tool_call_id"));
  }
  if (role == "tool" || role == "function") {
    own.name = hash_of(content.get("tool_name"));  // as Ollama has it, which once had `name`
    if (!own.name) own.name = hash_of(content.get("name"));
  }
  std::vector<Key> keys = {own};
  for (const Tree* result :
       result_objects(content, {"parts", "content_parts", "message", "content"})) {
    keys.push_back({hash_of(call_id_of(*result)), hash_of(tool_of(*result))});
  }
  return keys;
}

const ChatCalls::Call* ChatCalls::find(const Key& answer) const {
  const auto call = std::find_if(calls_.begin(), calls_.end(), [&](const Call& known) {
    if (answer.id) return known.key.id == answer.id;
    return answer.name && known.key.name == answer.name;
  });
  return call == calls_.end() ? nullptr : &*call;
}

bool ChatCalls::has_all_of(const Tree& entry) const {
  const auto answers = keys_of_answers(entry);
  return std::all_of(answers.begin(), answers.end(), [this](const Key& answer) {
    return (!answer.id && !answer.name) || find(answer) != nullptr;
  });
}

std::vector<std::string> ChatCalls::answered_by(const Tree& entry) const {
  std::vector<std::string> ids;
  for (const Key& answer : keys_of_answers(entry)) {
    const Call* call = find(answer);
    if (call == nullptr) continue;
    if (std::find(ids.begin(), ids.end(), call->entry_id) == ids.end()) {
      ids.push_back(call->entry_id);
    }
  }
  return ids;
}

void ChatCalls::note(const Tree& entry) {
  for (const Key& key : keys_of_calls(entry)) {
    calls_.push_front({key, entry.get_string("id")});
    if (calls_.size() > kCallsMax) calls_.pop_back();
  }
}

void ChatCalls::note_earlier(const Tree& entry) {
  const auto keys = keys_of_calls(entry);
  for (auto key = keys.rbegin(); key != keys.rend() && calls_.size() < kCallsMax; ++key) {
    calls_.push_back({*key, entry.get_string("id")});
  }
}

}  // namespace varve::transfer
