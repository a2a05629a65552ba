// Catalog: which sessions may have entries with a tag, or of a user, so that a query across
// sessions opens these and no others.
//
// It is kept in a log of the store's own, indices/catalog, an ordinary one. Its entries name a
// session, and are of three types:
//   covered    its user, its agent and all its tags, as hashes, as they were at some moment
//   changed    it is written to, or was, since then
//   restoring  another takes its place, whoever's that is
// and its key "through" is the row of the registry up to which every session has such an entry, or
// had none of its own when it was looked at. What it tells is never too little:
//   - A session that changed, and one whose row is newer, counts as if it had everything.
//   - Who writes to a session says "changed" before, durably, and once until the session is covered
//     again. The session's lock file tells that it was (session/catalog.h).
//   - Who covers a session does it under that session's lock. What was said of it before is removed
//     only when the new entry is durable, and nothing is removed that was not there before.
// Derived: it may be missing, and is made by a query that finds many sessions without it.
//
// Threads: any. A session's lock may be held when note_change() is called; none of the catalog's is
// ever held while a session's is waited for.
// Cost of find(): grows with the sessions that it finds. Of take(): opens each, 0.2 ms.
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

namespace varve::store {

class Catalog final : public session::CatalogNotes {
 public:
  Catalog(Clock& clock, Random& random, io::FileSystem& files)
      : clock_(clock), random_(random), files_(files), events_(clock) {}

  // Before anything else; `engine` outlives it. Fewer sessions than `worth_taking` are opened
  // rather than covered.
  void use(log::Engine& engine, uint64_t lock_timeout_ms, size_t worth_taking);

  struct Wanted {
    std::vector<std::string> tags;  // empty: any session
    bool all_tags = false;          // else one of them
    std::string user_id;            // empty: everybody's
    std::string agent_id;
  };
  // A session that changed, or of a row of the registry behind "through".
  struct Untold {
    std::string id;
    std::string row;  // empty: it changed
  };
  struct Sessions {
    std::vector<std::string> ids;  // all that may have it, and perhaps others
    // What take() is to cover: those that changed, then the rows, the oldest first. Empty: not
    // worth it.
    std::vector<Untold> untold;
  };
  Result<Sessions> find(const Wanted& wanted);

  // kNotFound for a session that is no more.
  using OpenSession = std::function<Result<std::shared_ptr<session::Session>>(const std::string&)>;
  // Covers what find() found worth it, unless another thread of this store does.
  Status take(const Sessions& found, const OpenSession& open);

  Status note_change(const session::ChangingSession& session) override;

  // Around what replaces or brings a whole session: until the second, and for good when it never
  // comes, the session counts as changed. `mark` is of the first; empty when there is no catalog.
  Result<std::string> begin_restore(std::string_view session_id);
  Status end_restore(std::string_view session_id, const std::string& mark);

  // A session's entries, which are of no use once it is dropped: their ids before, and after.
  Result<std::vector<std::string>> entries_of(std::string_view session_id);
  void remove_entries(const std::vector<std::string>& ids) noexcept;

  // Durably. When the registry was made anew: what it lists may never have been looked at.
  Status drop();
  void close() noexcept;

 private:
  struct Part;  // of what take() covers, at once

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
  session::EventLog events_;  // nobody's: what becomes of a derived log is no event of the store
  session::Counters counters_;
  log::Engine* engine_ = nullptr;
  uint64_t lock_timeout_ms_ = 0;
  size_t worth_taking_ = 0;
  std::mutex taking_;  // held by the thread that covers
  std::mutex mutex_;   // guards the rest
  std::shared_ptr<session::Session> log_;
};

}  // namespace varve::store
