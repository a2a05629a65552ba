// Quarantine: keeps bytes that are cut from a log, exactly as they were, in quarantine.jsonl.
//
//   {"bytes":"BASE64","file":"memory.jsonl","offset":1234,"reason":"…","timestamp":"…"}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "log/storage.h"

namespace varve::log {

struct QuarantineReason {
  std::string_view file;  // the file's name inside the session's directory
  std::string_view reason;
  int64_t now_ms = 0;
};

// Copies [offset, offset + length) of a stream to quarantine, in records of at most 1 MB; durable
// when this answers ok. The caller holds the session's lock and cuts the bytes off afterwards.
Status quarantine_range(SessionStorage& storage, Stream stream, uint64_t generation,
                        uint64_t offset, uint64_t length, const QuarantineReason& why);

// The same for bytes in memory.
Status quarantine_bytes(SessionStorage& storage, std::string_view bytes, uint64_t offset,
                        const QuarantineReason& why);

}  // namespace varve::log
