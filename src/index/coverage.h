// Coverage: how much of a log an index, or an index.bin, knows.
#pragma once

#include <cstdint>

#include "log/line_reader.h"

namespace varve::index {

// Whether a line may be there. Nobody makes room for one that is longer than any can be, as an
// index.bin may say beside a log that is a hole, or for more than there is of the log.
[[nodiscard]] inline bool may_be_line(uint64_t offset, uint64_t length, uint64_t covered_bytes) {
  return length <= log::kLineBytesMax && offset <= covered_bytes && length < covered_bytes - offset;
}

// How far into the log the index reaches, and what was wrong on the way.
struct Coverage {
  uint64_t entries_bytes = 0;     // all lines before this offset are covered
  uint64_t tombstones_bytes = 0;  // likewise
  uint64_t last_line_offset = 0;  // of the last covered entry; its hash ties the index to this log
  uint64_t last_line_length = 0;
  uint64_t last_line_hash = 0;
  uint64_t last_seq = 0;       // the highest seen
  uint64_t skipped_count = 0;  // damaged entries passed over, and those with an id that was taken
  uint64_t missing_count = 0;  // sequence numbers that should have been there
};

// A line of deletions, by which what is known of them is found again. Not in index.bin.
struct TombstoneMark {
  uint64_t offset = 0;
  uint64_t length = 0;  // [bytes] without the line end; 0: there is none
  uint64_t hash = 0;
};

}  // namespace varve::index
