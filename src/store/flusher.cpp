#include "store/flusher.h"

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
  while (!stopping_) {
    wake_.wait_for(lock, interval_, [this] { return stopping_; });
    if (stopping_) return;
    lock.unlock();
    flush_();
    lock.lock();
  }
}

}  // namespace varve::store
