// The workloads that ask a store in a fresh process, which loads no other engine's libraries: how
// long that takes from its start to its end, and how much memory it has then.
#include "bench_run.h"

#include <algorithm>
#include "child.h"

namespace varve::bench {

namespace {

constexpr size_t kOpenCount = 15;

using Command = std::vector<std::string>;

// Runs it to its end. False: the engine cannot.
bool run_opener(const Run& run, const RivalEntry& rival, const Command& command,
                std::string* output = nullptr) {
  Child child(opener_arguments(rival, run.store_directory(rival), command));
  if (output != nullptr) *output = child.rest();
  const int status = child.exit_status();
  if (status != 0 && status != kCannot) give_up(rival.opener + " did not succeed");
  return status == 0;
}

void measure_opener(Run* run, const RivalEntry& rival, const std::string& work,
                    const Command& command) {
  if (!run_opener(*run, rival, command)) return;
  const auto times_us = timed(*run, kOpenCount, [&](size_t) { run_opener(*run, rival, command); });
  run->figures.note(work, rival.name, percentile(times_us, 0.5) / 1000);
}

std::string asked_id(const Run& run) {
  return entry_id((run.round * 7919 + run.options.entry_count / 2) % run.options.entry_count);
}

const std::vector<std::string>& asked_words(const Run& run) {
  return run.queries.any[run.round % run.queries.any.size()].words;
}

// Of all entries, from the first ones: they are as long as each other, within a hundredth.
double given_bytes(const Run& run) {
  const size_t seen_count = std::min<size_t>(run.options.entry_count, 1000);
  double bytes = 0;
  for (size_t i = 0; i < seen_count; ++i) {
    bytes += static_cast<double>(run.workload.entry(i).json.size());
  }
  return bytes / static_cast<double>(seen_count) * static_cast<double>(run.options.entry_count);
}

}  // namespace

void measure_opening(Run* run, const RivalEntry& rival) {
  measure_opener(run, rival, "open and first get, fresh process, ms", {"get", asked_id(*run)});
  Command command = {"text"};
  command.insert(command.end(), asked_words(*run).begin(), asked_words(*run).end());
  measure_opener(run, rival, "open and first text query, fresh process, ms", command);
}

void measure_memory(Run* run, const RivalEntry& rival) {
  Command command = {"memory", asked_id(*run)};
  command.insert(command.end(), asked_words(*run).begin(), asked_words(*run).end());
  std::string output;
  if (!run_opener(*run, rival, command, &output)) give_up(rival.name + " tells no memory");
  const double bytes = std::strtod(output.c_str(), nullptr);
  if (!(bytes > 0)) give_up(rival.name + " uses no memory, which cannot be: " + output);
  run->figures.note("bytes of memory per byte given, open and asked", rival.name,
                    bytes / given_bytes(*run));
}

}  // namespace varve::bench
