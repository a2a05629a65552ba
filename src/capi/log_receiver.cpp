#include "capi/log_receiver.h"

#include <algorithm>

namespace varve::capi {

// One call of the host's function, as long as this lives.
class LogReceiver::Stay {
 public:
  explicit Stay(LogReceiver& receiver) : receiver_(receiver) {
    const std::lock_guard<std::mutex> guard(receiver_.mutex_);
    function_ = receiver_.function_;
    user_data_ = receiver_.user_data_;
    if (function_ == nullptr) return;
    visit_ = receiver_.inside_.insert(
        receiver_.inside_.end(),
        {.thread = std::this_thread::get_id(), .version = receiver_.version_});
  }
  ~Stay() {
    if (function_ == nullptr) return;
    const std::lock_guard<std::mutex> guard(receiver_.mutex_);
    receiver_.inside_.erase(visit_);
    receiver_.changed_.notify_all();
  }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;

  void call(int32_t level, const char* json_line, size_t len) const {
    if (function_ != nullptr) function_(user_data_, level, json_line, len);
  }

 private:
  LogReceiver& receiver_;
  varve_log_fn function_ = nullptr;
  void* user_data_ = nullptr;
  std::list<Visit>::iterator visit_;
};

void LogReceiver::receive(void* self, int32_t level, const char* json_line, size_t len) {
  const Stay stay(*static_cast<LogReceiver*>(self));
  stay.call(level, json_line, len);
}

void LogReceiver::set(varve_log_fn function, void* user_data) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!stopped_) replace(lock, function, user_data);
}

void LogReceiver::stop() {
  std::unique_lock<std::mutex> lock(mutex_);
  stopped_ = true;
  replace(lock, nullptr, nullptr);
}

void LogReceiver::replace(std::unique_lock<std::mutex>& lock, varve_log_fn function,
                          void* user_data) {
  function_ = function;
  user_data_ = user_data;
  ++version_;
  mark_waiting(true);
  changed_.notify_all();
  const uint64_t version = version_;
  changed_.wait(lock, [this, version] { return is_left_before(version); });
  mark_waiting(false);
}

void LogReceiver::mark_waiting(bool waiting) {
  for (Visit& visit : inside_) {
    if (visit.thread == std::this_thread::get_id()) visit.waiting = waiting;
  }
}

bool LogReceiver::is_left_before(uint64_t version) const {
  return std::all_of(inside_.begin(), inside_.end(), [version](const Visit& visit) {
    return visit.waiting || visit.version >= version;
  });
}

}  // namespace varve::capi
