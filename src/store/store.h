// Store: a root directory (or memory) of sessions, its configuration and its registry.
//
// Threads: any. All who open the same session share one Session object, while anybody holds it.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/environment.h"
#include "base/result.h"
#include "io/file_system.h"
#include "json/tree.h"
#include "query/query.h"
#include "session/event_log.h"
#include "session/session.h"

namespace varve::store {

inline constexpr size_t kSessionsWorthCatalog = 32;
inline constexpr uint64_t kKeptSessionsBytesMax = uint64_t{64} << 20;

using ClockFunction = int64_t (*)(void* user_data);

class Store {
 public:
  // What a store needs from outside. All of it must outlive the store.
  struct Environment {
    io::FileSystem* file_system = nullptr;
    Clock* clock = nullptr;
    Random* random = nullptr;
    // So many sessions that are not in the catalog are worth adding. Only tests set another number.
    size_t sessions_worth_catalog = kSessionsWorthCatalog;
    // So much memory have the sessions that stay open between queries. Also for tests.
    uint64_t kept_sessions_bytes_max = kKeptSessionsBytesMax;
  };

  static Result<std::shared_ptr<Store>> open(std::string_view uri, std::string_view config_json,
                                             const Environment& environment);
  virtual ~Store() = default;  // as close()

  // A session object stays usable after the store is closed, but a closed store opens no sessions.
  virtual Result<std::shared_ptr<session::Session>> create_session(
      std::string_view options_json) = 0;
  virtual Result<std::shared_ptr<session::Session>> open_session(std::string_view id) = 0;
  virtual Status delete_session(std::string_view id) = 0;
  // Whether a session of that id, which need not exist, would take the entry. Fails as add() does
  // for an entry that is wrong in itself.
  virtual Status check_entry(std::string_view session_id, std::string_view entry_json) = 0;

  virtual Result<json::Tree> sessions(std::string_view filter_json) = 0;
  // `text` is a query across sessions, in JSON; see docs/query.md.
  Result<session::QueryResults> query(std::string_view text) { return query_of_user(text, {}); }
  // The same over one user's sessions; "" means everybody's. kInvalidArgument when the query itself
  // names another user.
  virtual Result<session::QueryResults> query_of_user(std::string_view text,
                                                      std::string_view user_id) = 0;
  // For a context of this session, which recalls across sessions: the results of a query of the
  // session, whoever's it is, and of those that the query names. Others are opened to be read, as
  // long as not more than open_at_once_max() are held.
  virtual Result<session::QueryResults> recall(const query::Query& query,
                                               const std::string& session_id) = 0;
  // As open_session(), but not for the host, whose locks are not kept here.
  virtual Result<std::shared_ptr<session::Session>> open_for_itself(std::string_view id) = 0;
  [[nodiscard]] virtual size_t open_at_once_max() const = 0;
  // Copies sessions into a directory that is itself a store, and back; see backup.h.
  virtual Result<json::Tree> back_up(std::string_view path, std::string_view options_json) = 0;
  virtual Result<json::Tree> restore(std::string_view path, std::string_view options_json) = 0;
  // Removes expired sessions and entries. Returns the report of varve_store_sweep.
  virtual Result<json::Tree> sweep() = 0;
  virtual Result<json::Tree> stats() = 0;
  // The usage that entries report, summed over sessions; the answer of varve_store_usage.
  virtual Result<json::Tree> usage(std::string_view filter_json) = 0;
  virtual Result<std::string> metrics() = 0;  // as text for Prometheus
  virtual Status sync() = 0;

  virtual void set_log(session::Level level, session::LogFunction function, void* user_data) = 0;
  virtual void set_clock(ClockFunction function, void* user_data) = 0;  // null: the system's

  // Asks the host's clock for the time that holds until the next tick. The ABI calls it at the
  // start of each call, under no lock. With the system's clock it does nothing.
  virtual void tick() = 0;

  [[nodiscard]] virtual int64_t now_ms() = 0;

  // Counts and logs that the store's disk made a call of the host fail, unless that was told where
  // it happened. `session_id` is empty for a call that is not about one session. The ABI calls it.
  virtual void note_failed_call(const Status& failure, std::string_view session_id) noexcept = 0;

  // Whether log lines wait to be delivered.
  [[nodiscard]] virtual bool has_events() const noexcept = 0;
  // Delivers the waiting log lines to the host. The ABI calls it after each call, under no lock.
  virtual void deliver_events() = 0;

  // Stops the flusher, makes durable what "interval" has not yet, saves every open session's index.
  virtual void close() = 0;
};

}  // namespace varve::store
