// Limits: a store that a child process may use, which can be limited and must not hang.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "capi/client.h"

namespace varve::crash {

inline constexpr unsigned kHangSeconds = 100;

// Runs `work` in a child of its own: 0 when all its expectations held.
template <typename Work>
int in_child(Work work) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kHangSeconds);
    const int answer = work();
    std::fflush(nullptr);
    ::_exit(testing::Test::HasFailure() ? 1 : answer);
  }
  int state = 0;
  EXPECT_EQ(::waitpid(child, &state, 0), child);
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

// A store with a session "s" that has the entries a1 and a2, readable for everybody.
class Limits : public testing::Test {
 protected:
  Limits() : root_(directory_.path() + "/store") {
    const varve_test::Store store(root_);
    const varve_test::Session session(store, R"({"session_id":"s"})");
    EXPECT_TRUE(session.add(varve_test::entry("a1")).ok());
    EXPECT_TRUE(session.add(varve_test::entry("a2")).ok());
    EXPECT_TRUE(session.add(varve_test::entry("gone")).ok());
    EXPECT_TRUE(session.remove("gone").ok());
  }

  [[nodiscard]] std::string session_directory() const { return root_ + "/sessions/s"; }

  const varve_test::TempDirectory directory_;
  const std::string root_;
};

}  // namespace varve::crash
