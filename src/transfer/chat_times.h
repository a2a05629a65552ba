// When those messages of a chat were said that do not tell it. Programs often write the times of
// what people and models say, but not of instructions, calls of tools and results.
#pragma once

#include <cstdint>
#include <optional>

#include "json/tree.h"
#include "transfer/elements.h"

namespace varve::transfer {

// Threads: one at a time.
class ChatTimes {
 public:
  // `entry`: what entry_of_message() made of the element, which comes behind those asked for
  // before. Its own time, or that of the message before it in the conversation; of what stands at
  // the conversation's beginning, as a system's instruction, the first time. Nothing where none was
  // told so far.
  [[nodiscard]] std::optional<int64_t> time_of(const Element& element, const json::Tree& entry);

 private:
  uint64_t conversation_ = 0;
  std::optional<int64_t> first_ms_;
  std::optional<int64_t> last_ms_;
};

}  // namespace varve::transfer
