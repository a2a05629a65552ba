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

TEST(QuietThread, ThatCannotBeStartedIsAnException) {
  const test::NoThreads none;
  bool was_done = false;
  EXPECT_THROW(QuietThread([&] { was_done = true; }), std::system_error);
  EXPECT_FALSE(was_done);
}

}  // namespace
}  // namespace varve
