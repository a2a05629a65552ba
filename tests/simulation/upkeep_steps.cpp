// Steps that change nothing that is shown: saving, compacting, checking, closing.
#include "json/tree.h"
#include "session/upkeep/compaction.h"
#include "steps.h"

namespace varve::simulation {

void Steps::sync(SessionModel& model) {
  session::Session* session = begin(model, "sync");
  if (session == nullptr) return;
  if (world_.outcome_of(session->sync(), model.settings.id) == Outcome::kDone) {
    model.make_durable(std::nullopt);
  }
  end();
}

// What this process wrote, to all of its sessions.
void Steps::sync_store(SessionModel& model) {
  session::Session* session = begin(model, "sync the store");
  if (session == nullptr) return;
  const Status synced = world_.caller().store()->sync();
  const Outcome outcome = world_.is_held_by_another({})
                              ? world_.outcome_of(synced, model.settings.id, {Code::kBusy})
                              : world_.outcome_of(synced, model.settings.id);
  if (outcome == Outcome::kDone) {
    for (SessionModel& each : world_.sessions) {
      if (world_.caller().find(each.settings.id) != nullptr) each.make_durable(process_id());
    }
  }
  end();
}

void Steps::compact(SessionModel& model, bool purge) {
  session::Session* session = begin(model, purge ? "purge" : "compact");
  if (session == nullptr) return;
  session::CompactionOptions options;
  if (purge) options.cause = session::CompactionCause::kPurge;
  const auto report = session->compact(options);
  const Outcome outcome = world_.outcome_of(report.status(), model.settings.id);
  const bool has_changed = !report.ok() || report->get_bool("changed");
  if (has_changed) model.note_compacted(outcome, world_.clock.now_ms());
  if (report.ok()) world_.tell(has_changed ? "changed" : "unchanged");
  end();
}

void Steps::rebuild(SessionModel& model) {
  session::Session* session = begin(model, "rebuild");
  if (session == nullptr) return;
  (void)world_.outcome_of(session->rebuild_index().status(), model.settings.id);
  end();
}

// A loss of power is no damage, unless nothing was promised to survive it. What looks like a torn
// tail is looked at under the lock, which the call around this one may hold.
void Steps::verify(SessionModel& model) {
  session::Session* session = begin(model, "verify");
  if (session == nullptr) return;
  const auto report = session->verify(true);
  const bool is_locked = is_inside_ || world_.is_held_by_another(model.settings.id);
  const bool is_late = is_locked && report.code() == Code::kBusy;
  if (!is_late && world_.is_answer(report.status())) {
    const json::Tree& problems = *report->get("problems");
    world_.tell("-> " + problems.canonical());
    for (const json::Tree& problem : problems.items()) {
      const bool is_torn = problem.get_string("reason").starts_with("torn tail");
      if (!is_torn && !model.may_be_damaged) world_.fail("nothing should be damaged");
    }
  }
  end();
}

void Steps::close(SessionModel& model) {
  session::Session* session = begin(model, "close");
  if (session == nullptr) return;
  const bool is_wounded = world_.caller().wounded.contains(model.settings.id);
  bool is_held = world_.is_held_by_another(model.settings.id);
  world_.caller().close(model.settings.id);
  is_held = is_held || world_.is_held_by_another(model.settings.id);  // since in between
  // Inside another call its lock may be in the way of saving.
  const bool is_sure = !world_.was_disturbed() && world_.caller().is_alive() && !is_wounded &&
                       !is_inside_ && !is_held;
  if (is_sure) {
    model.make_durable(process_id());
  } else {
    model.disown(process_id());
  }
  end();
}

void Steps::close_store(SessionModel& model) {
  session::Session* session = begin(model, "close the store");
  if (session == nullptr) return;
  std::vector<SessionModel*> closed;
  for (SessionModel& each : world_.sessions) {
    const std::string& id = each.settings.id;
    if (world_.caller().wounded.contains(id) || world_.is_held_by_another(id)) continue;
    if (world_.caller().find(id) != nullptr) closed.push_back(&each);
  }
  world_.caller().close_store();
  if (!world_.was_disturbed() && world_.caller().is_alive() && !is_inside_) {
    for (SessionModel* each : closed) {
      const bool is_held = world_.is_held_by_another(each->settings.id);  // since in between
      if (!is_held) each->make_durable(process_id());
    }
  }
  for (SessionModel& each : world_.sessions) each.disown(process_id());
  end();
}

}  // namespace varve::simulation
