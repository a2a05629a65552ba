#include "memory/window.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/time.h"
#include "memory/message.h"

namespace varve::memory {

Status Window::add(std::string_view message_json) {
  VARVE_TRY_ASSIGN(json::Tree message, read_message(message_json));
  const bool is_timed = message.get("timestamp") != nullptr;
  Kept kept{{}, prompt_line(message)};
  if (is_timed) kept.json = message.canonical();
  const std::lock_guard lock(mutex_);
  if (!is_timed) {  // under the lock, so that times follow the order of the messages
    message.set("timestamp", json::Tree::string(format_rfc3339(clock_.now_ms())));
    kept.json = message.canonical();
  }
  messages_.push(std::move(kept));
  return {};
}

std::string Window::recent(size_t count_max) const {
  std::string list = "[";
  const std::shared_lock lock(mutex_);
  for (size_t i = messages_.size() - std::min(count_max, messages_.size()); i < messages_.size();
       ++i) {
    if (list.size() > 1) list += ',';
    list += messages_[i].json;
  }
  list += ']';
  return list;
}

std::string Window::text() const {
  std::string text;
  const std::shared_lock lock(mutex_);
  for (size_t i = 0; i < messages_.size(); ++i) text += messages_[i].line;
  return text;
}

void Window::clear() {
  const std::lock_guard lock(mutex_);
  messages_.clear();
}

size_t Window::size() const {
  const std::shared_lock lock(mutex_);
  return messages_.size();
}

}  // namespace varve::memory
