// Session: one memory. The log, its index, its metadata and the discipline between them.
//
// Threads: every public member may be called from any thread. Readers hold the index's shared lock
// for moments only and never wait for a write in progress; writers queue, and whoever is first
// commits for all who wait (group commit). Across processes, writers exclude each other by the
// storage's lock and readers take no lock at all.
//
// Order of locks: writer queue -> storage lock -> index lock; usage table -> index lock. Nothing is
// called back under them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "base/result.h"
#include "io/file_system.h"
#include "json/tree.h"
#include "log/storage.h"
#include "session/event_log.h"
#include "session/progress.h"
#include "session/query_results.h"
#include "session/settings.h"
#include "session/size_quota.h"
#include "session/usage.h"

namespace varve::query {
struct Query;
struct TextStatistics;
}  // namespace varve::query

namespace varve::session {

class CatalogNotes;
struct CatalogFacts;
struct CompactionOptions;
struct RankedKeys;
struct Selected;
struct SelectedLine;
struct SharedQuery;
struct UnreadResults;

class Session {
 public:
  // What a session needs from its store; all must outlive it.
  struct Context {
    Clock* clock = nullptr;
    Random* random = nullptr;
    EventLog* events = nullptr;
    Counters* counters = nullptr;
    Settings settings;
    io::FileSystem* file_system = nullptr;  // for files outside the store: export, import
    SizeQuota* quota = nullptr;             // null: none
    CatalogNotes* catalog = nullptr;        // null: none
    // The session's row in the store's list, for when its metadata is lost; empty: no list.
    std::function<Result<std::optional<log::SessionRow>>(std::string_view id)> find_listed = {};
    // Called when the session is, or comes to be, of durability "interval"; may be empty.
    std::function<void()> start_flusher = {};
  };

  // Loads index and metadata and reads what the index does not cover.
  static Result<std::shared_ptr<Session>> open(std::string id,
                                               std::unique_ptr<log::SessionStorage> storage,
                                               const Context& context);
  ~Session();  // as close()
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const std::string& id() const;

  // Once its ttl is over, what a host asks of it is answered as if it were opened: kNotFound.

  // The entry's id. errors: see varve_session_add.
  Result<std::string> add(std::string_view entry);
  // Ids in the order given, a JSON array. `entries` is a JSON array or JSON lines.
  Result<std::string> add_batch(std::string_view entries);
  // The stored line, without its line end.
  Result<EntryLine> read(std::string_view id);
  Result<std::string> get(std::string_view id);  // the same, copied
  Status remove(std::string_view id, std::string_view reason);

  // The embedding of a live entry, instead of the one it had: varve_session_put_vector.
  Status put_vector(std::string_view id, std::span<const float> values);
  // A query's JSON text, see docs/query.md.
  Result<QueryResults> query(std::string_view text);
  Result<uint64_t> count(std::string_view query);
  // For a query across sessions, see query.h; what the second finds is read by read() below.
  Result<QueryResults> query_among(const query::Query& query, const SharedQuery& shared);
  Result<UnreadResults> find_among(const query::Query& query, const SharedQuery& shared);
  Result<query::TextStatistics> count_words(const query::Query& query, const SharedQuery& shared);
  Result<RankedKeys> find_rank_keys(const query::Query& query, const SharedQuery& shared);
  Result<double> find_best_match(const query::Query& query, const SharedQuery& shared);
  // For who reads only some of what was found, see selection.h. kGone from the last two: select
  // anew.
  Result<std::vector<Selected>> select(const query::Query& query);
  Result<std::vector<Selected>> select_ids(const std::vector<std::string>& ids, int64_t now_ms);
  Result<std::vector<Selected>> select_tool_call(const Selected& entry, std::string_view call_key,
                                                 int64_t now_ms);
  Result<SelectedLine> read(const Selected& entry);
  [[nodiscard]] int64_t now_ms() const;  // by its store's clock
  // {"tags":[{"tag","entries"}]}, by name.
  Result<json::Tree> tags();
  // For the store's catalog, see catalog.h.
  Result<CatalogFacts> take_for_catalog();
  // Deletes every entry that matches; how many.
  Result<uint64_t> remove_where(std::string_view query, std::string_view reason);

  // See varve/kv.h and varve/transcript.h.
  Status kv_set(std::string_view key, std::string_view value);
  Result<std::string> kv_get(std::string_view key);
  Status kv_delete(std::string_view key);
  Result<json::Tree> kv_list();
  Status transcript_append(std::string_view role, std::string_view content);
  Result<json::Tree> transcript_last(uint64_t count);

  Result<json::Tree> metadata();
  Status update(std::string_view patch);
  Status sync();
  Result<json::Tree> stats();
  // The same with "usage", which reads the log when it is asked for first.
  Result<json::Tree> stats_with_usage();
  Result<UsageByDay> usage(int64_t start_ms, int64_t end_ms);  // start <= timestamp < end
  Result<json::Tree> files();

  Result<json::Tree> verify(bool deep = false, const ProgressReceiver& receiver = {});
  Result<json::Tree> repair(bool dry_run, bool accept_edits = false);
  Result<json::Tree> migrate(bool dry_run);
  Result<json::Tree> compact(const CompactionOptions& options);
  Result<json::Tree> rebuild_index();
  Result<json::Tree> index_listing();
  // `format`: a name, or options as an object. Of the others: see varve_session_export_file and
  // varve_session_import_file.
  Result<std::string> export_text(std::string_view format, const ProgressReceiver& receiver = {});
  Result<json::Tree> export_file(std::string_view path, std::string_view options,
                                 const ProgressReceiver& receiver = {});
  Result<json::Tree> import_text(std::string_view text, const ProgressReceiver& receiver = {});
  Result<json::Tree> import_file(std::string_view path, std::string_view options,
                                 const ProgressReceiver& receiver = {});

  // Whether its ttl is over (expiry.h).
  Result<bool> has_expired();
  // Entries that expired and are still in the log.
  uint64_t expired_entry_count();
  // [bytes] of log, tombstones, index, kv.json and transcript.md.
  uint64_t size_bytes();

  // kNotFound when the session was deleted since.
  Status check_alive();

  // Takes the lock and keeps it until the session is closed, or the other is called. kBusy.
  Status keep_lock();
  Status stop_keeping_lock();

  // Makes what is not yet durable so, when there is any: the interval flusher's step. With
  // `wait_ms` it waits so long for other threads, and for other processes; kBusy then.
  Status flush(std::optional<uint64_t> wait_ms = {});
  // The same of all that the log has, whoever wrote it. Unlike sync() it saves nothing else.
  Status make_durable(std::optional<uint64_t> wait_ms = {});

  // Saves index and metadata, best effort. Idempotent; calls after it are still answered.
  void close();

 private:
  struct Parts;
  explicit Session(std::unique_ptr<Parts> parts);
  Status sync_without_index();
  void start_flusher_if_interval();
  // Holder of the storage's lock:
  Status sync_log(uint64_t last_seq);
  Status take_durability();
  std::unique_ptr<Parts> parts_;
};

}  // namespace varve::session
