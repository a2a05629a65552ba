#include "base/host_function.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <thread>

namespace varve {
namespace {

using Function = void (*)();

void first() {}
void second() {}
void third() {}

TEST(HostFunction, TwoThatSetFromInsideDoNotWaitForEachOther) {
  HostFunction<Function> function;
  function.set(first, nullptr);
  std::latch both_inside(2);
  const auto set_from_inside = [&](Function next) {
    return std::thread([&, next] {
      const HostFunction<Function>::Stay inside(function);
      both_inside.arrive_and_wait();
      function.set(next, nullptr);
    });
  };
  std::thread one = set_from_inside(second);
  std::thread other = set_from_inside(third);
  one.join();
  other.join();
  EXPECT_TRUE(function.is_set());
}

// The host may free what belongs to the function once it is replaced: so a thread that replaces it
// from outside waits also for one that sets from inside.
TEST(HostFunction, WhoSetsFromOutsideWaitsForOneThatSetsFromInside) {
  HostFunction<Function> function;
  function.set(first, nullptr);
  std::latch is_in_first(1);
  std::latch set_now(1);
  std::atomic<bool> left_first = false;
  std::thread from_inside([&] {
    const HostFunction<Function>::Stay inside(function);
    is_in_first.count_down();
    set_now.wait();
    function.set(third, nullptr);
    left_first = true;
  });
  is_in_first.wait();

  std::atomic<bool> was_free_of_first = false;
  std::atomic<bool> has_returned = false;
  std::thread from_outside([&] {
    function.set(second, nullptr);
    was_free_of_first = left_first.load();
    has_returned = true;
  });
  const auto in_second = [&] {
    const HostFunction<Function>::Stay look(function);
    return look.function() == second;
  };
  while (!in_second()) std::this_thread::yield();

  // One that is in `second` keeps the thread that sets from inside waiting.
  std::latch is_in_second(1);
  std::latch leave_second(1);
  std::thread in_the_way([&] {
    const HostFunction<Function>::Stay inside(function);
    is_in_second.count_down();
    leave_second.wait();
  });
  is_in_second.wait();
  set_now.count_down();
  for (int i = 0; i < 20 && !has_returned; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_FALSE(has_returned);
  leave_second.count_down();
  from_inside.join();
  from_outside.join();
  in_the_way.join();
  EXPECT_TRUE(was_free_of_first);
}

}  // namespace
}  // namespace varve
