// What a store reports about itself for monitoring: counters of this process and figures of the
// store, each under two names. docs/operations.md#figures has them as a table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/tree.h"
#include "session/counters.h"

namespace varve::store {

// Figures that are looked up, not counted.
struct StoreFigures {
  uint64_t sessions = 0;
  uint64_t sessions_open = 0;
  uint64_t entries = 0;
  uint64_t entries_open = 0;  // those of open sessions that have not expired
  uint64_t size_bytes = 0;
  uint64_t index_memory_bytes = 0;   // of open sessions
  uint64_t entries_not_durable = 0;  // likewise
};

// Prometheus text exposition format 0.0.4. Every sample carries {store="URI"}, so that several
// stores' samples can be combined.
std::string metrics_text(std::string_view uri, const StoreFigures& figures,
                         const session::Counters& counters);

// {"memory.sessions.active":N, …}; durations as {"count","sum","p50","p99","max"} in milliseconds.
json::Tree metrics_tree(const StoreFigures& figures, const session::Counters& counters);

// The answer of varve_store_stats: the most important figures under short names, and all of them.
json::Tree stats_tree(std::string_view uri, const StoreFigures& figures,
                      const session::Counters& counters);

}  // namespace varve::store
