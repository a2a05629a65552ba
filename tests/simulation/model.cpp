#include "model.h"

#include <algorithm>
#include <limits>

#include "base/time.h"
#include "json/tree.h"

namespace varve::simulation {

void Fact::set(Outcome outcome, bool durable, int64_t process) {
  process_id = process;
  is_durable = outcome == Outcome::kDone && durable;
  now = outcome == Outcome::kDone ? Truth::kYes : Truth::kMaybe;
}

void Fact::lose_power() {
  if (now == Truth::kYes && !is_durable) now = Truth::kMaybe;
}

std::string ModelEntry::text() const {
  json::Tree content = json::Tree::object();
  std::string message;
  for (const std::string& word : words) message += (message.empty() ? "" : " ") + word;
  content.set("message", json::Tree::string(message));
  content.set("number", json::Tree::integer(number));
  json::Tree tag_list = json::Tree::array();
  for (const std::string& tag : tags) tag_list.push(json::Tree::string(tag));
  json::Tree entry = json::Tree::object();
  entry.set("id", json::Tree::string(id));
  entry.set("type", json::Tree::string(type));
  entry.set("content", std::move(content));
  entry.set("tags", std::move(tag_list));
  entry.set("importance", json::Tree::number(importance));
  entry.set("timestamp", json::Tree::string(format_rfc3339(timestamp_ms)));
  if (expires_ms != std::numeric_limits<int64_t>::max()) {
    entry.set("expires_at", json::Tree::string(format_rfc3339(expires_ms)));
  }
  return entry.canonical();
}

std::string SessionSettings::create_options() const {
  json::Tree options = json::Tree::object();
  options.set("session_id", json::Tree::string(id));
  options.set("durability", json::Tree::string(durability));
  options.set("kv_cap", json::Tree::integer_unsigned(kv_cap));
  options.set("transcript_cap", json::Tree::integer_unsigned(transcript_cap));
  return options.canonical();
}

SessionModel::SessionModel(SessionSettings session_settings)
    : settings(std::move(session_settings)), keys(Pairs()), transcript(Pairs()), title("") {}

Truth SessionModel::shown(const ModelEntry& entry, int64_t now_ms) const {
  if (entry.expires_ms <= now_ms) return Truth::kNo;
  if (entry.in_flight || entry.changed_inside) return Truth::kMaybe;
  if (entry.added.now == Truth::kNo || entry.removed.now == Truth::kYes) return Truth::kNo;
  const bool is_sure = entry.added.now == Truth::kYes && entry.removed.now == Truth::kNo;
  return is_sure ? Truth::kYes : Truth::kMaybe;
}

void SessionModel::observe(ModelEntry& entry, bool is_seen) {
  if (entry.in_flight || entry.changed_inside) return;
  if (entry.is_fragile && entry.added.now == Truth::kMaybe) return;
  const auto settle_batch = [&](Truth truth) {
    entry.added.now = truth;
    if (entry.batch == 0) return;
    for (auto& [id, other] : entries) {
      if (other.batch == entry.batch && other.added.now == Truth::kMaybe) other.added.now = truth;
    }
  };
  if (is_seen) {
    if (entry.added.now == Truth::kMaybe) settle_batch(Truth::kYes);
    entry.removed.now = Truth::kNo;
  } else if (entry.removed.now == Truth::kMaybe) {
    entry.removed.now = Truth::kYes;  // or it is not there at all: nobody can tell
  } else if (entry.added.now == Truth::kMaybe) {
    settle_batch(Truth::kNo);
  }
}

void SessionModel::note_added(std::vector<ModelEntry> added, Outcome outcome, int64_t process_id) {
  if (outcome == Outcome::kRefused) {
    for (const ModelEntry& entry : added) entries.erase(entry.id);
    return;
  }
  const uint64_t batch = added.size() > 1 && !settings.salvages ? next_batch_++ : 0;
  for (ModelEntry& entry : added) {
    entry.position = next_position_++;
    entry.batch = batch;
    entry.added.set(outcome, settings.commits(), process_id);
    entry.changed_inside = is_inside_;
    // Somebody may have met it, and deleted it, before its adder had the answer.
    if (const ModelEntry* met = find(entry.id)) {
      entry.removed = met->removed;
      entry.vector = met->vector;
      entry.line = met->line;
      entry.changed_inside |= met->changed_inside;
    }
    if (is_inside_ && !added_inside_from_) added_inside_from_ = entry.position;
    entries[entry.id] = std::move(entry);
  }
  if (!is_inside_) order_open_from = added_inside_from_;
  if (outcome != Outcome::kDone || !settings.commits()) return;
  // One sync is of the whole file: of what the dead left, too.
  for (auto& [id, entry] : entries) entry.added.is_durable |= entry.added.now == Truth::kYes;
}

void SessionModel::note_vector(ModelEntry& entry, Outcome outcome, int64_t process_id) {
  if (outcome == Outcome::kRefused) return;
  entry.is_vector_open |= is_inside_;
  if (outcome == Outcome::kDone) {
    observe(entry, true);
    entry.added.is_durable = true;
  }
  const bool has_one = entry.vector.now == Truth::kYes;
  if (has_one && (outcome != Outcome::kDone || entry.vector.is_durable)) return;
  entry.vector.set(outcome, settings.commits(), process_id);
}

Truth SessionModel::shown_by_vector(const ModelEntry& entry, int64_t now_ms) const {
  const Truth has_one = entry.is_vector_open ? Truth::kMaybe : entry.vector.now;
  return std::min(shown(entry, now_ms), has_one);
}

void SessionModel::note_removed(ModelEntry& entry, Outcome outcome, int64_t process_id) {
  if (outcome == Outcome::kRefused) return;
  if (outcome == Outcome::kDone) observe(entry, true);
  entry.changed_inside |= is_inside_;
  entry.removed.set(outcome, settings.commits(), process_id);
  if (outcome != Outcome::kDone || !settings.commits()) return;
  for (auto& [id, other] : entries) other.removed.is_durable |= other.removed.now == Truth::kYes;
}

void SessionModel::note_removed_if_there(ModelEntry& entry, Outcome outcome, int64_t process_id) {
  entry.changed_inside |= is_inside_;
  entry.removed.set(outcome, false, process_id);
}

void SessionModel::note_compacted(Outcome outcome, int64_t now_ms) {
  if (outcome == Outcome::kRefused) outcome = Outcome::kUncertain;  // it may have failed late
  for (auto& [id, entry] : entries) {
    const bool is_over = entry.expires_ms <= now_ms;
    if (outcome == Outcome::kDone) entry.is_fragile = false;
    if (is_over && entry.added.now != Truth::kNo) {
      entry.added.now = outcome == Outcome::kDone ? Truth::kNo : Truth::kMaybe;
      entry.batch = 0;
    } else if (outcome == Outcome::kDone && entry.added.now == Truth::kYes &&
               !entry.changed_inside) {
      entry.added.is_durable = true;
    }
  }
}

void SessionModel::make_durable(std::optional<int64_t> process_id) {
  for (auto& [id, entry] : entries) {
    if (entry.changed_inside) continue;
    for (Fact* fact : {&entry.added, &entry.removed, &entry.vector}) {
      const bool is_meant = !process_id || fact->process_id == *process_id;
      if (is_meant && fact->now == Truth::kYes) fact->is_durable = true;
    }
  }
  if (!process_id && !inside.transcript) transcript.make_durable();
}

void SessionModel::disown(int64_t process_id) {
  for (auto& [id, entry] : entries) {
    for (Fact* fact : {&entry.added, &entry.removed, &entry.vector}) {
      if (fact->process_id == process_id) fact->process_id = 0;
    }
  }
}

void SessionModel::lose_power() {
  for (auto& [id, entry] : entries) {
    // Without a sync between them, writes reach the disk in any order, and in part.
    if (!settings.commits() && !entry.added.is_durable) {
      entry.batch = 0;
      entry.is_fragile = true;
    }
    entry.added.lose_power();
    entry.removed.lose_power();
    entry.vector.lose_power();
  }
  keys.lose_power();
  title.lose_power();
  transcript.lose_power();
  if (settings.commits()) return;
  is_transcript_open = true;
  may_be_damaged = true;
}

bool SessionModel::has_writes_to_lose() const {
  const auto is_open = [](const Fact& fact) { return fact.now != Truth::kNo && !fact.is_durable; };
  return std::any_of(entries.begin(), entries.end(), [&](const auto& item) {
    return is_open(item.second.added) || is_open(item.second.removed);
  });
}

void SessionModel::restore(SessionModel copy) {
  for (auto& [id, entry] : copy.entries) {
    const ModelEntry* present = find(id);
    if (present == nullptr || present->removed.now == Truth::kNo) continue;
    if (entry.removed.now == Truth::kYes) continue;
    // Of one that is gone for lack of what a power loss took nobody deleted anything.
    const bool was_deleted =
        present->removed.now == Truth::kYes && present->added.now == Truth::kYes;
    entry.removed.now = was_deleted ? Truth::kYes : Truth::kMaybe;
  }
  *this = std::move(copy);
  make_durable(std::nullopt);
  keys.make_durable();
  title.make_durable();
}

void SessionModel::begin_inside(std::vector<ModelEntry> in_flight) {
  is_inside_ = true;
  before_inside_ = {keys, transcript, title, is_transcript_open};
  for (ModelEntry& entry : in_flight) {
    ModelEntry& known = entries[entry.id];
    if (known.id.empty()) {
      known = std::move(entry);
      known.position = next_position_++;
      known.added.now = Truth::kMaybe;
    }
    known.in_flight = true;
  }
}

// What nobody else changed is as it was, until the outer call has its answer.
void SessionModel::end_inside() {
  is_inside_ = false;
  for (auto& [id, entry] : entries) entry.in_flight = false;
  if (!inside.keys) keys = std::move(before_inside_->keys);
  if (!inside.transcript) {
    transcript = std::move(before_inside_->transcript);
    is_transcript_open = before_inside_->is_transcript_open;
  }
  if (!inside.title) title = std::move(before_inside_->title);
  before_inside_.reset();
}

void SessionModel::end_call() {
  for (auto& [id, entry] : entries) entry.changed_inside = entry.is_vector_open = false;
  inside = {};
  added_inside_from_.reset();
}

void SessionModel::learn_order(const std::vector<std::string>& ids) {
  if (!order_open_from) return;
  std::vector<ModelEntry*> open;
  std::vector<uint64_t> positions;
  for (const std::string& id : ids) {
    ModelEntry* entry = find(id);
    if (entry == nullptr || entry->position < *order_open_from) continue;
    open.push_back(entry);
    positions.push_back(entry->position);
  }
  std::sort(positions.begin(), positions.end());
  for (size_t i = 0; i < open.size(); ++i) open[i]->position = positions[i];
  order_open_from.reset();
}

std::vector<ModelEntry*> SessionModel::in_order() {
  std::vector<ModelEntry*> all;
  for (auto& [id, entry] : entries) all.push_back(&entry);
  std::sort(all.begin(), all.end(),
            [](const auto* a, const auto* b) { return a->position < b->position; });
  return all;
}

ModelEntry* SessionModel::find(const std::string& id) {
  const auto found = entries.find(id);
  return found == entries.end() ? nullptr : &found->second;
}

}  // namespace varve::simulation
