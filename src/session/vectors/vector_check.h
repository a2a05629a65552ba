// Verify and repair of vectors.bin.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "json/tree.h"
#include "session/core.h"
#include "session/progress.h"

namespace varve::session {

struct VectorCheck {
  log::VectorsTail tail;
  uint32_t dimension = 0;     // 0: there are no vectors
  uint64_t record_count = 0;  // whole ones
  uint64_t entry_count = 0;   // live entries with a vector
  uint64_t damaged_count = 0;
  uint64_t torn_offset = 0;  // where the file ought to end
  uint64_t torn_bytes = 0;   // after it: an incomplete record, or one being written

  [[nodiscard]] json::Tree tree() const;
};

using VectorProblem =
    std::function<void(uint64_t offset, uint64_t length, std::string_view reason)>;

// Reads every record, without a lock. Calls `problem` for what is damaged, but not for a torn end,
// and `step` with the bytes done.
Result<VectorCheck> check_vectors(Core& core, const VectorProblem& problem, const Step& step);

// Whether any record is damaged, or the file as a whole; a torn end is not damage.
Result<bool> is_damaged(VectorFile& file, const log::VectorsTail& tail);

// For the lock holder, before entries are added: a compaction that was killed or failed after its
// new log was in place may have left vectors whose ids are free, and so may damage that took
// entries from the log. They would become the vectors of the next entries with these ids.
// kConflict: the index was rebuilt meanwhile.
Status drop_stray_vectors(Core& core);

// How many stretches of vectors.bin repair_vectors() would move to quarantine. Without a lock, a
// record that is just being written may count.
Result<uint64_t> count_vector_damage(Core& core);

// Moves damage to quarantine. The caller holds the storage's lock. Returns whether anything
// changed.
Result<bool> repair_vectors(Core& core);

}  // namespace varve::session
