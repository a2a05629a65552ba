// LockState: the content of the lock file. Mainly for people: who writes, since when. It never
// excludes anybody: the kernel's lock on this file does.
//
//   {"boot_id":"…","catalogued":3,"check":"…","durable_bytes":1234,"expires_at":"…","file":
//    "2049:131","operation":"write","pid":4711,"seq":42,"suspect":false,"timestamp":"…"}
//   and spaces to 512 bytes
//
// It also tells the next writer how far the log is known to be durable. Written without a sync, and
// never needed: a state that is missing, torn or of another file counts as none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "io/file_system.h"

namespace varve::log {

inline constexpr size_t kLockStateBytes = 512;

struct LockState {
  int64_t process_id = 0;
  std::string boot_id;
  std::string operation;      // "write", "repair", …; at most 32 bytes
  int64_t timestamp_ms = 0;   // when the lock was taken
  int64_t expires_at_ms = 0;  // when other writers will have given up; nobody takes the lock away
  io::FileIdentity file;      // the memory.jsonl that the next members are about
  uint64_t durable_bytes = 0;
  uint64_t last_seq = 0;  // of the last durable entry
  // A sync of the logs or of the directory's name failed, or was interrupted by a kill. The next
  // writer has to sync that name, and to copy the logs into new files before it relies on a sync of
  // them. Set before every sync of a log, cleared after it.
  bool suspect = false;
  // How often the session was taken into the store's catalog; 0 is not written. A writer that noted
  // a change there (session/catalog.h) has to do so again when this is another number.
  uint64_t catalogued_count = 0;
};

std::string encode_lock_state(const LockState& state);  // kLockStateBytes
std::optional<LockState> decode_lock_state(std::string_view bytes);
// What a lock file says; nothing when it cannot be read or says nothing that counts.
std::optional<LockState> read_lock_state(io::File& lock_file);

}  // namespace varve::log
