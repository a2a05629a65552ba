// Sweep: removes expired sessions from a store, and expired entries from the sessions that stay.
#pragma once

#include <functional>
#include <string>

#include "json/tree.h"
#include "log/storage.h"
#include "store/open_session.h"

namespace varve::store {

// What a sweep needs of its store.
struct SweepContext {
  log::Engine* engine = nullptr;
  Clock* clock = nullptr;
  OpenSession open;  // also a session that has expired
  // kConflict when the session turned out not to have expired.
  std::function<Status(const std::string& id)> remove;
  std::function<void(const std::string& id)> note_change;  // of a session that stays
  std::function<Status()> remove_dead_rows;                // of the list
};

// Returns the report of varve_store_sweep. A session that cannot be swept is listed in its problems
// and does not stop the others.
Result<json::Tree> sweep(const SweepContext& context);

}  // namespace varve::store
