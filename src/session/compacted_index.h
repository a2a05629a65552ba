// CompactedIndex: the index of the log that a compaction writes, made from that of the old log
// without reading a line.
//
// Threads: where the settings allow more than one, it is encoded in a second one while the caller
// waits for the disk; otherwise by adopt(). That has ended when the object has.
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

  // Of the rows that stay, of that epoch; while the old log is still there.
  void make(const std::vector<uint32_t>& kept, uint64_t epoch);
  // Now that the log is replaced: the core has it, and the index of the old log is here. Without
  // make(), or when rows were not of that epoch any more, the core makes its index from the log.
  Status adopt();

  // What index.bin is to hold, after adopt(); nothing when the core made its own.
  [[nodiscard]] std::optional<Core::Snapshot> take_snapshot() { return std::move(snapshot_); }
  // That of the old log. To free it takes a while.
  [[nodiscard]] std::shared_ptr<index::Index> take_old() { return std::move(old_); }

 private:
  Core& core_;
  std::shared_ptr<index::Index> made_;
  std::shared_ptr<index::Index> old_;
  std::optional<Core::Snapshot> snapshot_;
  std::future<std::string> encoding_;
};

}  // namespace varve::session
