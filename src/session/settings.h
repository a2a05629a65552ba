// What a session runs with: the store's configuration with the session's own overrides applied.
#pragma once

#include <cstdint>

#include "decay/decay.h"
#include "log/storage.h"
#include "query/best.h"
#include "text/analyzer.h"

namespace varve::session {

struct Settings {
  uint64_t session_bytes_max = uint64_t{10} << 20;  // log + index + tombstones; 0: no limit
  uint64_t entry_bytes_max = uint64_t{1} << 20;     // one sealed line; 0: no limit
  uint64_t lock_timeout_ms = 5000;
  uint64_t batch_write_interval_ms = 1000;  // durability "interval"
  log::Durability durability = log::Durability::kCommit;
  decay::Rules decay = decay::Rules::defaults();
  text::Settings text;
  query::BestWeights best;
  uint64_t threads = 1;  // that a query across sessions may use
};

}  // namespace varve::session
