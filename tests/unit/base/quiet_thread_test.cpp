#include "base/quiet_thread.h"

#include <gtest/gtest.h>

#include <csignal>
#include <latch>
#include <system_error>

#include "support/no_threads.h"

namespace varve {
namespace {

sigset_t blocked_here() {
  sigset_t signals;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &signals);
  return signals;
}

TEST(QuietThread, TakesNoSignalButThoseOfItsOwnFaults) {
  const sigset_t before = blocked_here();
  sigset_t blocked;
  sigemptyset(&blocked);
  QuietThread([&] { blocked = blocked_here(); }).join();
  for (const int signal : {SIGHUP, SIGINT, SIGTERM, SIGCHLD, SIGALRM, SIGPROF, SIGUSR1, SIGRTMIN}) {
    EXPECT_EQ(sigismember(&blocked, signal), 1) << signal;
  }
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) {
    EXPECT_EQ(sigismember(&blocked, fault), sigismember(&before, fault)) << fault;
  }
  const sigset_t after = blocked_here();
  for (int signal = 1; signal < NSIG; ++signal) {
    EXPECT_EQ(sigismember(&after, signal), sigismember(&before, signal)) << signal;
  }
}

TEST(QuietThread, IsWaitedForWhenItGoes) {
  bool was_done = false;
  std::latch begun(1);
  {
    QuietThread first([&] {
      begun.wait();
      was_done = true;
    });
    QuietThread moved(std::move(first));
    begun.count_down();
    moved = QuietThread();
    EXPECT_TRUE(was_done);
    moved.join();
  }
}

TEST(QuietThread, HasRoomWhereTheHostsThreadsHaveLittle) {
  constexpr size_t kLittle = size_t{48} << 10;
  constexpr size_t kEnough = size_t{96} << 10;  // what docs/threading.md says of a call
  pthread_attr_t usual;
  ASSERT_EQ(::pthread_getattr_default_np(&usual), 0);
  pthread_attr_t little;
  ASSERT_EQ(::pthread_attr_init(&little), 0);
  ASSERT_EQ(::pthread_attr_setstacksize(&little, kLittle), 0);
  ASSERT_EQ(::pthread_setattr_default_np(&little), 0);
  size_t stack_bytes = 0;
  QuietThread([&] {
    pthread_attr_t own;
    if (::pthread_getattr_np(::pthread_self(), &own) != 0) return;
    (void)::pthread_attr_getstacksize(&own, &stack_bytes);
    ::pthread_attr_destroy(&own);
  }).join();
  EXPECT_EQ(::pthread_setattr_default_np(&usual), 0);
  ::pthread_attr_destroy(&little);
  ::pthread_attr_destroy(&usual);
  EXPECT_GE(stack_bytes, 2 * kEnough);
}

TEST(QuietThread, ThatCannotBeStartedIsAnException) {
  const test::NoThreads none;
  bool was_done = false;
  EXPECT_THROW(QuietThread([&] { was_done = true; }), std::system_error);
  EXPECT_FALSE(was_done);
}

}  // namespace
}  // namespace varve
