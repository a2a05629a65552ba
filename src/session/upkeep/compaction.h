// Compaction: rewrites the log without what nobody may read any more. Purge: the same, and no byte
// of what is gone stays in any file of the session.
//
// The order of the steps makes both safe at every crash point (docs/format.md#compaction):
//   1  damaged bytes go to quarantine (not in a purge)          durable
//   2  purge: quarantine, index.bin and left-overs are removed  durable
//   3  metadata.json says up to which seq gaps are legal        durable
//   4  the new memory.jsonl takes the name of the old one       durable: the commit point
//   5  vectors.bin is rewritten when it has what nobody may read any more; in a purge durably
//      before the answer, and a failure of it is one of the purge
//   6  index.bin, of the old log, goes, and one of the new log is written; metadata.json gets its
//      history
// tombstones.jsonl stays: ids are used once, ever, and a tombstone without an entry is harmless.
#pragma once

#include <string_view>

#include "json/tree.h"
#include "session/core.h"
#include "session/upkeep/compaction_report.h"
#include "session/writer.h"

namespace varve::session {

struct CompactionOptions {
  CompactionCause cause = CompactionCause::kAsked;
  bool dry_run = false;      // only tell what would go
  double evict_below = 0.0;  // [relevance] also drops live, unprotected entries below this
};

// The tag whose entries, with those of tags below it, are spared by eviction. Also spared are types
// that do not decay and entries that a live entry refers to.
inline constexpr std::string_view kPinnedTag = "pinned";

// errors: kBusy, kReadOnly, kNoSpace, kIo. On any failure the old log is as it was.
Result<json::Tree> compact(Core& core, Writer& writer, const CompactionOptions& options);

// The same for the holder of the storage's lock, without dry_run.
Result<CompactionReport> compact_as_writer(Core& core, const CompactionOptions& options);

// The report of a dry run. Without the storage's lock, kGone when the log was replaced meanwhile.
Result<CompactionReport> plan_compaction(Core& core, CompactionOptions options);

}  // namespace varve::session
