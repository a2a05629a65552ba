// HostFunction: a function that the host set, and the threads that are inside it.
//
// The host may free its user_data once another function is set or the store is closed. So both wait
// until all other threads have left the function. A thread that is inside the function and sets or
// closes from there waits neither for itself nor for another thread that does the same.
//
// Threads: any. The function is called under no lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <thread>

namespace varve {

template <typename Function>
class HostFunction {
  struct Visit {
    std::thread::id thread;
    uint64_t version = 0;  // which function it is in
    bool waiting = false;  // sets or stops from inside the function
  };

 public:
  HostFunction() = default;
  HostFunction(const HostFunction&) = delete;
  HostFunction& operator=(const HostFunction&) = delete;

  // When this returns, no thread is inside the previous function. Has no effect after stop().
  void set(Function function, void* user_data) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!stopped_) replace(lock, function, user_data);
  }

  // As set(nullptr), but permanently.
  void stop() {
    std::unique_lock<std::mutex> lock(mutex_);
    stopped_ = true;
    replace(lock, nullptr, nullptr);
  }

  [[nodiscard]] bool is_set() const { return is_set_.load(std::memory_order_acquire); }

  // While this object lives, the function may be called any number of times.
  class Stay {
   public:
    explicit Stay(HostFunction& owner) : owner_(owner) {
      const std::lock_guard<std::mutex> guard(owner_.mutex_);
      function_ = owner_.function_;
      user_data_ = owner_.user_data_;
      version_ = owner_.version_;
      if (function_ == nullptr) return;
      visit_ = owner_.inside_.insert(owner_.inside_.end(),
                                     {.thread = std::this_thread::get_id(), .version = version_});
    }
    ~Stay() {
      if (function_ == nullptr) return;
      const std::lock_guard<std::mutex> guard(owner_.mutex_);
      owner_.inside_.erase(visit_);
      owner_.changed_.notify_all();
    }
    Stay(const Stay&) = delete;
    Stay& operator=(const Stay&) = delete;

    [[nodiscard]] Function function() const { return function_; }  // null when none is set
    [[nodiscard]] void* user_data() const { return user_data_; }
    [[nodiscard]] uint64_t version() const { return version_; }  // different after each set()

   private:
    HostFunction& owner_;
    Function function_ = nullptr;
    void* user_data_ = nullptr;
    uint64_t version_ = 0;
    typename std::list<Visit>::iterator visit_;
  };

 private:
  void replace(std::unique_lock<std::mutex>& lock, Function function, void* user_data) {
    function_ = function;
    user_data_ = user_data;
    is_set_.store(function != nullptr, std::memory_order_release);
    ++version_;
    const bool is_inside = mark_waiting(true);
    changed_.notify_all();
    changed_.wait(lock, [this, version = version_, is_inside] {
      return std::all_of(inside_.begin(), inside_.end(), [&](const Visit& visit) {
        return visit.version >= version || (is_inside && visit.waiting);
      });
    });
    mark_waiting(false);
  }

  // Whether this thread is inside the function.
  bool mark_waiting(bool waiting) {
    bool is_inside = false;
    for (Visit& visit : inside_) {
      if (visit.thread != std::this_thread::get_id()) continue;
      visit.waiting = waiting;
      is_inside = true;
    }
    return is_inside;
  }

  std::atomic<bool> is_set_{false};  // whether function_ is set; for callers that ask only that
  std::mutex mutex_;                 // guards the rest
  std::condition_variable changed_;
  Function function_ = nullptr;
  void* user_data_ = nullptr;
  uint64_t version_ = 0;  // how often the function was set
  bool stopped_ = false;
  std::list<Visit> inside_;
};

}  // namespace varve
