// What is known to have been durable and is missing: entries, and deletions.
#include <algorithm>
#include <new>
#include <utility>

#include "session/core.h"

namespace varve::session {

uint64_t Core::rolled_back_count() const {
  const uint64_t present = std::max(index.coverage.last_seq, metadata.compacted_through_seq());
  return durable_seq_seen > present ? durable_seq_seen - present : 0;
}

uint64_t Core::tombstone_count() const {
  const std::shared_lock lock(index_mutex);
  return index.tombstone_count();
}

uint64_t Core::lost_deletion_count() const {
  const uint64_t present = index.tombstone_count() + index.damaged_tombstone_count;
  return durable_tombstones_seen - std::min(durable_tombstones_seen, present);
}

void Core::count_beside_lost(uint64_t added_count) noexcept {
  try {
    const Status noted =
        metadata_file.save(log::DocumentDurability::kNamed, [added_count](Metadata& fresh) {
          fresh.accept_tombstones(fresh.durable_tombstones() + added_count);
          return Status();
        });
    if (noted.ok()) note_tombstones_accepted();
  } catch (const std::bad_alloc&) {
    // What was deleted is answered as deleted.
  }
}

uint64_t Core::lost_line_count() const {
  const std::shared_lock lock(index_mutex);
  return index.skipped_count() + index.coverage.missing_count + rolled_back_count() +
         lost_deletion_count();
}

void Core::post_rollback() {
  context.counters->corruption_errors += 1;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(storage->name_of(log::Stream::kEntries)));
  details.set("missing", json::Tree::integer_unsigned(rolled_back_count()));
  details.set("last_seq", json::Tree::integer_unsigned(index.coverage.last_seq));
  events.post(Level::kError,
              "entries that were durable are missing at the end of the log: restore a copy that "
              "has them, or accept the loss with repair",
              std::move(details));
}

void Core::post_lost_deletions() {
  context.counters->corruption_errors += 1;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(storage->name_of(log::Stream::kTombstones)));
  details.set("missing", json::Tree::integer_unsigned(lost_deletion_count()));
  events.post(Level::kError,
              "deletions that were durable are missing, and what they deleted may be back: put "
              "tombstones.jsonl back from a copy that has them, or accept the loss with repair",
              std::move(details));
}

}  // namespace varve::session
