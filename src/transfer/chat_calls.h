// Which messages of a conversation called tools, so that their results can refer to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "json/tree.h"

namespace varve::transfer {

// Threads: one at a time.
class ChatCalls {
 public:
  // Calls that are remembered, the latest: a result follows its call closely.
  static constexpr size_t kCallsMax = 256;

  // All take what entry_of_message() made of a message.

  // The ids of the entries whose calls the message answers, each once, in the order of the answers.
  // A call is the last one so far of the answer's id, or where this has none, of its name.
  [[nodiscard]] std::vector<std::string> answered_by(const json::Tree& entry) const;

  // Whether each answer in the message has its call.
  [[nodiscard]] bool has_all_of(const json::Tree& entry) const;

  void note(const json::Tree& entry);
  void note_earlier(const json::Tree& entry);  // than all that were noted

 private:
  // What a call and its answer have in common. Hashes: they may be of any length.
  struct Key {
    std::optional<uint64_t> id;
    std::optional<uint64_t> name;  // of the tool
  };
  struct Call {
    Key key;
    std::string entry_id;
  };

  static std::vector<Key> keys_of_calls(const json::Tree& entry);
  static std::vector<Key> keys_of_answers(const json::Tree& entry);
  // Null when there is none.
  [[nodiscard]] const Call* find(const Key& answer) const;

  std::deque<Call> calls_;  // the latest first
};

}  // namespace varve::transfer
