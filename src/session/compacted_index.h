// CompactedIndex: the index of the log that a compaction writes, made from that of the old log
// without reading a line.
//
// Threads: where the settings allow more than one, it is made in a second one while the caller
// copies lines, and encoded while the caller waits for the disk; otherwise on the caller's, when it
// asks. Both have ended when the object has.
#pragma once

#include <cstdint>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "session/core.h"

namespace varve::session {

class CompactedIndex {
 public:
  explicit CompactedIndex(Core& core) : core_(core) {}

  // Of the rows that stay, of that epoch.
  void start(std::vector<uint32_t> kept, uint64_t epoch);
  // Waits until it is made, or makes it, while the old log is still there. Nobody can change the
  // core's index before, so nothing may be waited for that does. Nothing without start().
  void finish();
  // Now that the log is replaced: the core has it, and the index of the old log is here. Without
  // finish(), or when rows were not of that epoch any more, the core makes its index from the log.
  Status adopt();

  // What index.bin is to hold, after adopt(); nothing when the core made its own.
  [[nodiscard]] std::optional<Core::Snapshot> take_snapshot() { return std::move(snapshot_); }
  // That of the old log. To free it takes a while.
  [[nodiscard]] std::shared_ptr<index::Index> take_old() { return std::move(old_); }

 private:
  [[nodiscard]] bool has_threads() const { return core_.settings.threads > 1; }

  Core& core_;
  std::shared_ptr<index::Index> made_;
  std::shared_ptr<index::Index> old_;
  std::optional<Core::Snapshot> snapshot_;
  std::future<std::shared_ptr<index::Index>> making_;
  std::future<std::string> encoding_;
};

}  // namespace varve::session
