#include "steps.h"

#include <cerrno>

namespace varve::simulation {
namespace {

using io::OperationKind;

struct FaultKind {
  int os_errno;
  std::optional<size_t> partial_bytes;
  std::vector<OperationKind> kinds;
};

// What a disk answers now and then. A lock or its end does not fail.
const std::vector<FaultKind>& fault_kinds() {
  static const std::vector<FaultKind> kinds = {
      {EIO, std::nullopt, {OperationKind::kSyncData}},
      {EIO, std::nullopt, {OperationKind::kSyncDirectory, OperationKind::kRename}},
      {EIO, std::nullopt, {OperationKind::kAppend, OperationKind::kWriteAt}},
      {EIO,
       std::nullopt,
       {OperationKind::kRead, OperationKind::kOpen, OperationKind::kInfo, OperationKind::kTruncate,
        OperationKind::kRemove, OperationKind::kOpenDirectory}},
      {ENOSPC,
       std::nullopt,
       {OperationKind::kAppend, OperationKind::kWriteAt, OperationKind::kOpen,
        OperationKind::kRename}},
      {ENOSPC, 1, {OperationKind::kAppend, OperationKind::kWriteAt}},
      {ENOSPC, 100, {OperationKind::kAppend}},
      {EIO, 200, {OperationKind::kAppend}},
      {EMFILE, std::nullopt, {OperationKind::kOpen}},
  };
  return kinds;
}

}  // namespace

Steps::Steps(World& world) : world_(world), dice_(world.dice) {
  world_.other_call = [this] { call_inside(); };
}

// Often early in a call, seldom late.
Mishap Steps::random_mishap() {
  Mishap mishap;
  const uint64_t most = uint64_t{1} << dice_.below(7);
  if (world_.process_count() > 1 && dice_.one_in(4)) {
    mishap.kind = Mishap::Kind::kOther;
    mishap.operations_left = 1 + dice_.below(most);
    return mishap;
  }
  if (!dice_.one_in(5)) return mishap;
  if (dice_.one_in(3)) {
    mishap.kind = Mishap::Kind::kDeath;
    mishap.operations_left = 1 + dice_.below(most);
    return mishap;
  }
  const FaultKind& kind = dice_.pick(fault_kinds());
  mishap.kind = Mishap::Kind::kFault;
  mishap.operations_left = 1 + dice_.below(1 + most / 8);
  mishap.fault = {kind.os_errno, kind.partial_bytes};
  mishap.kinds = kind.kinds;
  return mishap;
}

session::Session* Steps::begin(SessionModel& model, std::string text) {
  const std::string& id = model.settings.id;
  world_.begin_call(slot_, id + " " + std::move(text), std::move(mishap_));
  mishap_ = {};
  if (!is_inside_) {
    outer_session_ = id;
    was_interrupted_ = false;
    was_held_ = world_.is_held_by_another(id);
  }
  SimulatedProcess& process = world_.caller();
  Status opened = process.open_store(world_.store_config);
  if (opened.ok()) opened = process.open(id);
  if (opened.ok() && process.is_alive()) return process.find(id);
  world_.tell("(open)");
  (void)world_.outcome_of(opened, {});
  end();
  return nullptr;
}

void Steps::end() {
  world_.end_call();
  if (is_inside_) return;
  in_flight_.clear();
  before_inside_ = {};
  for (SessionModel& model : world_.sessions) model.end_call();
  for (SessionModel& model : world_.sessions) {
    if (model.order_open_from && !world_.failed()) export_all(model);
  }
}

void Steps::check_lock(const SessionModel& model, Outcome outcome) {
  const bool is_held = was_held_ && world_.is_held_by_another(model.settings.id);
  if (is_held && !is_inside_ && !was_interrupted_ && outcome == Outcome::kDone) {
    world_.fail("another process has the session for itself");
  }
}

void Steps::in_flight(SessionModel& model, std::vector<ModelEntry> entries) {
  if (!is_inside_ && model.settings.id == outer_session_) in_flight_ = std::move(entries);
}

void Steps::call_inside() {
  const size_t outer_slot = world_.caller_slot();
  is_inside_ = true;
  was_interrupted_ = true;
  for (SessionModel& model : world_.sessions) {
    const bool is_outer = model.settings.id == outer_session_;
    model.begin_inside(is_outer ? std::move(in_flight_) : std::vector<ModelEntry>());
  }
  if (before_inside_) before_inside_();
  SessionModel* model = &dice_.pick_from(world_.sessions);
  for (SessionModel& each : world_.sessions) {
    if (each.settings.id == outer_session_ && !dice_.one_in(4)) model = &each;
  }
  slot_ = (outer_slot + 1 + dice_.below(world_.process_count() - 1)) % world_.process_count();
  take_of(*model, dice_.below(100));
  for (SessionModel& each : world_.sessions) each.end_inside();
  is_inside_ = false;
}

void Steps::create(SessionModel& model) {
  slot_ = 0;
  world_.begin_call(slot_, "create " + model.settings.create_options());
  Status created = world_.caller().open_store(world_.store_config);
  if (created.ok()) {
    created = world_.caller().create(model.settings.create_options(), model.settings.id);
  }
  (void)world_.outcome_of(created, model.settings.id);
  end();
}

void Steps::look(size_t slot, SessionModel& model) {
  slot_ = slot;
  mishap_ = {};
  export_all(model);
  list_keys(model);
  last_turns(model, 1000);
  get_title(model);
  verify(model);
}

void Steps::take() {
  slot_ = dice_.below(world_.process_count());
  SessionModel& model = dice_.pick_from(world_.sessions);
  mishap_ = random_mishap();
  if (dice_.one_in(20)) return take_alone(model);
  take_of(model, dice_.below(100));
}

void Steps::take_alone(SessionModel& model) {
  if (mishap_.kind == Mishap::Kind::kOther) mishap_ = {};
  switch (dice_.below(5)) {
    case 0: return drop(model);
    case 1: return back_up();
    case 2: return restore(model);
    default: return turn_pages(model);
  }
}

void Steps::take_of(SessionModel& model, size_t choice) {
  if (choice < 20) return add(model);
  if (choice < 25) return add_batch(model);
  if (choice < 26) return add_again(model);
  if (choice < 28) return put_vector(model);
  if (choice < 34) return remove(model);
  if (choice < 37) return remove_where(model);
  if (choice < 42) return get(model);
  if (choice < 54) return query(model);
  if (choice < 57) return query_vectors(model);
  if (choice < 59) return count(model);
  if (choice < 62) return query_store(model);
  if (choice < 64) return export_all(model);
  if (choice < 68) return set_key(model);
  if (choice < 71) return get_key(model);
  if (choice < 73) return delete_key(model);
  if (choice < 74) return list_keys(model);
  if (choice < 79) return append_turn(model);
  if (choice < 82) return last_turns(model, 1 + dice_.below(10));
  if (choice < 83) return set_title(model);
  if (choice < 84) return set_durability(model);
  if (choice < 85) return get_title(model);
  if (choice < 87) return sync(model);
  if (choice < 88) return sync_store(model);
  if (choice < 91) return compact(model, false);
  if (choice < 93) return compact(model, true);
  if (choice < 94) return rebuild(model);
  if (choice < 95) return verify(model);
  if (choice < 98) return close(model);
  return close_store(model);
}

}  // namespace varve::simulation
