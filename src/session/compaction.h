// Compaction: the log anew, without what nobody may read any more. Purge: the same, with nothing of
// what is gone left in any file of the session.
//
// The order of steps is what makes both safe at every crash point (docs/format.md#compaction):
//   1  damaged bytes go to quarantine (not in a purge)          durable
//   2  purge: quarantine, index.bin and left-overs are removed  durable
//   3  metadata.json says up to which seq gaps are legal        durable
//   4  the new memory.jsonl takes the name of the old one       durable: the commit point
//   5  vectors.bin is written anew when it has what nobody may read any more; in a purge durably
//      before the answer, and a failure of it is one of the purge
//   6  index.bin, of the old log, goes, and one of the new log is written; metadata.json gets its
//      history
// tombstones.jsonl stays: ids are used once, ever, and a tombstone without an entry is harmless.
#pragma once

#include <string_view>

#include "json/tree.h"
#include "session/compaction_report.h"
#include "session/core.h"
#include "session/writer.h"

namespace varve::session {

struct CompactionOptions {
  CompactionCause cause = CompactionCause::kAsked;
  bool dry_run = false;      // tell what would go
  double evict_below = 0.0;  // [relevance] live entries below it go too, but for protected ones
};

// Entries that eviction spares, besides those of types that do not decay and those that a live
// entry refers to: the tag, and tags below it.
inline constexpr std::string_view kPinnedTag = "pinned";

// Entries of less relevance are what an automatic compaction may drop.
// source: the persistence layer's §5.1.
inline constexpr double kAutomaticEvictBelow = 0.05;

// errors: kBusy, kReadOnly, kNoSpace, kIo; whatever fails, the old log is there as it was.
Result<json::Tree> compact(Core& core, Writer& writer, const CompactionOptions& options);

// The same for the holder of the storage's lock, without dry_run.
Result<CompactionReport> compact_as_writer(Core& core, const CompactionOptions& options);

}  // namespace varve::session
