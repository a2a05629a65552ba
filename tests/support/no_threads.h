// While it lives, the process can start no thread: the stack of a new one would not fit anywhere.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace varve::test {

class NoThreads {
 public:
  NoThreads() {
    (void)::pthread_getattr_default_np(&before_);
    pthread_attr_t without = before_;
    (void)::pthread_attr_setstacksize(&without, size_t{1} << 60);
    (void)::pthread_setattr_default_np(&without);
  }
  ~NoThreads() {
    (void)::pthread_setattr_default_np(&before_);
    (void)::pthread_attr_destroy(&before_);
  }
  NoThreads(const NoThreads&) = delete;
  NoThreads& operator=(const NoThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

}  // namespace varve::test
