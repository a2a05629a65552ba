#include "capi/records.h"

#include <utility>

#include "capi/guard.h"

namespace varve::capi {

Result<std::shared_ptr<StoreRecord>> StoreRecord::open(std::string_view uri,
                                                       std::string_view config_json) {
  auto record = std::make_shared<StoreRecord>();
  VARVE_TRY_ASSIGN(record->store_,
                   store::Store::open(uri, config_json, record->environment_.view()));
  return record;
}

context::CountCache& StoreRecord::token_counts() {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (!token_counts_) token_counts_ = std::make_unique<context::CountCache>();
  return *token_counts_;
}

void StoreRecord::tick() noexcept {
  guard(nullptr, [this] {
    store_->tick();
    return Status();
  });
}

void StoreRecord::deliver_events() noexcept {
  guard(nullptr, [this] {
    store_->deliver_events();
    return Status();
  });
}

void StoreRecord::adopt(Children& one) noexcept {
  const std::lock_guard<std::mutex> guard(mutex_);
  children_.splice(children_.end(), one);
}

void StoreRecord::forget(Children::iterator place) noexcept {
  const std::lock_guard<std::mutex> guard(mutex_);
  children_.erase(place);
  child_ended_.notify_all();
}

void StoreRecord::end_children() noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!children_.empty()) {
    const Token token = children_.front();
    lock.unlock();
    const bool ended_here = close_child_handle<SessionRecord>(token) != nullptr ||
                            close_child_handle<MemoryRecord>(token) != nullptr;
    lock.lock();
    if (ended_here) continue;
    // Another thread is closing that same handle: wait until it has ended.
    child_ended_.wait(lock, [&] { return children_.empty() || children_.front() != token; });
  }
}

void StoreRecord::end() noexcept {
  end_children();
  guard(nullptr, [this] {
    store_->close();
    return Status();
  });
  deliver_events();
  token_counter_.stop();
  log_.stop();
}

void StoreChild::end() noexcept {
  guard(nullptr, [this] {
    release();
    return Status();
  });
  owner_->forget(place_);
}

}  // namespace varve::capi
