#include "session/core.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/hash.h"

namespace varve::session {

Core::Core(std::string session_id, std::unique_ptr<log::SessionStorage> session_storage,
           const Context& session_context)
    : id(std::move(session_id)),
      storage(std::move(session_storage)),
      context(session_context),
      settings(context.settings),
      events(id, *context.events, *context.counters),
      own_analyzers(context.analyzers == nullptr ? std::make_unique<AnalyzerPool>(settings.text)
                                                 : nullptr),
      analyzers(context.analyzers == nullptr ? *own_analyzers : *context.analyzers),
      durability(settings.durability),
      vectors(*storage),
      size(*this),
      metadata_file(*this),
      entries(*this, settings.cached_entries_max),
      damaged_lines(*this),
      hash_seed(random_value<uint64_t>(*session_context.random)),
      index(empty_index()),
      metadata(settings) {
  storage->set_sync_histogram(&context.counters->sync_us);
  storage->set_work_while_waiting([this] { follow_closely(); });
}

Status Core::load() {
  VARVE_TRY_ASSIGN(const log::Tail tail, load_metadata_of_tail());
  size.measure_capped_files();
  vectors.look();
  const std::unique_lock lock(index_mutex);
  view.tail = tail;
  const Status loaded = load_snapshot();
  post_index_load(loaded);
  if (loaded.ok()) {
    saved.was_used = true;
    context.counters->index_loads += 1;
  } else {
    rebuild_reason = loaded.message();
    forget_index();
  }
  const bool rebuilt = !loaded.ok() && tail.entries_bytes > 0;
  VARVE_TRY(read_changes(tail));
  if (rebuilt) {
    count_rebuild();
    json::Tree details = json::Tree::object();
    details.set("reason", json::Tree::string(rebuild_reason));
    // A missing index.bin is no damage: whoever made a young session has not closed it yet.
    const bool was_missing = loaded.code() == Code::kNotFound;
    events.post(was_missing ? Level::kInfo : Level::kWarn, "index rebuilt from the log",
                std::move(details));
  }
  if (rolled_back_count() > 0) post_rollback();
  if (lost_deletion_count() > 0) post_lost_deletions();
  return {};
}

// Not whole until the log has been read: before that an allocation or the disk may fail.
void Core::forget_index() {
  index_is_whole_ = false;
  index = empty_index();
  note_new_index();
}

// For an index made from the log alone.
void Core::note_new_index() {
  // A writer cuts a torn tail off where the index ends, which now is the start of the log.
  view.torn_entries.clear();
  view.torn_tombstones.clear();
  index_epoch += 1;
  saved.covered.text_rows = 0;
  index_from_log = true;
}

// --- applying what this process wrote ------------------------------------------------------------

// An allocation may fail while rows are added. Then the index is not whole, and the next reader
// rebuilds it. What was appended is answered as appended in either case.
void Core::apply_entries(uint64_t start_bytes, const std::vector<NewRow>& rows,
                         uint64_t end_bytes) noexcept {
  const std::unique_lock lock(index_mutex);
  word_debt_.note_written(end_bytes - start_bytes);
  // A reader may have indexed these very lines already.
  if (index.coverage.entries_bytes != start_bytes || !index_is_whole_) return;
  index_is_whole_ = false;
  try {
    for (const NewRow& row : rows)
      index.add(*row.facts, row.location, metadata.compacted_through_seq());
  } catch (const std::bad_alloc&) {
    return;
  }
  index.coverage.entries_bytes = end_bytes;
  view.tail.entries_bytes = end_bytes;  // bytes behind it would have failed the append
  index_is_whole_ = true;
}

void Core::apply_tombstones(uint64_t start_bytes, const std::vector<std::string_view>& ids,
                            std::string_view lines) noexcept {
  const uint64_t end_bytes = start_bytes + lines.size();
  lines.remove_suffix(1);
  const size_t last_at = lines.rfind('\n') + 1;  // behind npos: 0
  const std::string_view last = lines.substr(last_at);
  const std::unique_lock lock(index_mutex);
  if (index.coverage.tombstones_bytes != start_bytes || !index_is_whole_) return;
  index_is_whole_ = false;
  try {
    for (const auto& deleted : ids) index.add_tombstone(deleted);
  } catch (const std::bad_alloc&) {
    return;
  }
  index.coverage.tombstones_bytes = end_bytes;
  index.last_tombstone = {start_bytes + last_at, last.size(), hash64(last)};
  if (view.tail.tombstones_bytes == start_bytes) view.tail.tombstones_bytes = end_bytes;
  index_is_whole_ = true;
}

uint64_t Core::last_seq() const {
  return std::max({index.coverage.last_seq, durable_seq_seen, metadata.compacted_through_seq()});
}

uint64_t Core::next_seq() const {
  const std::shared_lock lock(index_mutex);
  return last_seq() + 1;
}

Core::AppendPoint Core::append_point() const {
  const std::shared_lock lock(index_mutex);
  return {index.coverage.entries_bytes, last_seq() + 1, index_epoch,
          index.coverage.skipped_count > 0};
}

Status Core::check_whole() const {
  return index_is_whole_ ? Status() : Status(Code::kGone, "the index is being rebuilt");
}

Status Core::check_rows(uint64_t epoch) const {
  if (has_rows_of(epoch)) return {};
  return {Code::kConflict, "the index is being rebuilt; try again"};
}

bool Core::has_present_log() {
  const auto tail = storage->tail();
  if (!tail.ok()) return tail.code() != Code::kNotFound;
  const std::shared_lock lock(index_mutex);
  return tail->generation == view.tail.generation;
}

bool Core::is_index_from_log() const {
  const std::shared_lock lock(index_mutex);
  return index_from_log;
}

uint64_t Core::deleted_count() const {
  const std::shared_lock lock(index_mutex);
  return index.deleted_count();
}

}  // namespace varve::session
