// Sweep: removes expired sessions from a store, and expired entries from the sessions that stay.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "json/tree.h"
#include "log/storage.h"
#include "session/session.h"

namespace varve::store {

// What a sweep needs of its store.
struct SweepContext {
  log::Engine* engine = nullptr;
  Clock* clock = nullptr;
  std::function<Result<std::shared_ptr<session::Session>>(const std::string& id)> open;
  // kConflict when the session turned out not to have expired.
  std::function<Status(const std::string& id)> remove;
};

// Returns the report of varve_store_sweep. A session that cannot be swept is listed in its problems
// and does not stop the others.
Result<json::Tree> sweep(const SweepContext& context);

}  // namespace varve::store
