// WordDebt: how much of the log the writes of this process are to index the words of.
//
// Words are indexed late: by the query that needs them, or by writes once much waits. Writes pay in
// proportion to what was written here, so that what waits after a bulk load comes to an end and no
// single add pays for all of it: every few writes, some times what one of them wrote. What other
// processes write is indexed by whoever asks.
#pragma once

#include <atomic>
#include <cstdint>

namespace varve::session {

// Lines that are read at once, and indexed at once under the index's lock.
inline constexpr uint64_t kWordsBytes = uint64_t{1} << 20;
// What the end of a session may index: it does not wait for a whole log.
inline constexpr uint64_t kWordsBytesOfClose = 16 * kWordsBytes;

class WordDebt {
 public:
  // A query by words was asked here. Any thread, no lock.
  void note_asked() noexcept { is_asked_.store(true); }
  // `bytes` were added to the log by this process. Index lock held exclusively.
  void note_written(uint64_t bytes) noexcept { written_bytes_ += bytes; }
  // What the write that asks is to index, when `waiting_bytes` of the log have none of their words
  // indexed; 0: nothing yet. What it answers counts as paid. Index lock held exclusively.
  [[nodiscard]] uint64_t due_bytes(uint64_t waiting_bytes) noexcept;

 private:
  std::atomic<bool> is_asked_{false};  // ever
  uint64_t written_bytes_ = 0;         // since due_bytes() was last called
  uint64_t owed_bytes_ = 0;
};

}  // namespace varve::session
