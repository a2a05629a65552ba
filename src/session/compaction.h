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

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "json/tree.h"
#include "session/core.h"
#include "session/writer.h"

namespace varve::session {

enum class CompactionCause : uint8_t { kAsked, kAutomatic, kPurge };

struct CompactionOptions {
  CompactionCause cause = CompactionCause::kAsked;
  bool dry_run = false;      // tell what would go
  double evict_below = 0.0;  // [relevance] live entries below it go too, but for protected ones
};

// Why a line is not in the new log.
enum class Dropped : uint8_t { kDeleted, kExpired, kEvicted, kDamaged };
inline constexpr std::array<std::string_view, 4> kDroppedNames = {"deleted", "expired", "evicted",
                                                                  "damaged"};

struct CompactionReport {
  uint64_t entries_before = 0;  // with the deleted and expired ones
  uint64_t entries_after = 0;
  uint64_t bytes_before = 0;  // of memory.jsonl
  uint64_t bytes_after = 0;
  std::array<uint64_t, kDroppedNames.size()> dropped{};
  // Of vectors.bin; when there is one.
  std::optional<uint64_t> vectors_before;
  uint64_t vectors_after = 0;
  bool changed = false;  // the log was written anew
  double duration_ms = 0;

  [[nodiscard]] json::Tree tree() const;
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
