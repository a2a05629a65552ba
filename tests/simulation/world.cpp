#include "world.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "program.h"

namespace varve::simulation {

World::World(uint64_t seed, crash::Sabotage sabotage)
    : dice(seed), defect_(sabotage), disk_(std::make_unique<io::SimulatedFileSystem>()) {
  watch_disk();
}

World::~World() {
  disk_->set_fault_hook({});
  for (auto& process : processes_) {
    if (process) process->die();
  }
}

void World::watch_disk() {
  disk_->set_fault_hook(
      [this](const io::OperationInfo& operation) { return before_operation(operation); });
}

SimulatedProcess& World::process(size_t slot) {
  auto& process = processes_[slot];
  if (!process || !process->is_alive()) {
    process.reset();  // before the next one: their names of temporary files must differ
    process = std::make_unique<SimulatedProcess>(*disk_, next_process_id_++, dice.seed(), clock,
                                                 defect_, exclusive_[slot]);
  }
  return *process;
}

bool World::is_held_by_another(const std::string& session) {
  const auto holds = [&](const std::string& id) {
    return std::any_of(processes_.begin(), processes_.end(), [&](const auto& process) {
      return process && process.get() != &caller() && process->holds(id);
    });
  };
  if (!session.empty()) return holds(session);
  return std::any_of(sessions.begin(), sessions.end(),
                     [&](const auto& model) { return holds(model.settings.id); });
}

SimulatedProcess* World::living(size_t slot) {
  SimulatedProcess* process = processes_[slot].get();
  return process != nullptr && process->is_alive() ? process : nullptr;
}

std::unique_ptr<SimulatedProcess> World::visitor() {
  return std::make_unique<SimulatedProcess>(*disk_, next_process_id_++, dice.seed(), clock,
                                            defect_);
}

void World::kill(size_t slot) {
  if (processes_[slot]) processes_[slot]->die();
  processes_[slot].reset();
}

io::CrashPlan World::random_plan() {
  const std::vector<io::PendingChange> pending = disk_->pending();
  io::CrashPlan plan;
  const size_t way = dice.below(4);  // nothing, all, the first so many, any
  const size_t first = dice.below(pending.size() + 1);
  for (size_t i = 0; i < pending.size(); ++i) {
    if (way == 1 || (way == 2 && i < first) || (way == 3 && dice.one_in(2))) plan.kept.push_back(i);
  }
  std::vector<size_t> writes;
  for (const size_t i : plan.kept) {
    const bool is_write = pending[i].kind == io::OperationKind::kWriteAt;
    if (is_write && pending[i].size_bytes > 1) writes.push_back(i);
  }
  if (writes.empty() || dice.one_in(2)) return plan;
  plan.torn = dice.pick(writes);
  plan.tear = static_cast<io::Tear>(dice.between(1, 5));
  plan.tear_at =
      static_cast<size_t>(dice.between(1, static_cast<int64_t>(pending[plan.torn].size_bytes) - 1));
  plan.garbage_seed = dice.seed();
  return plan;
}

void World::lose_power() {
  const io::CrashPlan plan = random_plan();
  const std::string what = disk_->describe(plan);
  note("power fails, " + std::to_string(plan.kept.size()) + " of " +
       std::to_string(disk_->pending().size()) + " changes are kept\n" + what);
  auto next = disk_->crash(plan);
  for (size_t slot = 0; slot < processes_.size(); ++slot) kill(slot);
  disk_->set_fault_hook({});
  disk_ = std::move(next);
  watch_disk();
  for (SessionModel& session : sessions) {
    const bool may_be_torn = session.has_writes_to_lose();
    session.lose_power();
    if (may_be_torn && !failed()) repair_where_strict(session.settings.id);
  }
}

// A strict store refuses a log that ends in half a line, and says what to do about it.
void World::repair_where_strict(const std::string& id) {
  constexpr std::string_view kStrict = R"("recovery":"strict")";
  const size_t at = store_config.find(kStrict);
  if (at == std::string::npos) return;
  std::string config = store_config;
  config.replace(at, kStrict.size(), R"("recovery":"tail")");
  const auto operating = visitor();
  Status status = operating->open_store(config);
  if (status.ok()) status = operating->open(id);
  if (status.code() == Code::kNotFound) return;
  if (status.ok()) status = operating->find(id)->repair(false, false).status();
  note(id + " is repaired: " + (status.ok() ? "ok" : status.message()));
  if (!status.ok()) fail("it cannot be repaired: " + status.message());
  operating->close_store();
}

std::optional<io::Fault> World::before_operation(const io::OperationInfo& operation) {
  if (calls_.empty() || was_disturbed()) return std::nullopt;
  Mishap& mishap = calls_.back().mishap;
  if (mishap.kind == Mishap::Kind::kNone) return std::nullopt;
  if (operation.process_id != caller().id()) return std::nullopt;
  const auto& kinds = mishap.kinds;
  if (!kinds.empty() && std::find(kinds.begin(), kinds.end(), operation.kind) == kinds.end()) {
    return std::nullopt;
  }
  if (--mishap.operations_left > 0) return std::nullopt;
  if (mishap.kind == Mishap::Kind::kOther) {
    mishap.kind = Mishap::Kind::kNone;
    tell("(interrupted before " + std::string(io::operation_name(operation.kind)) + " " +
         operation.path + ")");
    other_call();
    return std::nullopt;
  }
  const std::string where = std::string(io::operation_name(operation.kind)) + " " + operation.path;
  if (mishap.kind == Mishap::Kind::kDeath) {
    mishap.happened = "died before " + where;
    caller().die();
    return std::nullopt;
  }
  mishap.happened = std::to_string(mishap.fault.os_errno) + " from " + where;
  if (mishap.fault.partial_bytes) mishap.happened += " in part";
  return mishap.fault;
}

void World::begin_call(size_t slot, std::string text, Mishap mishap) {
  const SimulatedProcess& process = this->process(slot);
  disk_->set_now_ms(clock.now_ms());
  std::string line = calls_.empty() ? "" : "  inside: ";
  line += std::to_string(clock.now_ms()) + " p" + std::to_string(process.id()) + " " + text;
  calls_.push_back({slot, std::move(mishap), std::move(line), disk_->operation_count()});
}

void World::end_call() {
  Call call = std::move(calls_.back());
  calls_.pop_back();
  if (!call.mishap.happened.empty()) call.line += " [" + call.mishap.happened + "]";
  const uint64_t operations = disk_->operation_count() - call.operations_before;
  trace_.push_back(call.line + " (" + std::to_string(operations) + " operations)");
  last_was_disturbed_ = !call.mishap.happened.empty();
  if (!processes_[call.slot]->is_alive()) kill(call.slot);
}

void World::tell(std::string_view text) { calls_.back().line += " " + std::string(text); }

void World::note(std::string text) { trace_.push_back(std::move(text)); }

Outcome World::outcome_of(const Status& status, const std::string& session,
                          std::initializer_list<Code> expected) {
  if (status.ok()) {
    tell("-> ok");
  } else {
    tell("-> " + std::string(code_name(status.code())) + " " + status.message());
  }
  if (!caller().is_alive()) return Outcome::kUncertain;
  if (was_disturbed() && !session.empty()) caller().wounded.insert(session);
  if (status.ok()) return Outcome::kDone;
  // The outer call's lock, or that of who has the session for itself.
  const bool is_locked = calls_.size() > 1 || is_held_by_another(session);
  const bool is_busy = status.code() == Code::kBusy && is_locked;
  const bool is_expected =
      is_busy || std::find(expected.begin(), expected.end(), status.code()) != expected.end();
  const bool is_stopped = status.code() == Code::kReadOnly && caller().wounded.contains(session);
  if (!is_expected && !is_stopped && !was_disturbed())
    fail("an error for no reason: " + status.message());
  const bool is_unknown = crash::promise_of(status) == crash::Promise::kUnknown;
  return is_unknown ? Outcome::kUncertain : Outcome::kRefused;
}

bool World::is_answer(const Status& status, std::initializer_list<Code> expected) {
  if (!status.ok()) tell("-> " + std::string(code_name(status.code())) + " " + status.message());
  if (was_disturbed() || !caller().is_alive()) return false;
  if (status.ok()) return true;
  if (std::find(expected.begin(), expected.end(), status.code()) != expected.end()) return true;
  fail("an error for no reason: " + status.message());
  return false;
}

void World::fail(std::string_view what) {
  if (!calls_.empty()) tell("*** " + std::string(what));
  if (violation_.empty()) violation_ = what;
}

}  // namespace varve::simulation
