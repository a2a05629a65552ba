// SessionSize: how large the session's files are, and who is told.
//
// Threads: any. Locks: hold the index lock for bytes_now(), not for the others.
#pragma once

#include <cstdint>

#include "base/result.h"

namespace varve::session {

class Core;

class SessionSize {
 public:
  explicit SessionSize(Core& core) : core_(core) {}

  // [bytes] of log, tombstones, vectors, index.bin, kv.json and transcript.md, as last seen.
  [[nodiscard]] uint64_t bytes() const;
  [[nodiscard]] uint64_t bytes_now() const;
  // Of index.bin and the vectors alone, which follow the log.
  [[nodiscard]] uint64_t derived_bytes() const;
  // Of kv.json and transcript.md.
  [[nodiscard]] uint64_t capped_bytes() const;
  // Looks up the present sizes of these two files.
  void measure_capped_files();
  // The same as bytes(), of the files as they are now, whoever wrote them; the index is not brought
  // up to date. kNotFound when the session was deleted.
  Result<uint64_t> measured_bytes();
  // For the holder of the storage's lock, where a session has a limit: looks up the sizes of what
  // others may have written since, of which the log tells nothing.
  void follow();

  // Tells the quota of its user how much larger or smaller its files are.
  void note_growth(int64_t grown_bytes) noexcept;
  // Warns when the session has come near its size limit (session_events.h).
  void watch() noexcept;

 private:
  Core& core_;
  uint64_t snapshot_mark_ = 0;  // of index.bin when its size was looked up; lock holder only
};

}  // namespace varve::session
