// What the key-value store and the transcript of a session have in common: whether a session has
// them, how much they keep, what becomes of damage in their files.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "session/core.h"
#include "session/writer.h"

namespace varve::session {

enum class CappedStore : uint8_t { kKeyValue, kTranscript };

// What becomes of bytes that cannot be read when a file is written anew.
enum class Remains : uint8_t {
  kSetAside,  // they go to quarantine
  kDropped,   // by a purge
};

inline constexpr uint64_t kCappedFileBytesMax = uint64_t{64} << 20;

std::string_view file_of(CappedStore store);
// kUnsupported when the session was made without it.
Status check_has(const Core& core, CappedStore store);
// The session's own cap, else the store's.
uint64_t cap_of(const Core& core, CappedStore store);
// "2025-04-15T10:30:01Z"
std::string now_in_seconds(const Core& core);
// kSizeLimit for what is longer than an entry may be.
Status check_length(const Core& core, std::string_view what, uint64_t size_bytes);
// Whether the file may be of this size: kSizeLimit. It may always shrink.
Status check_file_size(const Core& core, const Writer& writer, CappedStore store,
                       uint64_t size_bytes);

// kSizeLimit of a file that is larger than kCappedFileBytesMax: nobody's memory is filled with it.
Status oversized(CappedStore store, Place place);

// Counts damage and tells it to the log, once for each `signature`.
void note_damage(Core& core, CappedStore store, uint64_t signature, std::string_view reason);
// Holder of the lock: durable when it answers ok.
Status set_aside(Core& core, CappedStore store, std::string_view bytes, uint64_t offset,
                 std::string_view reason);
// Replaces the file, durably. Holder of the lock.
Status put_file(Core& core, CappedStore store, std::string_view text);
// After a write was answered by the storage.
void note_written(Core& core, Writer& writer, uint64_t bytes, bool durable);

// Holder of the lock: writes the files anew whose damage is to go, or that hold more than their
// caps.
Status tidy_stores(Core& core, Remains remains);

struct StoreDamage {
  CappedStore store;
  uint64_t offset = 0;
  uint64_t length = 0;
  std::string reason;
  bool is_readable = true;  // else it is for people to move away
};
// Reads both files.
Result<std::vector<StoreDamage>> find_store_damage(Core& core);

}  // namespace varve::session
