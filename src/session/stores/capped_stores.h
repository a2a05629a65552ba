// What a session's key-value store and transcript have in common: whether the session has them, how
// much they keep, and what is done about damage in their files.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "session/core.h"
#include "session/writer.h"

namespace varve::session {

enum class CappedStore : uint8_t { kKeyValue, kTranscript };

// What becomes of unreadable bytes when a file is rewritten.
enum class Remains : uint8_t {
  kSetAside,  // they go to quarantine
  kDropped,   // by a purge
};

inline constexpr uint64_t kCappedFileBytesMax = uint64_t{64} << 20;

std::string_view file_of(CappedStore store);
// kUnsupported when the session was created without it.
Status check_has(const Core& core, CappedStore store);
// The session's own cap, else the store's.
uint64_t cap_of(const Core& core, CappedStore store);
// "2025-04-15T10:30:01Z"
std::string now_in_seconds(const Core& core);
// kSizeLimit if `size_bytes` is more than an entry may have.
Status check_length(const Core& core, std::string_view what, uint64_t size_bytes);
// kSizeLimit if the file may not get this size, even after a compaction. It may always shrink.
Status make_room_in_file(Core& core, Writer& writer, CappedStore store, uint64_t size_bytes);

// The kSizeLimit for a file that is larger than kCappedFileBytesMax and is not read into memory.
Status oversized(CappedStore store, Place place);

// Counts damage and reports it in the log, once for each `signature`.
void note_damage(Core& core, CappedStore store, uint64_t signature, std::string_view reason);
// Lock holder: moves bytes to quarantine, durably.
Status set_aside(Core& core, CappedStore store, std::string_view bytes, uint64_t offset,
                 std::string_view reason);
// Replaces the file, durably. The caller holds the storage's lock.
Status put_file(Core& core, CappedStore store, std::string_view text);

}  // namespace varve::session
