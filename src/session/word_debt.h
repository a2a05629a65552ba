// WordDebt: how many bytes of the log the writes of this process should index the words of.
//
// Words are indexed late: by the query that needs them, or by writes once much waits. Writes pay in
// proportion to what this process wrote, so that what a bulk load left gets done and no single add
// pays for all of it: every few writes, one indexes a few times what it wrote. What other processes
// write is indexed by whoever queries.
#pragma once

#include <atomic>
#include <cstdint>

namespace varve::session {

// How much of the log is read at a time, and indexed at a time under the index's lock.
inline constexpr uint64_t kWordsBytes = uint64_t{1} << 20;
// How much the end of a session may index: it must not wait for a whole log.
inline constexpr uint64_t kWordsBytesOfClose = 16 * kWordsBytes;

class WordDebt {
 public:
  // A query by words was asked in this process. Any thread, no lock.
  void note_asked() noexcept { is_asked_.store(true); }
  // `bytes` were added to the log by this process. Index lock held exclusively.
  void note_written(uint64_t bytes) noexcept { written_bytes_ += bytes; }
  // How much the calling write is to index when `waiting_bytes` of the log have no words indexed;
  // 0: nothing yet. The answer counts as paid. Index lock held exclusively.
  [[nodiscard]] uint64_t due_bytes(uint64_t waiting_bytes) noexcept;

 private:
  std::atomic<bool> is_asked_{false};  // ever
  uint64_t written_bytes_ = 0;         // since due_bytes() was last called
  uint64_t owed_bytes_ = 0;
};

}  // namespace varve::session
