// What damaged lines of a log still show: the ids of their entries. And deletions that are lost.
#include <algorithm>
#include <new>
#include <utility>

#include "log/line_reader.h"
#include "session/core.h"

namespace varve::session {

namespace {

// Notes everything that may be the entry's id in a text that is no JSON any more. An id that is
// wrongly counted as taken is free again after a repair.
void note_ids(std::string_view line, uint64_t offset, json::Document& scratch, DamagedIds* found) {
  if (scratch.parse(line, entry::line_limits()).ok() && scratch.root().is_object()) {
    const auto id = scratch.root().find("id");
    if (id && id->is_string()) found->emplace(id->text(), offset);
    return;
  }
  constexpr std::string_view kMark = R"("id":")";
  for (size_t at = line.find(kMark); at != std::string_view::npos; at = line.find(kMark, at)) {
    at += kMark.size();
    const std::string_view id = line.substr(at, line.find('"', at) - at);
    if (is_valid_id(id)) found->emplace(id, offset);
  }
}

}  // namespace

std::vector<std::pair<uint64_t, uint64_t>> Core::gaps() const {
  std::vector<std::pair<uint64_t, uint64_t>> found;
  uint64_t at = 0;
  for (uint32_t row = 0; row < index.size(); ++row) {
    const index::Location line = index.location(row);
    if (line.offset > at) found.emplace_back(at, line.offset);
    at = line.offset + line.length + 1;
  }
  if (at < index.coverage.entries_bytes) found.emplace_back(at, index.coverage.entries_bytes);
  return found;
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
        save_metadata(log::DocumentDurability::kNamed, [added_count](Metadata& fresh) {
          fresh.accept_tombstones(fresh.durable_tombstones() + added_count);
          return Status();
        });
    if (noted.ok()) note_metadata_mended();
  } catch (const std::bad_alloc&) {
    // What was deleted is answered as deleted.
  }
}

uint64_t Core::lost_line_count() const {
  const std::shared_lock lock(index_mutex);
  return index.coverage.skipped_count + index.coverage.missing_count + rolled_back_count() +
         lost_deletion_count();
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

// Epochs are counted on, and the same lines are damaged in one.
Core::DamageState Core::damage_state() const {
  const uint64_t skipped_count = index.coverage.skipped_count;
  return skipped_count > 0 ? DamageState({index_epoch, skipped_count}) : DamageState();
}

Result<std::shared_ptr<const DamagedIds>> Core::damaged_ids() {
  VARVE_TRY(load_rows());
  std::vector<std::pair<uint64_t, uint64_t>> unread;
  uint64_t generation = 0;
  DamageState state;
  {
    const std::shared_lock lock(index_mutex);
    state = damage_state();
    generation = view.tail.generation;
    if (!state) return std::shared_ptr<const DamagedIds>();
    const std::lock_guard guard(damage_mutex_);
    if (damaged_ids_ && damage_read_ == state) return damaged_ids_;
    unread = gaps();
  }
  auto found = std::make_shared<DamagedIds>();
  json::Document scratch;
  for (const auto& [from, to] : unread) {
    log::LineReader reader(*storage, log::Stream::kEntries, {generation, from, to});
    log::Line line;
    for (;;) {
      VARVE_TRY_ASSIGN(const bool more, reader.next(&line));
      if (!more) break;
      note_ids(line.bytes, line.offset, scratch, found.get());
    }
  }
  const std::lock_guard guard(damage_mutex_);
  damaged_ids_ = found;
  damage_read_ = state;
  return std::shared_ptr<const DamagedIds>(std::move(found));
}

// `why` says that the entry is not in the index. Its line may still be one that was passed over.
Status Core::missing(std::string_view wanted, Status why) {
  {
    const std::shared_lock lock(index_mutex);
    VARVE_TRY(check_whole());
    if (index.coverage.skipped_count == 0 || index.was_deleted(wanted)) return why;
  }
  VARVE_TRY_ASSIGN(const auto damaged, damaged_ids());
  const auto line = damaged ? damaged->find(wanted) : DamagedIds::const_iterator();
  if (!damaged || line == damaged->end()) return why;
  {
    const std::shared_lock lock(index_mutex);
    if (index.find(wanted)) return why;  // expired, with a second line of the same id
  }
  return {Code::kCorruption,
          "the line of entry '" + std::string(wanted) + "' is damaged: run verify, then repair",
          {.path = storage->name_of(log::Stream::kEntries), .offset = line->second}};
}

}  // namespace varve::session
