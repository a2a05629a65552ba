// Catalog: which sessions may have entries with a tag, or of a user, so that a query across
// sessions opens only these.
//
// It is kept in an ordinary log of the store's own, indices/catalog. Each of its entries names a
// session and has one of three types:
//   covered    the session's user, agent and all tags, as hashes, as of some moment
//   changed    the session is or was written to since then
//   restoring  another session, perhaps of another owner, is taking its place
// Its key "through" names a row of the registry: each row up to it has such an entry for its
// session, or had no session when it was looked at. The catalog never tells too little:
//   - A session that changed, or whose row is newer, counts as having everything.
//   - A writer notes "changed" durably before it writes, and once until the session is covered
//     again. The session's lock file says that it did (session/catalog.h).
//   - A session is covered under its lock. Earlier entries about it are removed only when the new
//     one is durable, and only if they were there before it was made.
// Derived: it may be missing. A query that finds many sessions not covered makes or extends it.
//
// Threads: any. note_change() may be called with a session's lock held. None of the catalog's locks
// is held while it waits for a session's.
// Cost of find(): grows with the number of sessions it finds. Of take(): opens each, 0.2 ms.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "io/file_system.h"
#include "log/storage.h"
#include "session/catalog.h"
#include "session/session.h"
#include "store/catalog_entry.h"
#include "store/open_session.h"

namespace varve::store {

class Catalog final : public session::CatalogNotes {
 public:
  Catalog(Clock& clock, Random& random, io::FileSystem& files)
      : clock_(clock), random_(random), files_(files), events_(clock) {}

  // Call it before anything else; `engine` outlives the catalog. Fewer sessions than `worth_taking`
  // are opened by each query instead of being covered.
  void use(log::Engine& engine, uint64_t lock_timeout_ms, size_t worth_taking);

  struct Wanted {
    std::vector<std::string> tags;  // empty: regardless of tags
    bool all_tags = false;          // else any of them
    std::string user_id;            // empty: everybody's
    std::string agent_id;
  };
  // A session that changed, or whose row in the registry is behind "through".
  struct Untold {
    std::string id;
    std::string row;  // empty: it changed
  };
  struct Sessions {
    std::vector<std::string> ids;  // all that may have what is wanted, and perhaps others
    // What take() should cover: changed sessions, then rows, the oldest first. Empty when covering
    // is not worth it.
    std::vector<Untold> untold;
    // The log that these are missing in. Null: it is all sessions, which any log may take.
    std::shared_ptr<session::Session> log;
  };
  Result<Sessions> find(const Wanted& wanted);

  // Covers what find() found to be worth it, unless another thread of this store is doing so.
  // kNotFound when the log was dropped since.
  Status take(const Sessions& found, const OpenSession& open);

  Status note_change(const session::ChangingSession& session) override;

  // Around replacing or creating a whole session, which counts as changed from the first until the
  // second, or for good. `mark` is what the first returned; empty when there is no catalog.
  Result<std::string> begin_restore(std::string_view session_id);
  Status end_restore(std::string_view session_id, const std::string& mark);

  // The ids of a session's entries, to be removed once it is dropped: asked before, removed after.
  Result<std::vector<std::string>> entries_of(std::string_view session_id);
  void remove_entries(const std::vector<std::string>& ids) noexcept;

  // Removes the catalog, durably: a rebuilt registry may list sessions that were never looked at.
  Status drop();
  void close() noexcept;

 private:
  struct Part;  // what take() covers in one step

  Result<std::shared_ptr<session::Session>> open_log();
  Result<std::shared_ptr<session::Session>> open_or_create_log();
  Result<std::shared_ptr<session::Session>> adopt(std::unique_ptr<log::SessionStorage> storage);
  void forget_log() noexcept;
  Result<Sessions> find_in(session::Session& log, const Wanted& wanted);
  Result<Sessions> find_without(const Wanted& wanted);
  Status add_covered(session::Session& log, const Wanted& wanted, std::vector<std::string>* ids);
  Status add_newer(std::string_view through, const Wanted& wanted, Sessions* found);
  Status take_part(session::Session& log, std::span<const Untold> sessions,
                   const OpenSession& open);
  Status cover(session::Session& log, const std::string& id, const OpenSession& open, Part* part);
  Status tidy(session::Session& log);
  Status tell(const std::function<Status(session::Session&)>& say);
  Status note_in(session::Session& log, const session::ChangingSession& session);

  Clock& clock_;
  Random& random_;
  io::FileSystem& files_;
  session::EventLog events_;  // read by nobody: a derived log has no events of the store
  session::Counters counters_;
  log::Engine* engine_ = nullptr;
  uint64_t lock_timeout_ms_ = 0;
  size_t worth_taking_ = 0;
  std::mutex taking_;  // held by the thread that covers sessions
  std::mutex mutex_;   // guards the rest
  std::shared_ptr<session::Session> log_;
};

}  // namespace varve::store
