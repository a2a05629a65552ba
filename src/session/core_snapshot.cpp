// index.bin: loaded if it fits the log, given up when it turns out wrong, and saved again.
#include <utility>

#include "base/hash.h"
#include "index/snapshot.h"
#include "session/core.h"

namespace varve::session {

// index.bin, when it is of this log.
Result<index::Index> Core::open_snapshot_of_log() {
  auto document = storage->open_document(index::kSnapshotFile);
  if (document.code() == Code::kNotFound) {
    return Status(Code::kNotFound, "there was no index.bin");
  }
  if (!document.ok()) return std::move(document).status();
  VARVE_TRY_ASSIGN(auto file, index::SnapshotFile::open(*std::move(document)));
  saved.size_bytes = file->size_bytes();
  VARVE_TRY_ASSIGN(index::Index loaded,
                   index::open_snapshot(std::move(file), settings.text, hash_seed));
  const index::Coverage& coverage = loaded.coverage;
  if (coverage.entries_bytes > view.tail.entries_bytes) {
    return Status(Code::kCorruption, "index.bin covers more than the log has");
  }
  if (coverage.entries_bytes > 0) {
    VARVE_TRY_ASSIGN(const bool is_there, has_covered_part(coverage, view.tail.generation));
    if (!is_there) return Status(Code::kCorruption, "index.bin belongs to another log");
  }
  return loaded;
}

// By the last covered line, and by a line end at the end of the covered part.
Result<bool> Core::has_covered_part(const index::Coverage& coverage, uint64_t generation) {
  std::string line(coverage.last_line_length + 1, '\0');
  VARVE_TRY_ASSIGN(const size_t got, storage->read(log::Stream::kEntries, generation,
                                                   coverage.last_line_offset, line));
  if (got != line.size()) return false;
  bool is_line_end = line.back() == '\n';
  if (coverage.last_line_offset + line.size() != coverage.entries_bytes) {  // damage is behind it
    VARVE_TRY_ASSIGN(is_line_end,
                     ends_a_line(log::Stream::kEntries, generation, coverage.entries_bytes));
  }
  line.pop_back();
  return is_line_end && hash64(line) == coverage.last_line_hash;
}

// Likewise. Deletions often have lines of the same length, which end where others did.
Result<bool> Core::has_covered_tombstones(uint64_t generation) {
  const index::TombstoneMark& last = index.last_tombstone;
  std::string line(last.length, '\0');
  VARVE_TRY_ASSIGN(const size_t got,
                   storage->read(log::Stream::kTombstones, generation, last.offset, line));
  const bool is_same = last.length == 0 || (got == line.size() && hash64(line) == last.hash);
  if (!is_same) return false;
  return ends_a_line(log::Stream::kTombstones, generation, index.coverage.tombstones_bytes);
}

Result<bool> Core::ends_a_line(log::Stream stream, uint64_t generation, uint64_t end) {
  char last = '\0';  // stays so when there is no such byte
  VARVE_TRY(storage->read(stream, generation, end - 1, std::span<char>(&last, 1)));
  return last == '\n';
}

Status Core::load_snapshot() {
  VARVE_TRY_ASSIGN(index::Index loaded, open_snapshot_of_log());
  saved.covered = extent_of(loaded);
  index = std::move(loaded);
  index.accept_gaps(metadata.compacted_through_seq());
  index_epoch += 1;
  index_from_log = false;
  index_is_whole_ = true;
  return {};
}

void Core::post_index_load(const Status& loaded) {
  if (!events.wants(Level::kDebug)) return;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(index::kSnapshotFile));
  if (loaded.ok()) {
    const uint64_t rows = index.pending().file->header().row_count;
    details.set("entries", json::Tree::integer_unsigned(rows));
  } else {
    details.set("reason", json::Tree::string(loaded.message()));
  }
  events.post(Level::kDebug, loaded.ok() ? "cache hit" : "cache miss", std::move(details));
}

// Whatever is wrong with index.bin costs a rebuild: the caller then reads the whole log.
void Core::give_up_snapshot(const Status& why) {
  forget_index();
  rebuild_reason = why.message();
  count_rebuild();
  saved.distrust();  // index.bin must be written again
  saved.was_used = false;
  events.post(Level::kWarn, "index rebuilt from the log: " + rebuild_reason);
}

SnapshotExtent Core::extent_of(const index::Index& of) {
  return {of.coverage.entries_bytes, of.text_row_count()};
}

bool Core::is_snapshot_due(Saving saving) const {
  const std::shared_lock lock(index_mutex);
  return saved.is_saving_due(extent_of(index), saving);
}

bool Core::is_snapshot_worth_saving() const {
  const std::shared_lock lock(index_mutex);
  return saved.is_saving_worth(extent_of(index), pending_words_bytes());
}

bool Core::is_snapshot_wanting() const {
  const std::shared_lock lock(index_mutex);
  return !saved.was_used || saved.lacks_many_words(extent_of(index));
}

// What another process saved meanwhile needs no saving, unless we found index.bin to be wrong.
void Core::note_snapshot_of_others() {
  const std::unique_lock lock(index_mutex);
  if (saved.covered.log_bytes == 0) return;
  const auto present = open_snapshot_of_log();
  if (!present.ok() || present->coverage.entries_bytes <= saved.covered.log_bytes) return;
  saved.covered = extent_of(*present);
}

std::optional<Core::Snapshot> Core::prepare_snapshot(Saving saving) {
  if (!is_snapshot_due(saving)) return std::nullopt;
  if (saving == Saving::kIfDue) {
    note_snapshot_of_others();
    if (!is_snapshot_due(saving)) return std::nullopt;
  }
  // Sections of index.bin that were never read go into the new file: once nothing is pending, all
  // of it was read and checked, but for what is in lists. Between the locks another thread may
  // replace the index.
  for (;;) {
    {
      const std::shared_lock lock(index_mutex);
      if (!index_is_whole_ || index.is_crowded()) return std::nullopt;
      if (!index.pending().any()) {
        std::string bytes = index::encode_snapshot(index);
        if (index.is_damaged()) return std::nullopt;  // less may have been taken of a list
        return Snapshot{std::move(bytes), view.tail.generation, extent_of(index),
                        metadata.compacted_through_seq()};
      }
    }
    if (!load_sections().ok()) return std::nullopt;
  }
}

void Core::put_snapshot(const Snapshot& snapshot) {
  const auto tail = storage->tail();  // nobody can replace the log while the lock is held
  if (!tail.ok() || tail->generation != snapshot.generation) return;
  {
    const std::shared_lock lock(index_mutex);
    // Another process has accepted gaps since. The next save knows that.
    if (metadata.compacted_through_seq() != snapshot.gaps_legal_to) return;
  }
  const Status put =
      storage->put_document(index::kSnapshotFile, snapshot.bytes, log::DocumentDurability::kNone);
  if (!put.ok()) {
    events.post(Level::kDebug, "index.bin was not saved: " + put.message());
    return;
  }
  const std::unique_lock lock(index_mutex);
  saved = {snapshot.covered, snapshot.bytes.size(), true};
}

void Core::note_snapshot_removed() {
  const std::unique_lock lock(index_mutex);
  saved.covered = {};
  saved.size_bytes = 0;
}

}  // namespace varve::session
