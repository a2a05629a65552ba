#include "transfer/chat_times.h"

#include "base/time.h"

namespace varve::transfer {

std::optional<int64_t> ChatTimes::time_of(const Element& element, const json::Tree& entry) {
  if (element.conversation != conversation_) {
    conversation_ = element.conversation;
    first_ms_ = last_ms_ = std::nullopt;
  }
  const auto told_ms = parse_rfc3339(entry.get_string("timestamp"));
  if (told_ms) {
    last_ms_ = told_ms;
    if (!first_ms_) first_ms_ = told_ms;
    return told_ms;
  }
  // An object may have its `system` behind its messages.
  return element.place == conversation_ ? first_ms_ : last_ms_;
}

}  // namespace varve::transfer
