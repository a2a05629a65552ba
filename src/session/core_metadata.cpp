// metadata.json read together with its log, and what it says of the session.
#include <algorithm>
#include <utility>

#include "session/core.h"
#include "session/metadata/durability_names.h"
#include "session/metadata/expiry.h"
#include "session/retries.h"

namespace varve::session {

// The tail of the log, with metadata no older than its generation: whoever replaces the log first
// writes down which gaps in seq become legal.
Result<log::Tail> Core::load_metadata_of_tail() {
  VARVE_TRY_ASSIGN(log::Tail before, storage->tail());
  for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
    VARVE_TRY(load_metadata());
    VARVE_TRY_ASSIGN(const log::Tail tail, storage->tail());
    if (tail.generation == before.generation) return tail;
    before = tail;
  }
  return replaced_too_often();
}

void Core::warn_of_wrong_member() {
  const std::string wrong = wrong_member(metadata.tree());
  if (wrong.empty()) return;
  events.post(Level::kWarn, "metadata.json has a member that may have no effect: " + wrong);
}

Status Core::load_metadata() {
  const int64_t now_ms = context.clock->now_ms();
  Result<Metadata> parsed = metadata_file.read();
  if (!parsed.ok() && parsed.code() != Code::kCorruption) return std::move(parsed).status();
  std::optional<log::SessionRow> listed;
  if (!parsed.ok() && context.store != nullptr) {
    VARVE_TRY_ASSIGN(listed, context.store->find_listed(id));
  }
  const std::unique_lock lock(index_mutex);
  if (parsed.ok()) {
    metadata.set(*std::move(parsed));
    if (metadata.value().edited_outside())
      events.post(Level::kWarn, "metadata.json was edited outside varve");
    if (metadata.value().is_by_hand()) warn_of_wrong_member();
  } else {
    // The log is the truth: no session is refused because of a file that only describes it.
    metadata.set(Metadata::recovered(id, now_ms, listed));
    metadata.note_damage(parsed.status().message());
    context.counters->corruption_errors += 1;
    json::Tree details = json::Tree::object();
    details.set("file", json::Tree::string(storage->name_of_document(log::kMetadataFile)));
    events.post(Level::kError, "metadata.json cannot be read: " + parsed.status().message(),
                std::move(details));
  }
  durable_seq_seen = std::max(metadata.durable_seq(), storage->durable_mark().last_seq);
  durable_tombstones_seen = metadata.value().durable_tombstones();
  return {};
}

log::Durability Core::durability_of(const json::Tree& metadata_tree) const {
  return durability_named(metadata_tree.get_string("durability")).value_or(settings.durability);
}

Status Core::prepare_for(log::Durability wanted) const {
  const bool needs_flusher = wanted == log::Durability::kInterval && context.store != nullptr;
  return needs_flusher ? context.store->start_flusher() : Status();
}

// What another process chose holds here as well. Where that is "interval" and no thread can be
// started for it, every write is made durable by itself.
void Core::follow_durability() {
  log::Durability wanted = durability;
  {
    const std::shared_lock lock(index_mutex);
    wanted = durability_of(metadata.tree());
  }
  if (wanted == durability) return;
  durability = prepare_for(wanted).ok() ? wanted : log::Durability::kCommit;
}

void Core::set_metadata(Metadata fresh) {
  metadata.set(std::move(fresh));
  index.accept_gaps(metadata.compacted_through_seq());
}

// A repair by another process that accepts only gaps leaves the log, and its generation, as it is.
// Under one lock, so that nobody mends the file between the look and what is noted of it.
Status Core::check_metadata() {
  const std::unique_lock lock(index_mutex);
  auto fresh = metadata_file.read();
  if (fresh.code() == Code::kFormatVersion) return {};  // who writes is refused
  if (!fresh.ok() && fresh.code() != Code::kCorruption) return std::move(fresh).status();
  if (fresh.ok()) {
    set_metadata(*std::move(fresh));
  } else {
    metadata.note_damage(fresh.status().message());
  }
  durable_seq_seen = std::max(durable_seq_seen, metadata.durable_seq());
  durable_tombstones_seen = metadata.value().durable_tombstones();
  // What another process made durable since is no loss: all that is counted is read before anybody
  // compares.
  VARVE_TRY_ASSIGN(const log::Tail now, look());
  return is_current(now) ? Status() : read_changes(now);
}

Status Core::check_not_expired() {
  const auto is_over_now = [this] {
    const int64_t end_ms = metadata.expiry_ms();
    return end_ms != kNeverDue && is_ttl_over(end_ms, context.clock->now_ms());
  };
  if (!is_over_now()) return {};
  const Status refreshed = metadata_file.refresh();
  // No session ends because of a damaged metadata.json.
  if (refreshed.code() == Code::kCorruption) return {};
  VARVE_TRY(refreshed);
  return is_over_now() ? expired_status(id) : Status();
}

std::string Core::user_id() const {
  const std::shared_lock lock(index_mutex);
  return metadata.tree().get_string("user_id");
}

bool Core::is_of(std::string_view user, std::string_view agent) const {
  const std::shared_lock lock(index_mutex);
  const json::Tree& tree = metadata.tree();
  return (user.empty() || tree.get_string("user_id") == user) &&
         (agent.empty() || tree.get_string("agent_id") == agent);
}

std::shared_ptr<const decay::Rules> Core::decay_rules() const {
  const std::shared_lock lock(index_mutex);
  return metadata.decay_rules();
}

CompactionPolicy Core::compaction_policy() const {
  const std::shared_lock lock(index_mutex);
  return metadata.compaction_policy();
}

void Core::note_tombstones_accepted() {
  const std::unique_lock lock(index_mutex);
  durable_tombstones_seen = metadata.value().durable_tombstones();
}

}  // namespace varve::session
