// Backup and restore: a store copied into a directory that is itself a store, and back.
//
// A whole session is copied by installing it under tmp/ and giving it its name in one step. A copy
// can be extended by what was appended since: tombstones first, so that no crash leaves a deleted
// entry alive in the copy. backup.json and both logs tell whether it can be extended; if not, the
// cost is a whole copy and nothing else.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "io/file_system.h"
#include "json/tree.h"
#include "log/storage.h"
#include "session/settings.h"

namespace varve::store {

class Catalog;

// The open store that is copied from or into.
struct CopyContext {
  log::Engine& engine;
  io::FileSystem& file_system;
  Clock& clock;
  Random& random;
  uint64_t lock_timeout_ms = 0;
  session::Recovery recovery = session::Recovery::kTail;  // of the store
  Catalog* catalog = nullptr;                             // of the store; null: it has none
  // Calls `look` and tells it whether nobody writes to the session meanwhile though its lock is
  // held, since the store keeps it. Empty: that is not known of any.
  using Look = std::function<Status(bool is_still)>;
  std::function<Status(const std::string& id, const Look& look)> look_at_still = {};
};

// Returns the report that varve_store_backup describes.
Result<json::Tree> back_up(const CopyContext& context, std::string_view path,
                           std::string_view options);

// What the store does for each restored session.
struct RestoreSteps {
  // Called before a session takes the place of another, which may be open here with its lock kept.
  std::function<Status(const std::string& id)> make_way;
  // Called when the session is in place: saves its counts, and returns how many entries are alive.
  std::function<Result<uint64_t>(const std::string& id)> refresh;
};

// Returns the report that varve_store_restore describes.
Result<json::Tree> restore(const CopyContext& context, std::string_view path,
                           std::string_view options, const RestoreSteps& steps);

// A session that is named twice is copied once.
void drop_repeats(std::vector<std::string>* ids);

// kInvalidArgument for a path where no backup can be.
Status check_path(std::string_view path, std::string_view member);

}  // namespace varve::store
