// Another index takes the place of the one in use, beside which it was made: by a rebuild from the
// log, or by a compaction from the rows that it kept.
#include <utility>

#include "session/core.h"

namespace varve::session {

std::shared_ptr<index::Index> Core::index_of_kept(const index::Renumbering& rows,
                                                  uint64_t epoch) const {
  const std::shared_lock lock(index_mutex);
  if (!has_rows_of(epoch)) return nullptr;
  auto made = std::make_shared<index::Index>(index.renumbered(rows));
  if (index.is_damaged()) return nullptr;  // as may have shown just now
  return made;
}

std::optional<index::Facets> Core::facets_of_kept(const index::Renumbering& rows,
                                                  uint64_t epoch) const {
  const std::shared_lock lock(index_mutex);
  if (!has_rows_of(epoch)) return std::nullopt;
  index::Facets facets = index.facets().renumbered(rows);
  if (index.is_damaged()) return std::nullopt;
  return facets;
}

Result<Core::Snapshot> Core::adopt_compacted(index::Index& compacted, std::string encoded) {
  const std::unique_lock lock(index_mutex);
  VARVE_TRY_ASSIGN(const log::Tail tail, storage->tail());
  swap(index, compacted);
  index_epoch += 1;
  entries.forget();
  view = LogView();
  // Whoever catches up next reads what was appended to the new log without the lock.
  view.tail = {tail.generation, index.coverage.entries_bytes, index.coverage.tombstones_bytes};
  saved.covered = {};                 // index.bin is of the old log
  saved.size_bytes = encoded.size();  // of what the caller is about to put
  return Snapshot{std::move(encoded), tail.generation, extent_of(index),
                  metadata.compacted_through_seq()};
}

Status Core::adopt_rebuilt(index::Index& made, const Reading& reading, Words words) {
  const std::unique_lock lock(index_mutex);
  VARVE_TRY_ASSIGN(const log::Tail now, look());
  const index::Coverage& covered = made.coverage;
  const bool is_of_this_log = now.generation == reading.tail.generation &&
                              now.entries_bytes >= covered.entries_bytes &&
                              now.tombstones_bytes >= covered.tombstones_bytes;
  if (!is_of_this_log) return log::replaced();
  VARVE_TRY_ASSIGN(const Reading since, read_log_into(&made, now, log_marks()));
  const SnapshotExtent in_file = saved.covered;
  const bool may_keep_words = words == Words::kKept && index_is_whole_;
  swap(index, made);
  note_new_index();
  const bool keeps_words =
      may_keep_words && index.take_words(made, index::Index::SameRows::kByLine);
  index_is_whole_ = true;
  note(reading);
  note(since);
  count_rebuild();
  if (keeps_words) {
    saved.covered = in_file;  // index.bin has these rows and words
  } else {
    saved.distrust();  // index.bin may be what was wrong: write a new one
  }
  return {};
}

}  // namespace varve::session
