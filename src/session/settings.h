// What a session runs with: the store's configuration with the session's own overrides applied.
#pragma once

#include <cstdint>

#include "log/storage.h"

namespace varve::session {

struct Settings {
  uint64_t session_bytes_max = uint64_t{10} << 20;  // log + index + tombstones; 0: no limit
  uint64_t entry_bytes_max = uint64_t{1} << 20;     // one sealed line; 0: no limit
  uint64_t lock_timeout_ms = 5000;
  uint64_t batch_write_interval_ms = 1000;  // durability "interval"
  log::Durability durability = log::Durability::kCommit;
};

}  // namespace varve::session
