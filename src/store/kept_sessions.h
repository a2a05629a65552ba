// KeptSessions: sessions that queries across sessions opened, and that stay open for the next such
// query. Opening a session costs several times what it takes to ask an open one.
//
// The least recently asked are let go, but only when a query ends: one of more sessions than there
// are places would else let go of each just before it asks it.
//
// They have no lock, so nobody has to wait for them: an exclusive store keeps none. A host that
// closes one of them, or removes it, finds no file of it open: the store lets go of it here. What
// another process deleted or purged is asked by no later query, perhaps, so every query looks.
//
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/open_session.h"

namespace varve::store {

class KeptSessions {
 public:
  using SessionPointer = std::shared_ptr<session::Session>;

  // Keeps a session that a query asks. Until the query trims, there may be twice as many as are to
  // stay; beyond that, others are not kept.
  void keep(const SessionPointer& session, size_t count_max);
  // A query ends: as many of the most recently asked stay as are no more, and have no more memory
  // together.
  void trim(size_t count_max, uint64_t bytes_max);
  void let_go(std::string_view session_id);
  // Lets go of those that were deleted, and of those whose log was replaced: their open files would
  // keep what was removed on the disk. At most once a second, since it asks each.
  void let_go_of_replaced(int64_t now_us);
  bool clear();  // false: there were none
  // What `open` answers; when that is a lack of descriptors, once more without the kept sessions.
  template <typename Open>
  auto with_descriptors(Open&& open) -> decltype(open()) {
    auto opened = open();
    return is_lack_of_descriptors(opened.status()) && clear() ? open() : std::move(opened);
  }

  [[nodiscard]] std::vector<SessionPointer> sessions() const;  // the least recently asked first

 private:
  using Order = std::list<SessionPointer>;  // the least recently asked first

  // Mutex held. What they return closes sessions when it is destroyed, without the mutex.
  Order take(Order::iterator place);
  Order take_before(Order::iterator end);
  // Mutex held: the first that stays.
  Order::iterator first_to_stay(size_t count_max, uint64_t bytes_max);

  static constexpr int64_t kLookedAtForUs = 1'000'000;

  mutable std::mutex mutex_;  // guards the rest
  int64_t look_again_us_ = 0;
  Order order_;
  std::unordered_map<std::string_view, Order::iterator> places_;  // the keys are the sessions' own
};

}  // namespace varve::store
