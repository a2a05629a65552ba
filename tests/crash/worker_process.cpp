#include "worker_process.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace varve::crash {

WorkerProcess::WorkerProcess(std::vector<std::string> arguments, std::vector<std::string> before) {
  before.emplace_back(VARVE_CRASH_WORKER);
  arguments.insert(arguments.begin(), before.begin(), before.end());
  std::vector<char*> values;
  for (std::string& argument : arguments) values.push_back(argument.data());
  values.push_back(nullptr);
  std::array<int, 2> in{};
  std::array<int, 2> out{};
  EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(out.data(), O_CLOEXEC), 0);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
  EXPECT_EQ(::posix_spawnp(&id_, values[0], &actions, nullptr, values.data(), environ), 0);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(in[0]);
  ::close(out[1]);
  input_ = in[1];
  output_ = out[0];
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept { *this = std::move(other); }

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  if (this == &other) return *this;
  give_up();
  id_ = std::exchange(other.id_, -1);
  input_ = std::exchange(other.input_, -1);
  output_ = std::exchange(other.output_, -1);
  rest_ = std::move(other.rest_);
  waiting_ = std::move(other.waiting_);
  return *this;
}

WorkerProcess::~WorkerProcess() { give_up(); }

void WorkerProcess::give_up() {
  if (id_ > 0) {
    ::kill(id_, SIGKILL);
    wait();
  }
  close_input();
  if (output_ >= 0) ::close(output_);
  output_ = -1;
}

bool WorkerProcess::read_lines(std::vector<std::string>* lines) {
  std::array<char, 4096> bytes{};
  ssize_t count = 0;
  do {
    count = ::read(output_, bytes.data(), bytes.size());
  } while (count < 0 && errno == EINTR);
  if (count <= 0) return false;
  rest_.append(bytes.data(), static_cast<size_t>(count));
  for (size_t end = 0; (end = rest_.find('\n')) != std::string::npos;) {
    lines->push_back(rest_.substr(0, end));
    rest_.erase(0, end + 1);
  }
  return true;
}

bool WorkerProcess::read_line(std::string* line) {
  while (waiting_.empty()) {
    if (!read_lines(&waiting_)) return false;
  }
  *line = waiting_.front();
  waiting_.erase(waiting_.begin());
  return true;
}

void WorkerProcess::send(int signal) const { EXPECT_EQ(::kill(id_, signal), 0); }

void WorkerProcess::close_input() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

void WorkerProcess::wait_until_stopped() const {
  int state = 0;
  EXPECT_EQ(::waitpid(id_, &state, WUNTRACED), id_);
  EXPECT_TRUE(WIFSTOPPED(state));
}

int WorkerProcess::wait() {
  int state = 0;
  pid_t answer = 0;
  do {
    answer = ::waitpid(id_, &state, 0);
  } while (answer < 0 && errno == EINTR);
  EXPECT_EQ(answer, id_);
  id_ = -1;
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

}  // namespace varve::crash
