// Which messages of a conversation called tools, so that their results can refer to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "json/document.h"

namespace varve::transfer {

// Threads: one at a time.
class ChatCalls {
 public:
  // Calls that are remembered, the latest: a result follows its call closely.
  static constexpr size_t kCallsMax = 256;

  // The ids of the entries whose calls the message answers, each once, in the order of the answers.
  // A call is the last one so far of its id, or where calls have none (`function_call`), its name.
  [[nodiscard]] std::vector<std::string> answered_by(json::Value message) const;

  // `message` became the entry with this id.
  void note(json::Value message, const std::string& entry_id);

 private:
  struct Call {
    uint64_t key = 0;  // a hash: an id may be of any length
    std::string entry_id;
  };
  std::deque<Call> calls_;  // the latest first
};

}  // namespace varve::transfer
