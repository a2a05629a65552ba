// Work beside the caller's own: in another thread if the caller allows one, otherwise when its
// result is asked for.
//
// Errors: what the work throws is thrown by get().
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>

#include "base/quiet_thread.h"

namespace varve {

// Threads: used by one at a time. The other thread has ended when this has, whether its result was
// asked for or not.
template <typename Answer>
class Beside {
 public:
  Beside() = default;  // no work
  // If the system has no thread left, the work is also done when its result is asked for.
  template <typename Work>
  Beside(bool in_thread, Work work)
      : task_(std::make_shared<Task>(std::move(work))), answer_(task_->get_future()) {
    if (!in_thread) return;
    try {
      thread_ = QuietThread([task = task_] { (*task)(); });
      task_.reset();
    } catch (const std::system_error&) {
    }
  }

  [[nodiscard]] bool valid() const { return answer_.valid(); }
  // Whether get() would neither work nor wait.
  [[nodiscard]] bool is_done() const {
    return answer_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }
  Answer get() {
    if (task_) (*task_)();
    task_.reset();
    thread_.join();
    return answer_.get();
  }

 private:
  using Task = std::packaged_task<Answer()>;

  std::shared_ptr<Task> task_;  // null: another thread does it, or it is done
  std::future<Answer> answer_;
  QuietThread thread_;
};

template <typename Work>
[[nodiscard]] Beside<std::invoke_result_t<Work>> start_beside(bool in_thread, Work work) {
  return {in_thread, std::move(work)};
}

}  // namespace varve
