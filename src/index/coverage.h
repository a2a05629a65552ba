// Coverage: how much of a log an index, or an index.bin, knows.
#pragma once

#include <cstdint>

namespace varve::index {

// How far into the log the index reaches, and what was wrong on the way.
struct Coverage {
  uint64_t entries_bytes = 0;     // all lines before this offset are covered
  uint64_t tombstones_bytes = 0;  // likewise
  uint64_t last_line_offset = 0;  // of the last covered entry; its hash ties the index to this log
  uint64_t last_line_length = 0;
  uint64_t last_line_hash = 0;
  uint64_t last_seq = 0;       // the highest seen
  uint64_t skipped_count = 0;  // damaged lines passed over, and entries with an id that was taken
  uint64_t missing_count = 0;  // sequence numbers that should have been there
};

}  // namespace varve::index
