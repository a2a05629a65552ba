// Registry: the list of a store's sessions, so that listing opens none of them.
//
// indices/sessions.jsonl, one line a session, appended when it is created and never changed:
//   {"agent_id":"…","created_at":"…","session_id":"…","user_id":"…"}
// Reading it backwards gives the newest first, so a page costs what the page holds. Readers pass
// over rows of deleted sessions, until a sweep takes them out. Derived: rescan() rebuilds it from
// the sessions' metadata, and keeps the row of a session whose metadata is lost.
//
// Two more kinds of line tell dropped sessions from lost ones. Pages pass over them:
//   {"dropped_at":"…","session_id":"…"}                 the rows above it are of dropped sessions
//   a row with "restored_at":"…"                        its session is back, and its row above
//
// The row comes before the session: to create one, a process takes the registry's lock, appends and
// syncs the row, and only then gives the session its name. So a crash may leave a row too many,
// never one too few.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "io/file_system.h"
#include "json/tree.h"
#include "log/storage.h"

namespace varve::log {

inline constexpr std::string_view kRegistryFile = "sessions.jsonl";
inline constexpr std::string_view kRegistryLock = "lock";

// kInvalidArgument: a cursor of another list.
Status not_a_cursor();

// What `metadata`, as metadata.json has it, says of a session; a row of the list has the same.
SessionRow row_of(std::string_view session_id, const json::Tree& metadata);

class Registry {
 public:
  using Collect = std::function<Result<std::vector<SessionRow>>()>;

  // `indices`: the store's directory for derived files. `collect`: the rows of all sessions, oldest
  // first, for add() where there is no list; empty: there are no others.
  Registry(io::Directory& indices, Clock& clock, Random& random, Collect collect = {})
      : indices_(indices), clock_(clock), random_(random), collect_(std::move(collect)) {}

  [[nodiscard]] bool exists();
  // Whether there is any line: none is in a file that was emptied, or that nobody can read.
  Result<bool> has_lines();

  // Runs `give_name` after the row is synced and before the unlock. kBusy at the deadline. A row
  // that is still where `listed_at` says is not appended again, but if it `was_dropped`, that it is
  // back. If it `ends_another`, that one is told to be dropped, by the same write. `is_refused`, if
  // given, is asked before the row is appended, with the lock held.
  Status add(const SessionRow& row, int64_t deadline_us, const std::function<Status()>& give_name,
             const std::function<Status()>& is_refused = {});

  // Tells, durably, that the sessions of this id which are listed are dropped, and runs `take_name`
  // before the unlock: a list written anew in between would have the row behind the drop. Where the
  // disk has no room for the line it is written after that, which has to make some. If the name is
  // not taken, but for kNotFound, that is told, too. kBusy at the deadline.
  using TakeName = std::function<Status(bool must_make_room)>;
  Status drop(std::string_view session_id, int64_t deadline_us, const TakeName& take_name);

  // The rows before the cursor, newest first. kInvalidArgument for another registry's cursor.
  Result<RowPage> list(std::string_view after, size_t limit);

  // As Engine::lives().
  Result<ListedLives> lives(const Engine::IdWanted& is_wanted);
  // As Engine::valid_rows().
  Result<ValidRows> valid_rows(std::unordered_set<std::string> session_ids);

  // Replaces all lines by rows of `collect`, oldest first. No session can be created meanwhile.
  Status replace(int64_t deadline_us, const Collect& collect);
  // The same, and keeps what the list tells of drops after `dropped_since_ms`.
  Status replace_rows(int64_t deadline_us, const Collect& collect, int64_t dropped_since_ms);

  // Removes what killed replacements left. Best effort: nothing while anybody has the lock.
  void remove_left_overs();

 private:
  Result<std::unique_ptr<io::File>> lock(int64_t deadline_us);
  Result<bool> is_listed(const SessionRow& row);
  Status make_if_lost();
  Result<std::string> new_line(const SessionRow& row);
  Status append(const std::string& line);
  void tell_late(std::string_view session_id);
  void take_back_drop(std::string_view session_id);
  Status replace_locked(const Collect& collect, const ListedLives& kept = {});

  io::Directory& indices_;
  Clock& clock_;
  Random& random_;
  const Collect collect_;
  std::mutex mutex_;  // one thread of this process at a time holds the lock file
};

}  // namespace varve::log
