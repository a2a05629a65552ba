// The tombstone: one line of tombstones.jsonl, the audit log of deletions. Never any content.
//
//   {"checksum":"sha256:…","id":"mem_…","reason":"user request","timestamp":"2026-01-10T14:23:45Z"}
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "json/document.h"

namespace varve::entry {

inline constexpr size_t kReasonBytesMax = 1024;

// Of a host. errors: kInvalidArgument.
Status check_reason(std::string_view reason);

struct Tombstone {
  std::string id;
  std::string reason;
  int64_t timestamp_ms = 0;
};

// The sealed line with its newline.
std::string seal_tombstone(const Tombstone& tombstone);

// Reads one line without its line end. A checksum may be missing (a line made by hand), but not
// wrong; a missing reason or timestamp is read as empty or 0. errors: kCorruption.
Status read_tombstone(std::string_view line, json::Document& scratch, Tombstone* out);

}  // namespace varve::entry
