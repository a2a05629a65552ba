// How large the session's files are, and who is told.
#include <new>
#include <utility>

#include "index/snapshot.h"
#include "session/core.h"

namespace varve::session {

uint64_t Core::size_bytes() const {
  const std::shared_lock lock(index_mutex);
  return size_bytes_now();
}

uint64_t Core::size_bytes_now() const {
  return view.tail.entries_bytes + view.tail.tombstones_bytes + saved.size_bytes +
         vectors.size_bytes() + capped_bytes();
}

uint64_t Core::derived_bytes() const {
  const std::shared_lock lock(index_mutex);
  return saved.size_bytes + vectors.size_bytes();
}

void Core::measure_capped_files() {
  for (const auto& [name, file] : {std::pair(log::kKeyValueFile, &kv_file),
                                   std::pair(log::kTranscriptFile, &transcript_file)}) {
    const auto document = storage->open_document(name);
    if (document.ok()) file->size_bytes = (*document)->size_bytes();
    if (document.code() == Code::kNotFound) file->size_bytes = 0;
  }
}

Result<uint64_t> Core::measured_size_bytes() {
  VARVE_TRY_ASSIGN(const log::Tail tail, storage->tail());
  measure_capped_files();
  vectors.look();
  const auto snapshot = storage->open_document(index::kSnapshotFile);
  if (!snapshot.ok() && snapshot.code() != Code::kNotFound) return snapshot.status();
  const uint64_t snapshot_bytes = snapshot.ok() ? (*snapshot)->size_bytes() : 0;
  return tail.entries_bytes + tail.tombstones_bytes + snapshot_bytes + vectors.size_bytes() +
         capped_bytes();
}

void Core::follow_sizes() {
  if (settings.session_bytes_max == 0 || !storage->was_locked_by_others()) return;
  measure_capped_files();
  vectors.look();
  const uint64_t mark = storage->document_mark(index::kSnapshotFile);
  if (mark == snapshot_mark_) return;
  const auto document = storage->open_document(index::kSnapshotFile);
  if (!document.ok() && document.code() != Code::kNotFound) return;
  snapshot_mark_ = mark;
  const std::unique_lock lock(index_mutex);
  saved.size_bytes = document.ok() ? (*document)->size_bytes() : 0;
}

void Core::note_growth(int64_t bytes) noexcept {
  if (context.quota == nullptr) return;
  try {
    context.quota->note_growth(user_id(), bytes);
  } catch (const std::bad_alloc&) {
    // The quota counts again within seconds.
  }
}

void Core::watch_size() noexcept {
  const uint64_t limit_bytes = settings.session_bytes_max;
  if (limit_bytes != 0) events.watch_size(size_bytes(), limit_bytes);
}

}  // namespace varve::session
