// CompactionReport: what a compaction or a purge did, for its caller, the log and metadata.json.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/status.h"
#include "json/tree.h"
#include "session/core.h"

namespace varve::session {

enum class CompactionCause : uint8_t { kAsked, kAutomatic, kPurge };

// Why a line is not in the new log.
enum class Dropped : uint8_t { kDeleted, kExpired, kEvicted, kDamaged };
inline constexpr std::array<std::string_view, 4> kDroppedNames = {"deleted", "expired", "evicted",
                                                                  "damaged"};

struct CompactionReport {
  uint64_t entries_before = 0;  // with the deleted and expired ones
  uint64_t entries_after = 0;
  uint64_t bytes_before = 0;  // of memory.jsonl
  uint64_t bytes_after = 0;
  std::array<uint64_t, kDroppedNames.size()> dropped{};  // lines, by Dropped
  // Records of vectors.bin; nothing when there is no such file.
  std::optional<uint64_t> vectors_before;
  uint64_t vectors_after = 0;
  uint64_t evicted_bytes = 0;         // of the lines that went as evicted; not in tree()
  bool changed = false;               // the log was rewritten
  bool leaves_stray_vectors = false;  // not in tree(): see metadata.h
  double duration_ms = 0;

  [[nodiscard]] uint64_t dropped_as(Dropped why) const { return dropped[static_cast<size_t>(why)]; }
  [[nodiscard]] json::Tree tree() const;
};

// Adds the report to the history in metadata.json. After a power loss a compaction may be done and
// not noted; the note of a purge is durable.
Status save_history(Core& core, CompactionCause cause, const CompactionReport& report);
// Adds the report to the store's counters.
void count_up(Counters& counters, CompactionCause cause, const CompactionReport& report);
// Posts the log line that says that it is done, and a warning when it evicted without being asked.
void post_end(Core& core, CompactionCause cause, const CompactionReport& report);

}  // namespace varve::session
