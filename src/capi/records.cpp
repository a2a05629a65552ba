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

void StoreRecord::adopt(Sessions& one) noexcept {
  const std::lock_guard<std::mutex> guard(mutex_);
  sessions_.splice(sessions_.end(), one);
}

void StoreRecord::forget(Sessions::iterator place) noexcept {
  const std::lock_guard<std::mutex> guard(mutex_);
  sessions_.erase(place);
  session_ended_.notify_all();
}

void StoreRecord::end_sessions() noexcept {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!sessions_.empty()) {
    const Token token = sessions_.front();
    lock.unlock();
    const bool ended_here = close_session_handle(token) != nullptr;
    lock.lock();
    if (ended_here) continue;
    // Another thread is closing that very handle: its end is ours to wait for.
    session_ended_.wait(lock, [&] { return sessions_.empty() || sessions_.front() != token; });
  }
}

void StoreRecord::end() noexcept {
  end_sessions();
  guard(nullptr, [this] {
    store_->close();
    return Status();
  });
  deliver_events();
  token_counter_.stop();
  log_.stop();
}

void SessionRecord::end() noexcept {
  guard(nullptr, [this] {
    session_.reset();
    return Status();
  });
  owner_->forget(place_);
}

Result<Token> open_session_handle(const std::shared_ptr<StoreRecord>& owner,
                                  std::shared_ptr<session::Session> session) {
  StoreRecord::Sessions place(1);
  auto record = std::make_shared<SessionRecord>(owner, std::move(session), place.begin());
  VARVE_TRY_ASSIGN(const Token token, HandleTable::of_process().open(std::move(record)));
  place.front() = token;
  owner->adopt(place);
  return token;
}

std::shared_ptr<StoreRecord> close_session_handle(Token token) noexcept {
  const auto record = HandleTable::of_process().close<SessionRecord>(token);
  if (record == nullptr) return nullptr;
  record->end();
  return record->owner();
}

}  // namespace varve::capi
