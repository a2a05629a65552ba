// Steps that add and delete entries.
#include <algorithm>
#include <iterator>
#include <limits>

#include "steps.h"

namespace varve::simulation {
namespace {

std::string reason_of(size_t number) { return "reason " + std::to_string(number); }

}  // namespace

ModelEntry Steps::random_entry(const SessionModel& model) {
  ModelEntry entry;
  entry.id = "e" + std::to_string(next_number_++);
  entry.type = dice_.pick(Vocabulary::types());
  const size_t word_count = 1 + dice_.below(6);
  for (size_t i = 0; i < word_count; ++i) entry.words.push_back(dice_.pick(Vocabulary::words()));
  entry.number = dice_.between(0, 3);
  for (const std::string& tag : Vocabulary::tags()) {
    if (dice_.one_in(4)) entry.tags.push_back(tag);
  }
  entry.importance = static_cast<double>(dice_.between(2, 5)) / 5;
  const int64_t now_ms = world_.clock.now_ms();
  // Often the same moment, so that the order of the log decides.
  entry.timestamp_ms = (now_ms - dice_.between(0, 100) * 1000) / 10'000 * 10'000;
  if (!model.settings.is_limited && dice_.one_in(6)) {
    entry.expires_ms = now_ms + dice_.between(1, 300) * 1000;
  }
  return entry;
}

ModelEntry* Steps::random_known(SessionModel& model) {
  if (model.entries.empty()) return nullptr;
  auto found = model.entries.begin();
  std::advance(found, static_cast<std::ptrdiff_t>(dice_.below(model.entries.size())));
  return &found->second;
}

void Steps::add(SessionModel& model) {
  ModelEntry entry = random_entry(model);
  session::Session* session = begin(model, "add " + entry.id);
  if (session == nullptr) return;
  in_flight(model, {entry});
  const auto added = session->add(entry.text());
  const Outcome outcome =
      model.settings.is_limited
          ? world_.outcome_of(added.status(), model.settings.id, {Code::kSizeLimit})
          : world_.outcome_of(added.status(), model.settings.id);
  if (added.ok() && *added != entry.id) world_.fail("another id");
  check_lock(model, outcome);
  model.note_added({std::move(entry)}, outcome, process_id());
  end();
}

void Steps::add_batch(SessionModel& model) {
  std::vector<ModelEntry> entries;
  std::string lines;
  std::string ids;
  const size_t count = 2 + dice_.below(4);
  for (size_t i = 0; i < count; ++i) {
    entries.push_back(random_entry(model));
    entries.back().expires_ms = std::numeric_limits<int64_t>::max();
    lines += entries.back().text() + "\n";
    ids += " " + entries.back().id;
  }
  session::Session* session = begin(model, "add batch" + ids);
  if (session == nullptr) return;
  in_flight(model, entries);
  const auto added = session->add_batch(lines);
  const Outcome outcome =
      model.settings.is_limited
          ? world_.outcome_of(added.status(), model.settings.id, {Code::kSizeLimit})
          : world_.outcome_of(added.status(), model.settings.id);
  check_lock(model, outcome);
  model.note_added(std::move(entries), outcome, process_id());
  end();
}

// An id is used once, ever.
void Steps::add_again(SessionModel& model) {
  ModelEntry* known = random_known(model);
  if (known == nullptr) return add(model);
  const bool never_expires = known->expires_ms == std::numeric_limits<int64_t>::max();
  const bool is_settled = known->removed.now == Truth::kNo ||
                          (known->removed.now == Truth::kYes && known->removed.is_durable);
  if (!never_expires || known->added.now != Truth::kYes || !is_settled) return add(model);
  session::Session* session = begin(model, "add again " + known->id);
  if (session == nullptr) return;
  const auto added = session->add(known->text());
  const Outcome outcome =
      world_.outcome_of(added.status(), model.settings.id, {Code::kAlreadyExists});
  if (outcome == Outcome::kDone) world_.fail("the id was used before");
  end();
}

void Steps::put_vector(SessionModel& model) {
  ModelEntry* known = random_known(model);
  if (known == nullptr) return add(model);
  const std::string id = known->id;
  session::Session* session = begin(model, "put a vector of " + id);
  if (session == nullptr) return;
  known->is_vector_open |= !is_inside_;
  const std::vector<float> values = {1, static_cast<float>(dice_.between(0, 9))};
  const Status status = session->put_vector(id, values);
  const Outcome outcome =
      world_.outcome_of(status, model.settings.id, {Code::kNotFound, Code::kSizeLimit});
  check_lock(model, outcome);
  const Truth shown = model.shown(*known, world_.clock.now_ms());
  if (status.ok() && shown == Truth::kNo) world_.fail("it is not there");
  const bool is_missing = status.code() == Code::kNotFound && !world_.was_disturbed();
  if (is_missing && shown == Truth::kYes) world_.fail("it is not found");
  if (is_missing && shown == Truth::kMaybe) model.observe(*known, false);
  if (shown != Truth::kNo) model.note_vector(*known, outcome, process_id());
  end();
}

void Steps::remove(SessionModel& model) {
  ModelEntry* known = random_known(model);
  if (known == nullptr) return add(model);
  session::Session* session = begin(model, "delete " + known->id);
  if (session == nullptr) return;
  in_flight(model, {*known});
  const Status status = session->remove(known->id, reason_of(dice_.below(100)));
  const Outcome outcome = world_.outcome_of(status, model.settings.id, {Code::kNotFound});
  const Truth shown = model.shown(*known, world_.clock.now_ms());
  if (status.ok() && shown == Truth::kNo) world_.fail("deleted what was not there");
  if (status.code() == Code::kNotFound && !world_.was_disturbed()) {
    if (shown == Truth::kYes) world_.fail("it is not found");
    if (shown == Truth::kMaybe) model.observe(*known, false);
  }
  if (outcome == Outcome::kDone || (outcome == Outcome::kUncertain && shown != Truth::kNo)) {
    model.note_removed(*known, outcome, process_id());
  }
  end();
}

void Steps::remove_where(SessionModel& model) {
  QuerySpec spec;
  spec.tag = dice_.pick(Vocabulary::tags());
  if (dice_.one_in(2)) spec.type = dice_.pick(Vocabulary::types());
  if (dice_.one_in(3)) spec.needed_word = dice_.pick(Vocabulary::words());
  session::Session* session = begin(model, "delete where " + spec.conditions());
  if (session == nullptr) return;
  std::vector<ModelEntry> matching;
  for (const ModelEntry* entry : model.in_order()) {
    if (spec.matches(*entry)) matching.push_back(*entry);
  }
  in_flight(model, std::move(matching));
  const auto removed = session->remove_where(spec.conditions(), "");
  const Outcome outcome = world_.outcome_of(removed.status(), model.settings.id);
  uint64_t least = 0;
  uint64_t most = 0;
  for (ModelEntry* entry : model.in_order()) {
    const Truth shown = model.shown(*entry, world_.clock.now_ms());
    if (shown == Truth::kNo || !spec.matches(*entry)) continue;
    least += shown == Truth::kYes ? 1 : 0;
    most += 1;
    const bool is_open = entry->in_flight || entry->changed_inside || entry->is_fragile;
    if (is_open && outcome == Outcome::kDone) {
      // It came meanwhile, or went.
      if (entry->removed.now == Truth::kNo) {
        model.note_removed_if_there(*entry, Outcome::kUncertain, 0);
      }
    } else if (outcome == Outcome::kDone && shown == Truth::kMaybe) {
      model.note_removed_if_there(*entry, outcome, process_id());  // gone, or never there
    } else {
      model.note_removed(*entry, outcome, process_id());
    }
  }
  if (removed.ok()) {
    world_.tell(std::to_string(*removed));
    const bool is_right = *removed >= least && *removed <= most;
    if (!is_right && !world_.was_disturbed()) {
      world_.fail("it should be " + std::to_string(least) + " to " + std::to_string(most));
    }
  }
  end();
}

}  // namespace varve::simulation
