// What a session runs with: the store's configuration with the session's overrides.
#pragma once

#include <cstdint>

#include "decay/decay.h"
#include "log/storage.h"
#include "query/best.h"
#include "text/analyzer.h"

namespace varve::session {

// When a session is compacted automatically.
struct CompactionPolicy {
  bool automatic = true;
  double threshold = 0.9;  // of session_bytes_max
};

// What to do about a log that is not whole.
enum class Recovery : uint8_t {
  kTail,     // damage is passed over, an unfinished end is ignored
  kStrict,   // a session with any damage does not open
  kSalvage,  // as kTail, and the whole lines of an unfinished batch are kept
};

inline constexpr uint64_t kCapMax = 1'000'000;  // of kv and transcript

struct Settings {
  uint64_t session_bytes_max = uint64_t{10} << 20;  // all but quarantine; 0: no limit
  CompactionPolicy compaction;
  uint64_t user_bytes_max = 0;                   // of all sessions of a user; 0: no limit
  uint64_t user_sessions_max = 0;                // 0: no limit
  uint64_t entry_bytes_max = uint64_t{1} << 20;  // one sealed line; 0: no limit
  uint64_t kv_cap = 200;                         // keys of a session
  uint64_t transcript_cap = 500;                 // entries of a transcript
  uint64_t lock_timeout_ms = 5000;
  bool exclusive = false;  // an open session keeps its lock: nobody else can write to it
  uint64_t batch_write_interval_ms = 1000;  // durability "interval"
  log::Durability durability = log::Durability::kCommit;
  Recovery recovery = Recovery::kTail;
  uint64_t failure_buffer_bytes_max = 0;  // of entries kept while the disk fails; 0: such adds fail
  decay::Rules decay = decay::Rules::defaults();
  text::Settings text;
  query::BestWeights best;
  uint64_t cached_entries_max = 100;  // lines kept in memory, of up to 16 KB each
  uint64_t kept_sessions_max = 256;   // that stay open between queries across sessions
  uint64_t threads = 1;               // that a query across sessions, or a compaction, may use
};

}  // namespace varve::session
