// Counters: what happened since the store was opened, in this process. docs/operations.md#figures
// says what each means; store/metrics.cpp gives them to the host.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/histogram.h"

namespace varve::session {

struct Counters {
  std::atomic<uint64_t> lock_waits{0};
  std::atomic<uint64_t> lock_timeouts{0};
  std::atomic<uint64_t> commits{0};
  std::atomic<uint64_t> entries_added{0};
  std::atomic<uint64_t> entries_deleted{0};
  std::atomic<uint64_t> bytes_written{0};
  std::atomic<uint64_t> syncs{0};
  std::atomic<uint64_t> index_rebuilds{0};
  std::atomic<uint64_t> lines_skipped{0};
  std::atomic<uint64_t> index_loads{0};        // index.bin spared reading the log
  std::atomic<uint64_t> torn_tails{0};         // moved to quarantine
  std::atomic<uint64_t> corruption_errors{0};  // damage met; met twice, counted twice
  std::atomic<uint64_t> io_errors{0};          // calls that failed because of the disk
  std::atomic<uint64_t> compactions{0};
  std::atomic<uint64_t> entries_expired{0};
  std::atomic<uint64_t> entries_evicted{0};
  std::atomic<uint64_t> purges{0};

  Histogram write_us{kDurationBoundsUs};  // [us] of adds and deletes, from the call to its answer
  Histogram query_us{kDurationBoundsUs};
  Histogram sync_us{kDurationBoundsUs};  // of one file of a log
  Histogram lock_wait_us{kDurationBoundsUs};
  Histogram compaction_us{kDurationBoundsUs};
  Histogram group_entries{kGroupBounds};  // entries and deletes that shared one commit

  // Readers on all processors count here, so it has a cache line of its own.
  alignas(64) std::atomic<uint64_t> gets{0};
};

}  // namespace varve::session
