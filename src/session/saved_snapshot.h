// SavedSnapshot: what is known of the index.bin on disk, and when saving a new one is worth it.
#pragma once

#include <cstdint>

namespace varve::session {

// How far an index goes: the one in memory, or the saved one.
struct SnapshotExtent {
  uint64_t log_bytes = 0;
  uint32_t text_rows = 0;  // rows whose words are indexed
};

// Whether to save an index.
enum class Saving : uint8_t {
  kIfDue,   // when the log grew enough since the last save
  kAlways,  // unless the file has it all
};

struct SavedSnapshot {
  SnapshotExtent covered;   // log_bytes 0: there is no file to rely on
  uint64_t size_bytes = 0;  // 0: there is no file
  bool was_used = false;    // the index was loaded from it, or it was saved from the index

  // The file is no longer to be relied on: it may be wrong, or of a log that was replaced.
  void distrust() { covered.log_bytes = 0; }

  // Saving when it is due keeps the work in proportion to the log, and an opening then reads at
  // most a third of the log.
  [[nodiscard]] bool is_saving_due(const SnapshotExtent& index, Saving saving) const;
  // Whether to save `index` at the end of a session that was written to. If not, the next opening
  // reads what the file leaves out, which costs less. `waiting_bytes` of the log have no words yet.
  [[nodiscard]] bool is_saving_worth(const SnapshotExtent& index, uint64_t waiting_bytes) const;
  // Whether `index` has the words of many rows that the file does not have.
  [[nodiscard]] bool lacks_many_words(const SnapshotExtent& index) const;
};

}  // namespace varve::session
