// Runs programs on a simulated disk and, at every moment at which something changed, looks at every
// state a power loss or the death of all processes could leave there.
#pragma once

#include <memory>
#include <string>

#include "ledger.h"
#include "program.h"
#include "sabotage.h"

namespace varve::crash {

// How much of everything: VARVE_CRASH_SCALE in percent; when not set, 100 or what a sanitizer can
// bear.
size_t scaled(size_t count);

class CrashRig {
 public:
  explicit CrashRig(Sabotage defect = Sabotage::kNone);
  // Starts from a disk as it is.
  CrashRig(std::unique_ptr<io::SimulatedFileSystem> disk, Ledger ledger,
           Sabotage defect = Sabotage::kNone);
  ~CrashRig();
  CrashRig(const CrashRig&) = delete;
  CrashRig& operator=(const CrashRig&) = delete;

  // A process on the disk. It lives until its object goes, or kill() of its file system.
  struct Process {
    std::unique_ptr<io::SimulatedFileSystem> own;  // of further processes
    std::unique_ptr<SabotagedFileSystem> file_system;
    std::unique_ptr<Program> program;

    Program* operator->() const { return program.get(); }
  };
  Process process(int64_t process_id);

  // Process `process_id` dies before its `ordinal`-th operation, from 1. Replaces watch().
  void kill_before(int64_t process_id, uint64_t ordinal);
  // Whether it did. Also makes unknown what the dead was not told in its lifetime.
  bool bury();

  // Looks at all moments from now on, at most `states_max` states of each.
  void watch(size_t states_max = 120);
  void unwatch();
  // While watching, operations also fail as `faults` says.
  void fail(io::FaultHook faults) { faults_ = std::move(faults); }
  // Looks at this moment now.
  void look(size_t states_max);

  io::SimulatedFileSystem& disk() { return *disk_; }
  Ledger& ledger() { return ledger_; }
  Findings& findings() { return findings_; }
  Demands& demands() { return demands_; }
  [[nodiscard]] size_t state_count() const { return state_count_; }

 private:
  void changed();
  void before_operation(const io::OperationInfo& operation);
  [[nodiscard]] std::string pending_text() const;

  std::unique_ptr<io::SimulatedFileSystem> disk_;
  Sabotage defect_;
  Ledger ledger_;
  Findings findings_;
  Demands demands_;
  size_t states_max_ = 0;  // 0: not watching
  size_t state_count_ = 0;
  bool synced_ = false;  // something became durable since the last look
  std::string seen_;     // what was pending then
  bool looking_ = false;
  std::map<int64_t, io::SimulatedFileSystem*> processes_;
  uint64_t operations_left_ = 0;  // of the process that is to die
  bool killed_ = false;
  io::FaultHook faults_;
};

}  // namespace varve::crash
