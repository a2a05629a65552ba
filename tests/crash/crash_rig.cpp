#include "crash_rig.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace varve::crash {

size_t scaled(size_t count) {
  const char* text = std::getenv("VARVE_CRASH_SCALE");
  const size_t percent =
      text == nullptr ? VARVE_CRASH_SCALE_DEFAULT : std::strtoul(text, nullptr, 10);
  return std::max<size_t>(1, count * percent / 100);
}

CrashRig::CrashRig(Sabotage defect)
    : CrashRig(std::make_unique<io::SimulatedFileSystem>(), {}, defect) {}

CrashRig::CrashRig(std::unique_ptr<io::SimulatedFileSystem> disk, Ledger ledger, Sabotage defect)
    : disk_(std::move(disk)), defect_(defect), ledger_(std::move(ledger)) {}

CrashRig::~CrashRig() { unwatch(); }

CrashRig::Process CrashRig::process(int64_t process_id) {
  Process made;
  made.own = disk_->process(process_id);
  processes_[process_id] = made.own.get();
  made.file_system = std::make_unique<SabotagedFileSystem>(*made.own, defect_);
  made.program = std::make_unique<Program>(*made.file_system, ledger_, [this] { changed(); });
  return made;
}

void CrashRig::watch(size_t states_max) {
  states_max_ = states_max;
  disk_->set_fault_hook([this](const io::OperationInfo& operation) {
    before_operation(operation);
    return faults_ ? faults_(operation) : std::nullopt;
  });
}

void CrashRig::unwatch() {
  states_max_ = 0;
  disk_->set_fault_hook({});
}

void CrashRig::kill_before(int64_t process_id, uint64_t ordinal) {
  operations_left_ = ordinal;
  disk_->set_fault_hook([this, process_id](const io::OperationInfo& operation) {
    if (operation.process_id == process_id && operations_left_ > 0 && --operations_left_ == 0) {
      processes_.at(process_id)->kill();
      killed_ = true;
    }
    return std::optional<io::Fault>();
  });
}

bool CrashRig::bury() {
  disk_->set_fault_hook({});
  for (auto& [id, session] : ledger_) {
    for (auto& [entry_id, entry] : session.entries) {
      for (Promise* promise : {&entry.added, &entry.added_visibly}) {
        if (*promise == Promise::kRefused) *promise = Promise::kUnknown;
      }
      if (entry.removed == Promise::kRefused) entry.removed = Promise::kUnknown;
      const uint32_t last = entry.vectors.back();
      for (const uint32_t number : entry.given_vectors) {
        if (number > last) entry.vectors.push_back(number);
      }
    }
  }
  return killed_;
}

void CrashRig::changed() {
  if (states_max_ > 0) look(states_max_);
}

std::string CrashRig::pending_text() const { return disk_->describe(disk_->keep_all()); }

// Looks at what the operation before this one left.
void CrashRig::before_operation(const io::OperationInfo& operation) {
  if (looking_) return;
  if (synced_ || pending_text() != seen_) look(states_max_);
  synced_ = operation.kind == io::OperationKind::kSyncData ||
            operation.kind == io::OperationKind::kSyncDirectory ||
            operation.kind == io::OperationKind::kOpenRoot;
}

void CrashRig::look(size_t states_max) {
  looking_ = true;
  synced_ = false;
  seen_ = pending_text();
  const auto where = [this] {
    const auto trace = disk_->trace();
    return trace.empty() ? std::string() : "  before: " + trace.back() + "\n";
  };
  disk_->for_each_crash_state(
      [&](std::unique_ptr<io::SimulatedFileSystem> state, const io::CrashPlan& plan) {
        state_count_ += 1;
        findings_.set_context(where() + disk_->describe(plan));
        check_disk(*state, ledger_, demands_, findings_);
      },
      scaled(states_max));
  Demands killed = demands_;
  killed.loss = Loss::kProcess;
  const auto copy = disk_->copy();
  state_count_ += 1;
  findings_.set_context(where() + "all processes killed\n");
  check_disk(*copy, ledger_, killed, findings_);
  findings_.set_context({});
  looking_ = false;
}

}  // namespace varve::crash
