// Scans a stream: which lines are committed, which are damaged, and where the torn tail begins.
//
// A line is committed if it ends in '\n' and is a valid entry (or tombstone). What follows the last
// committed line is a torn tail: bytes of a write that never finished. Readers ignore it; the next
// writer moves it to quarantine. Other invalid lines are damage: they stay, are passed over, and
// are reported with their places. What comes after an invalid line decides which it is:
//
//   after it comes a committed line        damage
//   it is a terminated JSON object         damage (somebody edited it; it is worth keeping)
//   nothing but invalid bytes to the end   torn tail
//
// A batch ({"n":3,"i":0} …) is committed as a whole, when all its lines are there: a log that ends
// inside a batch ends before it. Lines up to `settled_seq` are known to have been durable (or to
// have been through a compaction, which may thin a batch), so they do not wait for their batch.
//
// source: docs/format.md#recovery.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "entry/entry.h"
#include "entry/tombstone.h"
#include "log/line_reader.h"
#include "log/storage.h"

namespace varve::log {

inline constexpr size_t kDamageListMax = 1000;  // ranges remembered; all are counted

struct Damage {
  Stream stream = Stream::kEntries;
  uint64_t offset = 0;
  uint64_t length = 0;  // [bytes], with the line end
  std::string reason;
};

struct ScannedEntry {
  std::string_view bytes;  // the line, without '\n'
  uint64_t offset = 0;
  uint64_t length = 0;  // [bytes], without '\n'
  uint64_t hash = 0;    // hash64() of the bytes
  const entry::EntryFacts* facts = nullptr;
};

struct ScannedTombstone {
  uint64_t offset = 0;
  uint64_t length = 0;  // [bytes], without '\n'
  uint64_t hash = 0;    // hash64() of the line, without '\n'
  const entry::Tombstone* tombstone = nullptr;
};

struct ScanReport {
  uint64_t committed_end = 0;  // after the last committed line: where the next append belongs
  uint64_t scanned_end = 0;    // end of the bytes looked at; more than committed_end: a torn tail
  uint64_t damaged_count = 0;
  std::vector<Damage> damaged;  // the first kDamageListMax, in order, all before committed_end
  std::string tail_reason;      // what is wrong with the torn tail; empty when there is none
  uint64_t salvaged_count = 0;  // committed lines of a batch that ends too early
};

// The whole lines of a batch that the log ends inside of are kept if the last of them ends by here.
inline constexpr uint64_t kNoneKept = 0;
inline constexpr uint64_t kAllKept = std::numeric_limits<uint64_t>::max();

using VisitEntry = std::function<Status(const ScannedEntry&)>;
using VisitTombstone = std::function<Status(const ScannedTombstone&)>;

// Scans a stretch that begins where a line does. Visits every committed entry in order; a failure
// of the visitor ends the scan and is returned.
// errors: those of SessionStorage::read; kFormatVersion for a line of a newer version; kGone also
// when a writer cut off and wrote over what was read meanwhile: what was visited may be wrong.
Result<ScanReport> scan_entries(SessionStorage& storage, const Stretch& stretch,
                                uint64_t settled_seq, const VisitEntry& visit,
                                uint64_t kept_to = kNoneKept);

// The same for tombstones. They have no batches.
Result<ScanReport> scan_tombstones(SessionStorage& storage, const Stretch& stretch,
                                   const VisitTombstone& visit);

// Adds to *damaged each line but blank ones of a stretch of which no line was visited. A scan
// itself lists only the first kDamageListMax.
Status list_damaged_lines(SessionStorage& storage, Stream stream, const Stretch& stretch,
                          std::vector<Damage>* damaged);

}  // namespace varve::log
