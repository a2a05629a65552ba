// What a command or a short-lived agent waits for: a fresh process that opens the store and asks
// one thing. Each engine is opened by a program that links no other (open_main.cpp), since loading
// the libraries of all of them takes longer than most of what is measured.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench_run.h"

namespace varve::bench {

namespace {

constexpr size_t kOpenCount = 15;

// Runs the program to its end. False: it has answered that the engine cannot.
bool run_program(std::vector<std::string> arguments) {
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (auto& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t child = 0;
  // Unlike fork(), it costs the same however much memory is in use here.
  if (posix_spawn(&child, pointers[0], nullptr, nullptr, pointers.data(), environ) != 0) {
    give_up(arguments[0] + " could not be started");
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != kCannot)) {
    give_up(arguments[0] + " did not succeed");
  }
  return WEXITSTATUS(status) == 0;
}

void measure(Run* run, const RivalEntry& rival, const std::string& work,
             const std::vector<std::string>& question) {
  const auto folder = std::filesystem::canonical("/proc/self/exe").parent_path();
  std::vector<std::string> arguments = {folder / rival.opener, rival.name,
                                        run->store_directory(rival)};
  arguments.insert(arguments.end(), question.begin(), question.end());
  if (!run_program(arguments)) return;
  const auto times_us = timed(*run, kOpenCount, [&](size_t) { run_program(arguments); });
  run->figures.note(work, rival.name, percentile(times_us, 0.5) / 1000);
}

}  // namespace

void measure_opening(Run* run, const RivalEntry& rival) {
  const size_t round = run->round;
  measure(
      run, rival, "open and first get, fresh process, ms",
      {"get", entry_id((round * 7919 + run->options.entry_count / 2) % run->options.entry_count)});
  std::vector<std::string> question = {"text"};
  const auto& words = run->queries.any[round % run->queries.any.size()].words;
  question.insert(question.end(), words.begin(), words.end());
  measure(run, rival, "open and first text query, fresh process, ms", question);
}

}  // namespace varve::bench
