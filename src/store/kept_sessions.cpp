#include "store/kept_sessions.h"

#include <iterator>

namespace varve::store {

void KeptSessions::keep(const SessionPointer& session, size_t count_max) {
  Order left;
  Order one{session};
  const std::lock_guard guard(mutex_);
  const auto known = places_.find(session->id());
  if (known != places_.end() && *known->second == session) {
    order_.splice(order_.end(), order_, known->second);
    return;
  }
  if (known != places_.end()) left = take(known->second);  // an earlier session of that id
  if (order_.size() >= 2 * count_max) return;
  places_.emplace(session->id(), one.begin());
  order_.splice(order_.end(), one);
}

void KeptSessions::trim(size_t count_max, uint64_t bytes_max) {
  Order left;
  const std::lock_guard guard(mutex_);
  left = take_before(first_to_stay(count_max, bytes_max));
}

KeptSessions::Order::iterator KeptSessions::first_to_stay(size_t count_max, uint64_t bytes_max) {
  uint64_t bytes = 0;
  auto first = order_.end();
  for (size_t count = 0; first != order_.begin() && count < count_max; ++count) {
    bytes += (*std::prev(first))->memory_bytes();
    if (bytes > bytes_max) break;
    --first;
  }
  return first;
}

KeptSessions::Order KeptSessions::take(Order::iterator place) {
  Order taken;
  places_.erase((*place)->id());
  taken.splice(taken.end(), order_, place);
  return taken;
}

KeptSessions::Order KeptSessions::take_before(Order::iterator end) {
  Order taken;
  for (auto place = order_.begin(); place != end; ++place) places_.erase((*place)->id());
  taken.splice(taken.end(), order_, order_.begin(), end);
  return taken;
}

void KeptSessions::let_go(std::string_view session_id) {
  Order left;
  const std::lock_guard guard(mutex_);
  const auto known = places_.find(session_id);
  if (known != places_.end()) left = take(known->second);
}

void KeptSessions::let_go_of_replaced(int64_t now_us) {
  {
    const std::lock_guard guard(mutex_);
    if (now_us < look_again_us_) return;
    look_again_us_ = now_us + kLookedAtForUs;
  }
  for (const SessionPointer& session : sessions()) {
    if (!session->has_present_log()) let_go(session->id());
  }
}

bool KeptSessions::clear() {
  Order left;
  const std::lock_guard guard(mutex_);
  left = take_before(order_.end());
  return !left.empty();
}

std::vector<KeptSessions::SessionPointer> KeptSessions::sessions() const {
  const std::lock_guard guard(mutex_);
  return {order_.begin(), order_.end()};
}

}  // namespace varve::store
