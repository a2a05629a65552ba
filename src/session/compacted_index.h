// CompactedIndex: the index of the log that a compaction writes, made from that of the old log
// without reading a line.
//
// Threads: one may make_facets() while another makes the rest. Where the settings allow more than
// one, it is encoded in a second one while the caller waits for the disk; otherwise by adopt().
// That has ended when the object has.
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

  // Which rows stay, of how many, of that epoch. Then, while the old log is still there, the two
  // parts of the index, and what index.bin is to hold of it.
  void plan(std::vector<uint32_t> kept, uint32_t row_count, uint64_t epoch);
  void make_facets();
  void make_rows_and_words();
  void encode();
  // Now that the log is replaced: the core has it, and the index of the old log is here. Without
  // plan(), or when rows were not of that epoch any more, the core makes its index from the log.
  Status adopt();

  // What index.bin is to hold, after adopt(); nothing when the core made its own.
  [[nodiscard]] std::optional<Core::Snapshot> take_snapshot() { return std::move(snapshot_); }
  // That of the old log. To free it takes a while.
  [[nodiscard]] std::shared_ptr<index::Index> take_old() { return std::move(old_); }

 private:
  Core& core_;
  std::vector<uint32_t> kept_;
  std::optional<index::Renumbering> rows_;  // of kept_
  uint64_t epoch_ = 0;
  std::optional<index::Facets> facets_;
  std::shared_ptr<index::Index> made_;
  std::shared_ptr<index::Index> old_;
  std::optional<Core::Snapshot> snapshot_;
  std::future<std::string> encoding_;
};

}  // namespace varve::session
