#include "store/flusher.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace varve::store {

Flusher::Flusher(std::chrono::milliseconds interval, std::function<void()> flush)
    : interval_(interval), flush_(std::move(flush)), thread_([this] { run(); }) {}

Flusher::~Flusher() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
  flush_();
}

void Flusher::run() {
  std::unique_lock lock(mutex_);
  auto due = std::chrono::steady_clock::now() + interval_;
  while (!wake_.wait_until(lock, due, [this] { return stopping_; })) {
    due = std::chrono::steady_clock::now() + interval_;  // however long this round takes
    lock.unlock();
    flush_();
    lock.lock();
  }
}

void FlushRounds::run(const Sessions& sessions) {
  Sessions busy = flush(sessions, 0);
  if (!busy.empty()) {
    const uint64_t share_ms = std::max<uint64_t>(1, patience_ms_ / busy.size());
    busy = flush(busy, share_ms);
  }
  tell_late(busy);
}

// Returns the sessions that were busy.
FlushRounds::Sessions FlushRounds::flush(const Sessions& sessions, uint64_t wait_ms) {
  Sessions busy;
  for (const auto& session : sessions) {
    const Status flushed = session->flush(wait_ms);
    if (flushed.code() == Code::kBusy) {
      busy.push_back(session);
    } else if (!flushed.ok() && flushed.code() != Code::kNotFound) {  // deleted: nothing to flush
      tell_(session->id(), flushed);
    }
  }
  return busy;
}

void FlushRounds::tell_late(const Sessions& busy) {
  const int64_t now_us = clock_.monotonic_us();
  std::map<std::string, int64_t> since_us;
  for (const auto& session : busy) {
    const auto known = busy_since_us_.find(session->id());
    int64_t begin_us = known == busy_since_us_.end() ? now_us : known->second;
    if (now_us - begin_us >= late_us_) {
      tell_(session->id(),
            {Code::kBusy, "not made durable yet: other writers keep holding the session's lock"});
      begin_us = now_us;
    }
    since_us.emplace(session->id(), begin_us);
  }
  busy_since_us_ = std::move(since_us);
}

}  // namespace varve::store
