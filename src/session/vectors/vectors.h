// Vectors: the embeddings of a session's entries in memory. The first query that needs them loads
// them; each later one catches up with the file.
//
// A record counts when it is the last one of its entry and the entry is in the index. Which entries
// may be found is decided by the query.
//
// Threads: any; for file() see vector_file.h.
// Locks: the index's may be held when match() is called; hold none when calling the others.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <vector>

#include "embedding/vector_table.h"
#include "index/index.h"
#include "query/fusion.h"
#include "session/vectors/vector_file.h"

namespace varve::session {

class Vectors {
 public:
  explicit Vectors(log::SessionStorage& storage) : storage_(storage), file_(storage) {}

  VectorFile& file() { return file_; }

  // How similar a query and each record are; made without the index.
  struct Similarities {
    uint64_t load = 0;  // the load that the records' numbers belong to
    std::vector<double> by_record;
  };
  // `record_end_max`: later records are ignored. kInvalidArgument when the vectors have another
  // dimension than the query; kCorruption, kFormatVersion.
  Result<Similarities> compare(std::span<const float> query,
                               std::optional<uint32_t> record_end_max);
  // The same by row, ascending. Call it under the index's lock, with an index that was caught up
  // after compare(). kGone when the file was replaced meanwhile.
  Result<std::vector<query::VectorMatch>> match(const Similarities& similarities,
                                                const index::Index& index, uint64_t index_epoch);

  // Looks up the file's size. Vectors in memory of a file that was replaced go: it may have been
  // replaced to forget them.
  void look() noexcept;
  [[nodiscard]] uint64_t size_bytes() const { return size_bytes_.load(); }  // as last seen
  [[nodiscard]] uint64_t memory_bytes() const;
  // Removes all vectors from memory, for a purge.
  void forget();

 private:
  Status catch_up();
  Status read(const log::VectorsTail& tail);
  Status load(const log::VectorsTail& tail);
  Status read_more(const log::VectorsTail& tail);
  [[nodiscard]] bool is_current(const log::VectorsTail& tail) const;
  [[nodiscard]] bool has_others_than(const log::VectorsTail& tail) const;
  void let_go();
  bool resolve(const Similarities& similarities, const index::Index& index, uint64_t index_epoch);

  log::SessionStorage& storage_;
  VectorFile file_;
  std::atomic<uint64_t> size_bytes_{0};

  std::mutex load_mutex_;                          // one thread at a time reads the file
  mutable std::shared_mutex mutex_;                // guards the rest; held for moments
  std::unique_ptr<embedding::VectorTable> table_;  // null: nothing loaded, or no vectors
  bool is_whole_ = false;  // false during a change of the table, and after a failed one
  uint64_t load_ = 0;      // changes when the records are renumbered
  uint64_t generation_ = 0;
  uint64_t covered_bytes_ = 0;  // of the file
  std::vector<uint32_t> rows_;  // of the first records, in the index of rows_epoch_
  uint64_t rows_epoch_ = 0;
};

}  // namespace varve::session
