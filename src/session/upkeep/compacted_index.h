// CompactedIndex: the index of the log that a compaction writes, made from the index of the old log
// without reading a line.
//
// Threads: one may run make_facets() while another runs the rest. encode() uses a second thread
// where the settings allow it, while the caller waits for the disk; otherwise adopt() encodes. The
// thread has ended when the object is destroyed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/beside.h"
#include "session/core.h"

namespace varve::session {

class CompactedIndex {
 public:
  explicit CompactedIndex(Core& core) : core_(core) {}

  // plan() says which of `row_count` rows, numbered as in `epoch`, stay. Then, while the old log is
  // still in place, the others make the two parts of the index and the bytes of its index.bin.
  void plan(std::vector<uint32_t> kept, uint32_t row_count, uint64_t epoch);
  void make_facets();
  void make_rows_and_words();
  void encode();
  // After the log was replaced: gives the core the new index and takes the old one. Without plan(),
  // or if the rows are no longer those of `epoch`, the core rebuilds its index from the log.
  Status adopt();

  // The new index.bin, after adopt(); nothing when the core rebuilt its index.
  [[nodiscard]] std::optional<Core::Snapshot> take_snapshot() { return std::move(snapshot_); }
  // The index of the old log. Freeing it takes a while.
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
  Beside<std::string> encoding_;
};

}  // namespace varve::session
