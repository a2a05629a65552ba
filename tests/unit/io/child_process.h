// Work in a forked child, where limits, users and system calls can be taken away.
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

namespace varve::io {

// Says where, when `condition` does not hold; for lambdas that answer bool in a child.
#define CHILD_EXPECT(condition)                                                    \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      return false;                                                                \
    }                                                                              \
  } while (false)

// A child that runs `work` and ends; killed with its object when it still runs.
class ChildProcess {
 public:
  template <typename Work>
  explicit ChildProcess(Work work) {
    std::fflush(nullptr);  // or the child's copy of the buffers is printed too
    id_ = ::fork();
    if (id_ == 0) ::_exit(work() ? 0 : 1);
  }
  ~ChildProcess() {
    if (id_ > 0) {
      ::kill(id_, SIGKILL);
      wait(0);
    }
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] pid_t id() const { return id_; }
  [[nodiscard]] bool succeeded() {
    const int status = wait(0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }
  // The signal that ended it, or stopped it (with WUNTRACED), or 0.
  int wait_for_signal(int options) {
    const int status = wait(options);
    if (WIFSIGNALED(status)) return WTERMSIG(status);
    return WIFSTOPPED(status) ? WSTOPSIG(status) : 0;
  }

 private:
  int wait(int options) {
    int status = -1;
    pid_t answer = 0;
    do {
      answer = ::waitpid(id_, &status, options);
    } while (answer < 0 && errno == EINTR);
    if (answer == id_ && !WIFSTOPPED(status)) id_ = -1;
    return status;
  }

  pid_t id_ = -1;
};

template <typename Work>
bool succeeds_in_child(Work work) {
  return ChildProcess(work).succeeded();
}

// A signal between processes: after the fork one of them sends, the other receives. The end of the
// sender is received as false, so nobody waits for ever.
class Pipe {
 public:
  Pipe() {
    if (::pipe(ends_) != 0) ends_[0] = ends_[1] = -1;
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  bool send() {
    close_end(0);
    return ::write(ends_[1], "x", 1) == 1;
  }
  bool receive() {
    close_end(1);
    char byte = 0;
    return ::read(ends_[0], &byte, 1) == 1;
  }

 private:
  void close_end(int end) {
    if (ends_[end] >= 0) ::close(ends_[end]);
    ends_[end] = -1;
  }

  int ends_[2];
};

// From now on this process gets `os_errno` from the system call `number`; with
// `second_argument`, only when it is called with that.
inline bool deny_system_call(long number, int os_errno, int64_t second_argument = -1) {
  constexpr uint32_t kSecond = offsetof(seccomp_data, args) + sizeof(uint64_t);  // low half
  const bool any = second_argument < 0;
  sock_filter filter[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 3, static_cast<uint32_t>(number)},
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, kSecond},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, static_cast<uint8_t>(any ? 0 : 1),
       static_cast<uint32_t>(second_argument)},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | static_cast<uint32_t>(os_errno)},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog program{sizeof(filter) / sizeof(filter[0]), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Becomes a user without privileges, if it is not one already.
inline bool drop_privileges() {
  constexpr uid_t kNobody = 65534;
  return ::geteuid() != 0 || (::setresgid(kNobody, kNobody, kNobody) == 0 &&
                              ::setresuid(kNobody, kNobody, kNobody) == 0);
}

}  // namespace varve::io
