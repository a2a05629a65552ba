#include "simulation.h"

#include <algorithm>

#include "base/hash.h"
#include "steps.h"

namespace varve::simulation {
namespace {

// The parts of a run, in their order.
class Simulation {
 public:
  Simulation(uint64_t seed, crash::Sabotage defect) : world_(seed, defect), steps_(world_) {}

  void run() {
    choose_settings();
    for (SessionModel& session : world_.sessions) steps_.create(session);
    const int64_t step_count = dice_.between(30, 120);
    for (int64_t i = 0; i < step_count && !world_.failed(); ++i) step();
    if (!world_.failed()) finish();
  }

  Run result(uint64_t seed) {
    Run run;
    run.seed = seed;
    run.violation = world_.violation();
    run.trace = world_.trace();
    run.trace.push_back("the disk: " + std::to_string(disk_hash()));
    return run;
  }

 private:
  void choose_settings() {
    world_.set_process_count(1 + dice_.below(4));
    for (size_t slot = 0; slot < world_.process_count(); ++slot) {
      if (dice_.one_in(8)) world_.set_exclusive(slot);
    }
    const bool is_limited = dice_.one_in(4);
    const std::string limit_mb = is_limited ? dice_.one_in(2) ? "0.008" : "0.02" : "0";
    const std::string recovery = dice_.pick(kRecoveries);
    // Nothing of little relevance may be dropped, and no thread may look at the real clock.
    world_.store_config =
        R"({"storage":{"max_session_size_mb":)" + limit_mb + R"(},"decay":{"enabled":false},)" +
        R"("integrity":{"recovery":")" + recovery + R"("},)" +
        R"("concurrency":{"lock_timeout_ms":100},"performance":{"cache_size":)" +
        (dice_.one_in(2) ? "100" : "2") + R"(,"batch_write_interval_ms":3600000}})";
    const size_t count = 1 + dice_.below(3);
    for (size_t i = 1; i <= count; ++i) {
      SessionSettings settings;
      settings.id = "s" + std::to_string(i);
      // Without a promise for what is not synced a power loss leaves what a strict store refuses.
      if (recovery != "strict") settings.durability = dice_.pick(kDurabilities);
      settings.salvages = recovery == "salvage";
      settings.kv_cap = dice_.one_in(2) ? 3 : 200;
      settings.transcript_cap = dice_.one_in(2) ? 4 : 500;
      settings.is_limited = is_limited;
      world_.sessions.emplace_back(std::move(settings));
    }
    world_.note(std::to_string(world_.process_count()) + " processes, " + world_.store_config);
  }

  // The environment acts, or a process.
  void step() {
    world_.clock.jump(dice_.between(0, 3000));
    const size_t choice = dice_.below(40);
    if (choice == 0) {
      world_.lose_power();
    } else if (choice == 1) {
      const size_t slot = dice_.below(world_.process_count());
      world_.note("the process in place " + std::to_string(slot) + " is killed");
      world_.kill(slot);
    } else if (choice == 2) {
      const int64_t jump_ms = dice_.between(-200, 200) * 1000;
      world_.note("the clock jumps by " + std::to_string(jump_ms) + " ms");
      world_.clock.jump(jump_ms);
    } else {
      steps_.take();
      // A machine that fails takes a process in the middle of a call.
      if (world_.last_was_disturbed() && dice_.one_in(4)) world_.lose_power();
    }
  }

  void finish() {
    if (dice_.one_in(4)) {
      for (size_t slot = 0; slot < world_.process_count(); ++slot) world_.kill(slot);
    } else {
      world_.lose_power();
    }
    for (SessionModel& session : world_.sessions) {
      if (!world_.failed()) steps_.look(0, session);
    }
  }

  uint64_t disk_hash() {
    std::string all;
    for (const std::string& path : world_.disk().list_all()) {
      all += path + '\n' + world_.disk().read_file(path).value_or("") + '\n';
    }
    return hash64(all);
  }

  const std::vector<std::string> kRecoveries = {"tail", "tail", "strict", "salvage"};
  const std::vector<std::string> kDurabilities = {"commit", "commit", "interval", "os"};
  World world_;
  Dice& dice_ = world_.dice;
  Steps steps_;
};

}  // namespace

std::string Run::text(size_t steps_max) const {
  std::string text;
  for (size_t i = trace.size() - std::min(steps_max, trace.size()); i < trace.size(); ++i) {
    text += std::to_string(i) + " " + trace[i] + "\n";
  }
  return text;
}

std::string Run::failure() const {
  return "seed " + std::to_string(seed) + ": " + violation + "\n" + text(15) +
         "To see all of it: simulate " + std::to_string(seed) + "\n";
}

Run simulate(uint64_t seed, crash::Sabotage defect) {
  Simulation simulation(seed, defect);
  simulation.run();
  return simulation.result(seed);
}

}  // namespace varve::simulation
