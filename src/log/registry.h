// Registry: the list of a store's sessions, so that listing opens none of them.
//
// indices/sessions.jsonl, one line a session, appended when it is created and never changed:
//   {"agent_id":"…","created_at":"…","session_id":"…","user_id":"…"}
// Newest first is reading it backwards, so a page costs the page. Rows of sessions deleted since
// are passed over by the reader. Derived: rescan() makes it anew from the sessions' metadata, and
// keeps the row of a session whose metadata is lost.
//
// The row comes before the session: whoever creates one holds the registry's lock, appends and
// syncs the row, and only then gives the session its name. A crash leaves a row too many, never one
// too few.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/environment.h"
#include "io/file_system.h"
#include "log/storage.h"

namespace varve::log {

inline constexpr std::string_view kRegistryFile = "sessions.jsonl";
inline constexpr std::string_view kRegistryLock = "lock";

class Registry {
 public:
  // `indices`: the store's directory for derived files.
  Registry(io::Directory& indices, Clock& clock, Random& random)
      : indices_(indices), clock_(clock), random_(random) {}

  [[nodiscard]] bool exists();

  // Runs `give_name` between the row and the unlock. kBusy at the deadline.
  Status add(const SessionRow& row, int64_t deadline_us, const std::function<Status()>& give_name);

  // Rows before the cursor, newest first. kInvalidArgument for a cursor of another registry.
  Result<RowPage> list(std::string_view after, size_t limit);

  // Replaces all rows by what `collect` gives, oldest first, while no session is being created.
  Status replace(int64_t deadline_us,
                 const std::function<Result<std::vector<SessionRow>>()>& collect);

 private:
  Result<std::unique_ptr<io::File>> lock(int64_t deadline_us);
  Status append(const SessionRow& row);
  void remove_left_overs();

  io::Directory& indices_;
  Clock& clock_;
  Random& random_;
  std::mutex mutex_;  // one thread of this process at a time holds the lock file
};

}  // namespace varve::log
