// SavedSnapshot: what is known of the index.bin on disk, and when it is worth saving anew.
#pragma once

#include <cstdint>

namespace varve::session {

// How far an index goes, in memory or as it was saved.
struct SnapshotExtent {
  uint64_t log_bytes = 0;
  uint32_t text_rows = 0;  // rows whose words are indexed
};

struct SavedSnapshot {
  SnapshotExtent covered;   // log_bytes 0: there is none that may be relied on
  uint64_t size_bytes = 0;  // 0: there is none
  bool was_used = false;    // the index was loaded from it, or it was saved from the index

  // No longer to be relied on: it may be wrong, or of a log that was replaced.
  void distrust() { covered.log_bytes = 0; }

  // Whether `index` is to be saved: when the log grew enough since, or `always` when the file is
  // not the same. The work stays in proportion to the log, and an opening reads a third of it at
  // most.
  [[nodiscard]] bool is_saving_due(const SnapshotExtent& index, bool always) const;
  // Whether `index` is to be saved at the end of a session that was written to, or the next opening
  // reads what the file leaves out, which costs less. `waiting_bytes` of the log have no words yet.
  [[nodiscard]] bool is_saving_worth(const SnapshotExtent& index, uint64_t waiting_bytes) const;
  // Whether `index` has the words of many rows that the file does not have.
  [[nodiscard]] bool lacks_many_words(const SnapshotExtent& index) const;
};

}  // namespace varve::session
