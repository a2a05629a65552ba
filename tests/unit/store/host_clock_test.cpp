#include "store/host_clock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>
#include <thread>

#include "base/time.h"
#include "support/environment.h"

namespace varve::store {
namespace {

// A host's clock that does whatever the test wants.
struct Host {
  std::function<int64_t()> act;
  static int64_t tell(void* self) { return static_cast<Host*>(self)->act(); }
};

class HostClocks : public testing::Test {
 protected:
  test::ManualClock system_;
  HostClock clock_{system_};
};

TEST_F(HostClocks, TellsWhatTheHostToldAtTheLastTick) {
  int64_t now_ms = 5;
  Host host{[&] { return now_ms; }};
  EXPECT_EQ(clock_.now_ms(), test::kStartMs);
  clock_.set(&Host::tell, &host);
  EXPECT_EQ(clock_.now_ms(), 5);
  now_ms = 6;
  EXPECT_EQ(clock_.now_ms(), 5);
  clock_.tick();
  EXPECT_EQ(clock_.now_ms(), 6);
  clock_.set(nullptr, nullptr);
  EXPECT_EQ(clock_.now_ms(), test::kStartMs);
}

TEST_F(HostClocks, WhatCannotBeWrittenIsTheNearestThatCan) {
  int64_t now_ms = std::numeric_limits<int64_t>::min();
  Host host{[&] { return now_ms; }};
  clock_.set(&Host::tell, &host);
  EXPECT_EQ(clock_.now_ms(), kFirstMs);
  now_ms = std::numeric_limits<int64_t>::max();
  clock_.tick();
  EXPECT_EQ(clock_.now_ms(), kLastMs);
}

TEST_F(HostClocks, WhoSetsWaitsForThoseInTheFunctionBefore) {
  std::atomic<bool> inside{false};
  std::atomic<bool> may_leave{true};
  std::atomic<bool> left{false};
  Host slow{[&]() -> int64_t {
    inside = !may_leave;
    while (!may_leave) std::this_thread::yield();
    left = true;
    return 7;
  }};
  clock_.set(&Host::tell, &slow);
  left = may_leave = false;
  std::thread caller([&] { clock_.tick(); });
  while (!inside) std::this_thread::yield();
  std::atomic<bool> is_set{false};
  bool had_left = false;
  Host next{[] { return int64_t{8}; }};
  std::thread setter([&] {
    clock_.set(&Host::tell, &next);
    had_left = left;
    is_set = true;
  });
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  EXPECT_FALSE(is_set);
  may_leave = true;
  caller.join();
  setter.join();
  EXPECT_TRUE(had_left);
  EXPECT_EQ(clock_.now_ms(), 8) << "not what the one before told last";
}

TEST_F(HostClocks, MaySetAnotherFromInside) {
  int asked = 0;
  bool is_last = false;
  Host host{[&]() -> int64_t {
    ++asked;
    if (is_last) clock_.set(nullptr, nullptr);
    return 9;
  }};
  clock_.set(&Host::tell, &host);
  asked = 0;
  is_last = true;
  clock_.tick();
  clock_.tick();
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(clock_.now_ms(), test::kStartMs);
}

}  // namespace
}  // namespace varve::store
