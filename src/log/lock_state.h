// LockState: what the lock file says. For people first: who writes, since when. Never the mutual
// exclusion itself, which is the kernel's lock on this file.
//
//   {"boot_id":"…","catalogued":3,"check":"…","durable_bytes":1234,"expires_at":"…","file":
//    "2049:131","operation":"write","pid":4711,"seq":42,"suspect":false,"timestamp":"…"}
//   and spaces to 512 bytes
//
// It also carries, from writer to writer, how far the log is known to be durable. Written without
// sync and never needed: a state that is absent, torn or of another file is no state.
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
  int64_t expires_at_ms = 0;  // when other writers will have given up waiting; nobody ever steals
  io::FileIdentity file;      // the memory.jsonl that the rest is about
  uint64_t durable_bytes = 0;
  uint64_t last_seq = 0;  // of the last durable entry
  // A sync of the logs or of the directory's name failed, or its caller was killed in it: sync that
  // name, and copy the logs into new files before relying on another sync of them. Set before every
  // sync of a log, cleared after it.
  bool suspect = false;
  // How often the session was taken into the store's catalog; 0 is not written. Whoever noted there
  // that it changes (session/catalog.h) has to do so again when this is another number.
  uint64_t catalogued_count = 0;
};

std::string encode_lock_state(const LockState& state);  // kLockStateBytes
std::optional<LockState> decode_lock_state(std::string_view bytes);

}  // namespace varve::log
