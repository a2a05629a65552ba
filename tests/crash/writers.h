// Writers as processes, that are started again when they die, and what they have told so far.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "worker_process.h"

namespace varve::crash {

inline constexpr const char* kOs = R"({"durability":"os","concurrency":{"lock_timeout_ms":60000}})";
inline constexpr const char* kCommit =
    R"({"durability":"commit","concurrency":{"lock_timeout_ms":60000}})";

// Entries of each writer: VARVE_CRASH_ADDS.
size_t adds_of_each();
// How often a test over small stores is repeated: VARVE_CRASH_ROUNDS.
size_t rounds();

int64_t monotonic_ms();

class Writer {
 public:
  // `command`: "add", "batch" or "churn", see worker.cpp.
  Writer(std::string command, std::string root, std::string name, size_t last, const char* config);

  [[nodiscard]] bool is_done() const { return done_; }
  [[nodiscard]] size_t told() const { return told_; }
  [[nodiscard]] bool has_told_since_start() const { return told_ > told_at_start_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int output() const { return process_->output(); }

  // Reads what it says. Notices its end.
  void listen();
  // False when it was killed already, and has not been started again.
  bool kill();

 private:
  void start();

  const std::string command_;
  const std::string root_;
  const std::string name_;
  const size_t last_;
  const std::string config_;
  std::unique_ptr<WorkerProcess> process_;
  size_t told_ = 0;
  size_t told_at_start_ = 0;
  bool done_ = false;
  bool is_killed_ = false;
};

// How many entries, or turns, they were told are there.
size_t told_by(const std::vector<Writer>& writers);

// Listens to all of `active` that have something to say, for at most `wait_ms`.
void listen_to(const std::vector<Writer*>& active, int64_t wait_ms);

// Listens to all until all are done; calls `meanwhile` about every `pause_ms`, at 0 all the time.
template <typename Meanwhile>
void run_to_end(std::vector<Writer>& writers, int pause_ms, Meanwhile meanwhile) {
  int64_t next_ms = monotonic_ms() + pause_ms;
  for (;;) {
    std::vector<Writer*> active;
    for (Writer& writer : writers) {
      if (!writer.is_done()) active.push_back(&writer);
    }
    if (active.empty()) return;
    listen_to(active, std::max<int64_t>(0, next_ms - monotonic_ms()));
    if (monotonic_ms() < next_ms) continue;
    next_ms = monotonic_ms() + pause_ms;
    meanwhile(active);
  }
}

}  // namespace varve::crash
