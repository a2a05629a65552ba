#include "capi/log_receiver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace varve::capi {
namespace {

// A host's log function that runs whatever the test wants.
struct Host {
  std::function<void(const std::string&)> act;
  static void log(void* self, int32_t level, const char* line, size_t len) {
    static_cast<Host*>(self)->act(std::to_string(level) + " " + std::string(line, len));
  }
};

void send(LogReceiver& receiver, const char* line) {
  LogReceiver::receive(&receiver, VARVE_LOG_INFO, line, std::char_traits<char>::length(line));
}

TEST(LogReceiver, PassesLinesOnToTheFunctionThatIsSet) {
  LogReceiver receiver;
  std::vector<std::string> lines;
  Host host{[&](const std::string& line) { lines.push_back(line); }};
  send(receiver, "nobody listens");
  receiver.set(&Host::log, &host);
  send(receiver, "a");
  receiver.set(nullptr, nullptr);
  send(receiver, "b");
  EXPECT_EQ(lines, std::vector<std::string>{"1 a"});
}

TEST(LogReceiver, IgnoresFunctionsSetAfterStop) {
  LogReceiver receiver;
  int count = 0;
  Host host{[&](const std::string&) { ++count; }};
  receiver.set(&Host::log, &host);
  receiver.stop();
  receiver.set(&Host::log, &host);
  send(receiver, "late");
  EXPECT_EQ(count, 0);
}

TEST(LogReceiver, StopWaitsUntilOtherThreadsHaveLeftTheFunction) {
  LogReceiver receiver;
  std::atomic<bool> inside{false};
  std::atomic<bool> may_leave{false};
  std::atomic<bool> left{false};
  Host host{[&](const std::string&) {
    inside = true;
    while (!may_leave) std::this_thread::yield();
    left = true;
  }};
  receiver.set(&Host::log, &host);
  std::thread sender([&] { send(receiver, "slow"); });
  while (!inside) std::this_thread::yield();
  std::atomic<bool> stopped{false};
  bool left_at_stop = false;
  std::thread stopper([&] {
    receiver.stop();
    left_at_stop = left;
    stopped = true;
  });
  for (int i = 0; i < 100; ++i) std::this_thread::yield();
  EXPECT_FALSE(stopped);
  may_leave = true;
  sender.join();
  stopper.join();
  EXPECT_TRUE(left_at_stop);
}

TEST(LogReceiver, FunctionMayStopItself) {
  LogReceiver receiver;
  int count = 0;
  Host host{[&](const std::string&) {
    ++count;
    receiver.stop();
  }};
  receiver.set(&Host::log, &host);
  send(receiver, "once");
  send(receiver, "twice");
  EXPECT_EQ(count, 1);
}

TEST(LogReceiver, TwoThreadsThatSetFromInsideDoNotWaitForEachOther) {
  LogReceiver receiver;
  std::atomic<int> inside{0};
  Host host{[&](const std::string&) {
    ++inside;
    while (inside < 2) std::this_thread::yield();
    receiver.set(nullptr, nullptr);
  }};
  receiver.set(&Host::log, &host);
  std::thread one([&] { send(receiver, "one"); });
  std::thread two([&] { send(receiver, "two"); });
  one.join();
  two.join();
  EXPECT_EQ(inside, 2);
}

TEST(LogReceiver, CallsOfTheNewFunctionDoNotHoldUpWhoeverSetIt) {
  LogReceiver receiver;
  std::atomic<bool> old_may_leave{false};
  std::atomic<bool> old_inside{false};
  std::atomic<bool> new_may_leave{false};
  std::atomic<bool> new_inside{false};
  Host old_host{[&](const std::string&) {
    old_inside = true;
    while (!old_may_leave) std::this_thread::yield();
  }};
  Host new_host{[&](const std::string&) {
    new_inside = true;
    while (!new_may_leave) std::this_thread::yield();
  }};
  receiver.set(&Host::log, &old_host);
  std::thread first([&] { send(receiver, "old"); });
  while (!old_inside) std::this_thread::yield();
  std::thread setter([&] { receiver.set(&Host::log, &new_host); });
  // Sends until a line reaches the new function, and stays in there.
  std::thread second([&] {
    while (!new_inside) send(receiver, "new");
  });
  old_may_leave = true;
  first.join();
  setter.join();  // although `second` is, or soon will be, inside the new function
  while (!new_inside) std::this_thread::yield();
  new_may_leave = true;
  second.join();
  EXPECT_TRUE(new_inside);
}

TEST(LogReceiver, ExceptionOfTheHostLeavesTheFunctionToo) {
  LogReceiver receiver;
  Host host{[](const std::string&) { throw 1; }};
  receiver.set(&Host::log, &host);
  EXPECT_THROW(send(receiver, "thrown"), int);
  std::thread stopper([&] { receiver.stop(); });  // would wait for ever for the one that threw
  stopper.join();
}

}  // namespace
}  // namespace varve::capi
