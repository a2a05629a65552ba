#include "session/session_size.h"

#include <new>
#include <utility>

#include "index/snapshot.h"
#include "session/core.h"

namespace varve::session {

uint64_t SessionSize::bytes() const {
  const std::shared_lock lock(core_.index_mutex);
  return bytes_now();
}

uint64_t SessionSize::bytes_now() const {
  return core_.view.tail.entries_bytes + core_.view.tail.tombstones_bytes + core_.saved.size_bytes +
         core_.vectors.size_bytes() + capped_bytes();
}

uint64_t SessionSize::derived_bytes() const {
  const std::shared_lock lock(core_.index_mutex);
  return core_.saved.size_bytes + core_.vectors.size_bytes();
}

uint64_t SessionSize::capped_bytes() const {
  return core_.kv_file.size_bytes.load() + core_.transcript_file.size_bytes.load();
}

void SessionSize::measure_capped_files() {
  for (const auto& [name, file] : {std::pair(log::kKeyValueFile, &core_.kv_file),
                                   std::pair(log::kTranscriptFile, &core_.transcript_file)}) {
    const auto document = core_.storage->open_document(name);
    if (document.ok()) file->size_bytes = (*document)->size_bytes();
    if (document.code() == Code::kNotFound) file->size_bytes = 0;
  }
}

Result<uint64_t> SessionSize::measured_bytes() {
  VARVE_TRY_ASSIGN(const log::Tail tail, core_.storage->tail());
  measure_capped_files();
  core_.vectors.look();
  const auto snapshot = core_.storage->open_document(index::kSnapshotFile);
  if (!snapshot.ok() && snapshot.code() != Code::kNotFound) return snapshot.status();
  const uint64_t snapshot_bytes = snapshot.ok() ? (*snapshot)->size_bytes() : 0;
  return tail.entries_bytes + tail.tombstones_bytes + snapshot_bytes + core_.vectors.size_bytes() +
         capped_bytes();
}

void SessionSize::follow() {
  if (core_.settings.session_bytes_max == 0 || !core_.storage->was_locked_by_others()) return;
  measure_capped_files();
  core_.vectors.look();
  const uint64_t mark = core_.storage->document_mark(index::kSnapshotFile);
  if (mark == snapshot_mark_) return;
  const auto document = core_.storage->open_document(index::kSnapshotFile);
  if (!document.ok() && document.code() != Code::kNotFound) return;
  snapshot_mark_ = mark;
  const std::unique_lock lock(core_.index_mutex);
  core_.saved.size_bytes = document.ok() ? (*document)->size_bytes() : 0;
}

void SessionSize::note_growth(int64_t grown_bytes) noexcept {
  if (core_.context.quota == nullptr) return;
  try {
    core_.context.quota->note_growth(core_.user_id(), grown_bytes);
  } catch (const std::bad_alloc&) {
    // The quota counts again within seconds.
  }
}

void SessionSize::watch() noexcept {
  const uint64_t limit_bytes = core_.settings.session_bytes_max;
  if (limit_bytes != 0) core_.events.watch_size(bytes(), limit_bytes);
}

}  // namespace varve::session
