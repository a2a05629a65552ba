// Flusher: the only thread of a store, started with its first session of durability "interval". It
// makes added entries durable every batch_write_interval_ms.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/quiet_thread.h"
#include "session/session.h"

namespace varve::store {

class Flusher {
 public:
  // Calls `flush` on the flusher's thread, `interval` after the previous call began.
  Flusher(std::chrono::milliseconds interval, std::function<void()> flush);
  ~Flusher();  // stops after a last flush
  Flusher(const Flusher&) = delete;
  Flusher& operator=(const Flusher&) = delete;

 private:
  void run();

  std::chrono::milliseconds interval_;
  std::function<void()> flush_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;
  QuietThread thread_;  // declared last: it uses the others
};

// What the flusher does each time. A busy session (its lock is held by another process, or waited
// for by a thread of this one) does not delay the others: it is tried again after them.
// Threads: one at a time.
class FlushRounds {
 public:
  using Sessions = std::vector<std::shared_ptr<session::Session>>;
  using Tell = std::function<void(const std::string& session_id, const Status& failure)>;

  // `patience_ms`: how long a round waits for all busy sessions together. A session that stays busy
  // is reported every `late_ms`.
  FlushRounds(Clock& clock, uint64_t patience_ms, uint64_t late_ms, Tell tell)
      : clock_(clock),
        patience_ms_(patience_ms),
        late_us_(static_cast<int64_t>(late_ms) * 1000),
        tell_(std::move(tell)) {}

  void run(const Sessions& sessions);

 private:
  Sessions flush(const Sessions& sessions, uint64_t wait_ms);
  void tell_late(const Sessions& busy);

  Clock& clock_;
  uint64_t patience_ms_;
  int64_t late_us_;
  Tell tell_;
  std::map<std::string, int64_t> busy_since_us_;  // since it was busy, or since it was reported
};

}  // namespace varve::store
