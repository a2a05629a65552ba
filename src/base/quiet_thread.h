// A thread of the library's own, to which the system hands none of the host's signals: a handler
// that ran there would not wake the host's thread that waits for it.
#pragma once

#include <pthread.h>

#include <functional>
#include <memory>
#include <utility>

namespace varve {

// Owned by one thread at a time. It is joined when it is destroyed.
class QuietThread {
 public:
  QuietThread() noexcept = default;  // none
  // Throws std::system_error when the system has no thread left. What `work` throws ends the
  // program.
  explicit QuietThread(std::function<void()> work);
  ~QuietThread() { join(); }
  QuietThread(QuietThread&& other) noexcept
      : thread_(other.thread_), is_running_(std::exchange(other.is_running_, false)) {}
  QuietThread& operator=(QuietThread&& other) noexcept;
  QuietThread(const QuietThread&) = delete;
  QuietThread& operator=(const QuietThread&) = delete;

  // Waits until it has ended. Does nothing the second time.
  void join() noexcept;

 private:
  pthread_t thread_{};
  bool is_running_ = false;
};

}  // namespace varve
