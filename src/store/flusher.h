// Flusher: the one thread of a store, started with the first session of durability "interval". It
// makes what was added durable every batch_write_interval_ms.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace varve::store {

class Flusher {
 public:
  // `flush` is called on the flusher's thread.
  Flusher(std::chrono::milliseconds interval, std::function<void()> flush);
  ~Flusher();  // stops, after a last flush
  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;

 private:
  void run();

  std::chrono::milliseconds interval_;
  std::function<void()> flush_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace varve::store
