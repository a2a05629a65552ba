// Steps that make, remove and replace whole sessions: deleting, backing up, restoring. No other
// call comes in between; what is uncertain afterwards is looked at at once.
#include "json/tree.h"
#include "steps.h"
#include "support/exported_text.h"

namespace varve::simulation {
namespace {

constexpr const char* kCopy = "copy";

std::string only(const std::string& id) { return R"({"sessions":[")" + id + R"("]})"; }

}  // namespace

void Steps::close_everywhere(const std::string& id) {
  for (size_t slot = 0; slot < world_.process_count(); ++slot) {
    if (SimulatedProcess* process = world_.living(slot)) process->close(id);
  }
}

// Handles of a session that was deleted or replaced write nothing any more, not even when they are
// closed.
void Steps::expect_stale(SessionModel& model) {
  const std::string& id = model.settings.id;
  for (size_t slot = 0; slot < world_.process_count(); ++slot) {
    SimulatedProcess* process = world_.living(slot);
    session::Session* session = process == nullptr ? nullptr : process->find(id);
    if (session == nullptr || process->wounded.contains(id)) continue;
    const ModelEntry entry = random_entry(model);
    const Status added = session->add(entry.text()).status();
    if (world_.was_disturbed()) break;  // late, by what was meant for the call before
    if (added.code() != Code::kNotFound) {
      world_.fail("a handle of the old session took " + entry.id + ": " + added.message());
    }
  }
  close_everywhere(id);
}

void Steps::make_again(SessionModel& model) {
  const SessionSettings settings = model.settings;
  model = SessionModel(settings);
  world_.begin_call(slot_, "create again " + settings.create_options());
  Status created = world_.caller().open_store(world_.store_config);
  if (created.ok()) created = world_.caller().create(settings.create_options(), settings.id);
  (void)world_.outcome_of(created, settings.id);
  end();
}

void Steps::drop(SessionModel& model) {
  const std::string& id = model.settings.id;
  if (begin(model, "delete the session") == nullptr) return;
  const Status status = world_.caller().store()->delete_session(id);
  const Outcome outcome = world_.outcome_of(status, id);
  const bool is_sure = outcome == Outcome::kDone && !world_.was_disturbed();
  const bool probes_early = dice_.one_in(2);
  if (is_sure && probes_early) expect_stale(model);
  if (!is_sure) {
    close_everywhere(id);
    for (size_t slot = 0; slot < world_.process_count(); ++slot) {
      if (const SimulatedProcess* process = world_.living(slot)) model.disown(process->id());
    }
  }
  end();
  if (world_.failed()) return;
  if (!is_sure) {
    // What was seen to be there was not touched; what was not is gone when the next one is made.
    world_.begin_call(slot_, id + " is it there?");
    Status opened = world_.caller().open_store(world_.store_config);
    if (opened.ok()) opened = world_.caller().open(id);
    (void)world_.outcome_of(opened, {}, {Code::kNotFound});
    end();
    if (opened.ok()) return;
  }
  SimulatedProcess* self = world_.living(slot_);
  if (self != nullptr && is_sure && !probes_early) self->close(id);  // its handle is replaced
  make_again(model);
  if (!is_sure || probes_early || world_.failed()) return;
  world_.begin_call(slot_, id + " who has the old one open?");
  world_.caller().close(id);
  expect_stale(model);
  end();
}

void Steps::back_up() {
  world_.begin_call(slot_, "back up", std::move(mishap_));
  mishap_ = {};
  Status status = world_.caller().open_store(world_.store_config);
  if (!status.ok()) {
    (void)world_.outcome_of(status, {});
    return end();
  }
  const auto report = world_.caller().store()->back_up(kCopy, "");
  const Outcome outcome = world_.outcome_of(report.status(), {});
  copies_.clear();  // of each session it has the last one, or this one
  if (outcome == Outcome::kDone && !world_.was_disturbed()) {
    for (const SessionModel& model : world_.sessions) {
      for (const json::Tree& problem : report->get("problems")->items()) {
        const bool is_of_it = problem.get_string("session_id") == model.settings.id;
        if (is_of_it && !model.may_be_damaged) world_.fail("a problem: " + problem.canonical());
      }
      check_copy(model);
      copies_.insert_or_assign(model.settings.id, model);
    }
  }
  end();
}

// The copy is a store by itself. The model is one, too: what is seen there settles nothing here.
void Steps::check_copy(SessionModel model) {
  const auto visitor = world_.visitor();
  Status opened = visitor->open_store(world_.store_config, kCopy);
  if (opened.ok()) opened = visitor->open(model.settings.id);
  if (!opened.ok()) return world_.fail("the copy does not open: " + opened.message());
  const auto text = exported_text(*visitor->find(model.settings.id), "jsonl");
  if (!text.ok()) return world_.fail("the copy is not read: " + text.status().message());
  std::vector<std::string> ids;
  for (size_t start = 0; start < text->size();) {
    const size_t line_end = text->find('\n', start);
    const std::string line = text->substr(start, line_end - start);
    start = line_end + 1;
    ids.push_back(json::Tree::parse(line)->get_string("id"));
    if (ModelEntry* known = model.find(ids.back())) check_line(model, *known, line);
  }
  QuerySpec spec;
  spec.order = QuerySpec::Order::kLog;
  check_shown(model, spec, ids);
}

// A copy that is damaged does not replace a session that is not.
Outcome Steps::restore_once(const SessionModel& copy, Mishap mishap) {
  const std::string& id = copy.settings.id;
  world_.begin_call(slot_, id + " restore", std::move(mishap));
  Outcome outcome = Outcome::kUncertain;
  if (world_.caller().open_store(world_.store_config).ok()) {
    json::Tree options = *json::Tree::parse(only(id));
    options.set("overwrite", json::Tree::boolean(true));
    const Status restored = world_.caller().store()->restore(kCopy, options.canonical()).status();
    outcome = copy.may_be_damaged ? world_.outcome_of(restored, {}, {Code::kCorruption})
                                  : world_.outcome_of(restored, {});
    if (world_.was_disturbed()) outcome = Outcome::kUncertain;
  }
  close_everywhere(id);  // they answer that it is not found
  end();
  return outcome;
}

void Steps::restore(SessionModel& model) {
  const auto found = copies_.find(model.settings.id);
  if (found == copies_.end()) return back_up();
  const SessionModel copy = found->second;  // another process may make a new copy meanwhile
  Mishap mishap = std::move(mishap_);
  mishap_ = {};
  Outcome outcome = restore_once(copy, std::move(mishap));
  if (outcome != Outcome::kDone && !world_.failed()) outcome = restore_once(copy, {});
  if (outcome == Outcome::kDone) model.restore(copy);
}

}  // namespace varve::simulation
