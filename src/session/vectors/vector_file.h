// VectorFile: vectors.bin of one session, through the storage seam.
//
// Each record names its entry by id, and an id is used only once while its entry or a tombstone is
// there. So beside any generation of the log a record is that entry's or nobody's, and the two
// files need no atomic pair, only an order of writes (docs/decisions.md, 43):
//   an entry is durable before a vector of it is written
//   a compaction replaces the log first, and drops vectors of what the log no longer has after that
//   ids of expired and evicted entries are free with the new log: no entry is added before their
//   vectors are gone; metadata.json says so if the compaction died in between
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "embedding/vector_format.h"
#include "log/quarantine.h"
#include "log/storage.h"

namespace varve::session {

// How many records of full length there are, whole or not.
[[nodiscard]] uint64_t record_count(const log::VectorsTail& tail, uint32_t dimension);

class VectorFile {
 public:
  explicit VectorFile(log::SessionStorage& storage) : storage_(storage) {}

  // --- any thread, no lock ---
  // 0 when there are no vectors. kCorruption naming the file, kFormatVersion, kGone.
  Result<uint32_t> dimension(const log::VectorsTail& tail);

  struct Scanned {
    uint64_t offset = 0;
    std::optional<embedding::Record> record;  // nothing: damaged or torn
  };
  using Visit = std::function<Status(const Scanned&)>;
  // Visits every record of full length from `offset` on; 0: from the first. kGone.
  Status scan(const log::VectorsTail& tail, uint32_t dimension, uint64_t offset,
              const Visit& visit);

  // --- while holding the storage's lock ---
  // Adds a record; first moves a torn end to quarantine. kInvalidArgument when the other records
  // have another dimension.
  Status put(std::string_view id, std::span<const float> values, bool durable, int64_t now_ms);

  // What a rewrite keeps: the last record of each entry that `keeps` accepts.
  struct Selection {
    log::VectorsTail tail;
    uint32_t dimension = 0;
    uint64_t record_count = 0;   // before
    std::vector<uint64_t> kept;  // offsets
    std::vector<uint64_t> damaged;
    bool has_torn_end = false;
    // Stretches that set_aside() copies.
    [[nodiscard]] uint64_t damage_count() const { return damaged.size() + (has_torn_end ? 1 : 0); }
    [[nodiscard]] bool drops() const {
      return kept.size() < record_count || has_torn_end || (dimension > 0 && kept.empty());
    }
  };
  using Keeps = std::function<bool(std::string_view id)>;
  Result<Selection> select(const Keeps& keeps);
  // Makes the file hold only these, or removes it; durable. The log may have been replaced.
  Status rewrite(const Selection& selection);
  // Copies the damaged records and a torn end to quarantine.
  static Status set_aside(const Selection& selection, log::Quarantining& quarantine);
  // Moves an unreadable file into quarantine.
  Status set_all_aside(int64_t now_ms);

 private:
  Status put_once(std::string_view id, std::span<const float> values, bool durable, int64_t now_ms);
  Status put_first(std::string_view record, uint32_t dimension);
  // Where the file ends without the records at its end that are not whole.
  Result<uint64_t> whole_end(const log::VectorsTail& tail, uint32_t dimension);
  Status cut_torn_end(const log::VectorsTail& tail, uint64_t end, int64_t now_ms);
  [[nodiscard]] Place place() const;

  log::SessionStorage& storage_;
  log::VectorsTail whole_;  // known to end with a whole record; used by the lock holder
};

}  // namespace varve::session
