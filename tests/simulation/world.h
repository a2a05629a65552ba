// The world of one seed: a disk, a clock, processes, sessions with their models, and what goes
// wrong next. Writes the trace, and stops at the first answer that no model allows.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dice.h"
#include "model.h"
#include "process.h"

namespace varve::simulation {

// What is to happen inside the next call of a process.
struct Mishap {
  enum class Kind : uint8_t { kNone, kFault, kDeath, kOther };  // kOther: another one's call
  Kind kind = Kind::kNone;
  uint64_t operations_left = 0;  // until it happens, from 1
  io::Fault fault;
  std::vector<io::OperationKind> kinds;  // of operations that count; empty: all
  std::string happened;                  // where; empty: not yet
};

class World {
 public:
  World(uint64_t seed, crash::Sabotage sabotage);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // A living process in this place; who was there and died is followed by another one.
  SimulatedProcess& process(size_t slot);
  // Who lives in this place; nobody, perhaps.
  SimulatedProcess* living(size_t slot);
  // Whether another process than the caller's keeps it from writing to the session (empty: to any).
  [[nodiscard]] bool is_held_by_another(const std::string& session);
  // One more process, in no place, that nothing happens to.
  std::unique_ptr<SimulatedProcess> visitor();
  void kill(size_t slot);
  // All processes die, and the disk keeps what it happens to keep.
  void lose_power();

  // A new line of the trace: who does what. Until end_call() a mishap may happen.
  void begin_call(size_t slot, std::string text, Mishap mishap = {});
  void end_call();
  // Adds to the line.
  void tell(std::string_view text);
  void note(std::string text);  // a line of its own

  // What became of a call that changes something, on a session or (empty) none. `expected`: codes
  // that are right though nothing is the matter with the disk.
  Outcome outcome_of(const Status& status, const std::string& session,
                     std::initializer_list<Code> expected = {});
  // Whether what a reading call answered is to be compared.
  bool is_answer(const Status& status, std::initializer_list<Code> expected = {});
  // The disk failed in this call, or its process died.
  [[nodiscard]] bool was_disturbed() const {
    return !calls_.empty() && !calls_.back().mishap.happened.empty();
  }

  [[nodiscard]] bool last_was_disturbed() const { return last_was_disturbed_; }  // the last call

  void fail(std::string_view what);  // an answer is wrong
  [[nodiscard]] bool failed() const { return !violation_.empty(); }
  [[nodiscard]] const std::string& violation() const { return violation_; }
  [[nodiscard]] const std::vector<std::string>& trace() const { return trace_; }
  [[nodiscard]] io::SimulatedFileSystem& disk() { return *disk_; }

  Dice dice;
  VirtualClock clock;
  std::vector<SessionModel> sessions;
  std::string store_config;
  std::function<void()> other_call;  // made in the middle of a call

  void set_process_count(size_t count) {
    processes_.resize(count);
    exclusive_.resize(count);
  }
  // Who lives in this place has its sessions for itself (concurrency.exclusive).
  void set_exclusive(size_t slot) { exclusive_[slot] = true; }
  [[nodiscard]] size_t process_count() const { return processes_.size(); }
  // Whose call it is: of calls inside one another, the inner one.
  [[nodiscard]] SimulatedProcess& caller() { return *processes_[caller_slot()]; }
  [[nodiscard]] size_t caller_slot() const { return calls_.back().slot; }

 private:
  struct Call {
    size_t slot;
    Mishap mishap;
    std::string line;
    uint64_t operations_before;
  };

  void watch_disk();
  std::optional<io::Fault> before_operation(const io::OperationInfo& operation);
  io::CrashPlan random_plan();
  void repair_where_strict(const std::string& id);

  crash::Sabotage defect_;
  std::unique_ptr<io::SimulatedFileSystem> disk_;
  std::vector<std::unique_ptr<SimulatedProcess>> processes_;
  std::vector<bool> exclusive_;
  int64_t next_process_id_ = 2001;
  std::vector<Call> calls_;
  bool last_was_disturbed_ = false;
  std::vector<std::string> trace_;
  std::string violation_;
};

}  // namespace varve::simulation
