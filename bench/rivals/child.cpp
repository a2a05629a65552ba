#include "child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

namespace varve::bench {

std::vector<std::string> opener_arguments(const RivalEntry& rival, const std::string& directory,
                                          const std::vector<std::string>& command) {
  const auto folder = std::filesystem::canonical("/proc/self/exe").parent_path();
  std::vector<std::string> arguments = {folder / rival.opener, rival.name, directory};
  arguments.insert(arguments.end(), command.begin(), command.end());
  return arguments;
}

Child::Child(std::vector<std::string> arguments) : program_(arguments[0]) {
  std::array<int, 2> to{};
  std::array<int, 2> from{};
  if (pipe2(to.data(), O_CLOEXEC) != 0 || pipe2(from.data(), O_CLOEXEC) != 0) give_up("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
  std::vector<char*> pointers;
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  // Unlike fork(), it costs the same however much memory is in use here.
  if (posix_spawn(&process_, pointers[0], &actions, nullptr, pointers.data(), environ) != 0) {
    give_up(program_ + " could not be started");
  }
  posix_spawn_file_actions_destroy(&actions);
  ::close(to[0]);
  ::close(from[1]);
  input_ = to[1];
  output_ = from[0];
}

Child::~Child() {
  ::close(input_);
  ::close(output_);
  if (process_ != 0) waitpid(process_, nullptr, 0);
}

void Child::go() {
  if (write(input_, "g", 1) != 1) give_up(program_ + " cannot be told to go on");
}

void Child::await() {
  char byte = 0;
  if (read(output_, &byte, 1) != 1) give_up(program_ + " ended too early");
}

std::string Child::rest() {
  std::string text;
  std::array<char, 256> block{};
  ssize_t size = 0;
  while ((size = read(output_, block.data(), block.size())) > 0) {
    text.append(block.data(), static_cast<size_t>(size));
  }
  return text;
}

int Child::exit_status() {
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = 0;
  if (!WIFEXITED(status)) give_up(program_ + " was killed");
  return WEXITSTATUS(status);
}

}  // namespace varve::bench
