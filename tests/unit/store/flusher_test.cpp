#include "store/flusher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace varve::store {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

TEST(Flusher, StopsAtOnceAfterALastFlush) {
  int flushes = 0;
  {
    Flusher flusher(hours(24), [&] { flushes += 1; });
  }
  EXPECT_EQ(flushes, 1);
}

TEST(Flusher, FlushesOverAndOverOnItsOwnThread) {
  std::mutex mutex;
  std::condition_variable changed;
  int flushes = 0;
  std::thread::id thread;
  Flusher flusher(milliseconds(1), [&] {
    const std::lock_guard guard(mutex);
    flushes += 1;
    thread = std::this_thread::get_id();
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return flushes >= 3; });
  EXPECT_NE(thread, std::this_thread::get_id());
}

}  // namespace
}  // namespace varve::store
