// Quarantine: keeps bytes that are cut from a log, exactly as they were, in quarantine.jsonl.
//
//   {"bytes":"BASE64","file":"memory.jsonl","offset":1234,"reason":"…","timestamp":"…"}
#pragma once

#include <cstdint>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/result.h"
#include "log/scan.h"
#include "log/storage.h"

namespace varve::log {

struct QuarantineReason {
  std::string_view file;  // the file's name inside the session's directory
  std::string_view reason;
  int64_t now_ms = 0;
};

// Copies bytes that are in memory to quarantine, in records of at most 1 MB; durable when this
// answers ok. The caller holds the session's lock and removes them from their file afterwards.
Status quarantine_bytes(SessionStorage& storage, std::string_view bytes, uint64_t offset,
                        const QuarantineReason& why);

// The same for stretches of streams, each only once: work may have to begin again.
class Quarantining {
 public:
  Quarantining(SessionStorage& storage, int64_t now_ms) : storage_(storage), now_ms_(now_ms) {}

  // Copies those that were not given before with this generation. Synced once for a megabyte of
  // records: a log may have as many damaged lines as it has bytes.
  Status add(uint64_t generation, const std::vector<Damage>& stretches);

 private:
  SessionStorage& storage_;
  const int64_t now_ms_;
  std::set<std::tuple<Stream, uint64_t, uint64_t, uint64_t>> done_;
};

}  // namespace varve::log
