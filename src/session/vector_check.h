// Looking after vectors.bin: verify and repair.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "json/tree.h"
#include "session/core.h"

namespace varve::session {

struct VectorCheck {
  log::VectorsTail tail;
  uint32_t dimension = 0;     // 0: there are none
  uint64_t record_count = 0;  // whole ones
  uint64_t entry_count = 0;   // live entries that have one
  uint64_t damaged_count = 0;
  uint64_t torn_offset = 0;  // where the file ought to end
  uint64_t torn_bytes = 0;   // behind it: a record that is not whole, or being written

  [[nodiscard]] json::Tree tree() const;
};

using VectorProblem =
    std::function<void(uint64_t offset, uint64_t length, std::string_view reason)>;

// Reads every record, and tells what is damaged; not of a torn end. Without a lock.
Result<VectorCheck> check_vectors(Core& core, const VectorProblem& problem);

// Before entries are added, by the holder of the storage's lock: what a compaction that was killed,
// or failed, behind its new log has left in vectors.bin would be the vectors of the next entries of
// these ids. kConflict: the index was made anew meanwhile.
Status drop_stray_vectors(Core& core);

// What is damaged goes to quarantine. The caller holds the storage's lock. Whether it changed
// anything.
Result<bool> repair_vectors(Core& core);

}  // namespace varve::session
