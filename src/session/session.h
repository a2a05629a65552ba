// Session: one memory. The log, its index, its metadata and the discipline between them.
//
// Threads: every public member may be called from any thread. Readers hold the index's shared lock
// only for moments and never wait for a write in progress. Writers queue, and the first in the
// queue commits for all that wait (group commit). Across processes, writers exclude each other by
// the storage's lock, and readers take no lock.
//
// Order of locks: writer queue -> storage lock -> index lock; usage table -> index lock. No
// function of the host is called while they are held.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/tree.h"
#include "log/storage.h"
#include "session/context.h"
#include "session/progress.h"
#include "session/query/query_results.h"
#include "session/reports/usage.h"

namespace varve::query {
struct BestMatch;
struct Query;
}  // namespace varve::query

namespace varve::session {

struct CatalogFacts;
struct CompactionOptions;
struct CountedWords;
struct RankedKeys;
struct KnownCalls;
struct ToolCall;
struct Selected;
struct SelectedLine;
struct SharedQuery;
struct UnreadResults;

class Session {
 public:
  using Context = session::Context;

  // Loads index and metadata, and reads the part of the log that the index does not cover.
  static Result<std::shared_ptr<Session>> open(std::string id,
                                               std::unique_ptr<log::SessionStorage> storage,
                                               const Context& context);
  ~Session();  // as close()
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const std::string& id() const;

  // Once the session's ttl is over, a host's calls answer kNotFound, as opening it does.

  // Returns the entry's id. errors: see varve_session_add.
  Result<std::string> add(std::string_view entry);
  // `entries` is a JSON array or JSON lines. Returns the ids as a JSON array, in the same order.
  Result<std::string> add_batch(std::string_view entries);
  // The stored line, without its line end.
  Result<EntryLine> read(std::string_view id);
  Result<std::string> get(std::string_view id);  // the same as a copy
  Status remove(std::string_view id, std::string_view reason);

  // Sets or replaces the embedding of a live entry: varve_session_put_vector.
  Status put_vector(std::string_view id, std::span<const float> values);
  // `text` is a query in JSON, see docs/query.md.
  Result<QueryResults> query(std::string_view text);
  Result<uint64_t> count(std::string_view query);
  // For a query across sessions, see query.h. What find_among() finds is read by read() below.
  Result<QueryResults> query_among(const query::Query& query, const SharedQuery& shared,
                                   double key_min);
  Result<UnreadResults> find_among(const query::Query& query, const SharedQuery& shared,
                                   double key_min);
  Result<CountedWords> count_words(const query::Query& query, const SharedQuery& shared);
  Result<RankedKeys> find_rank_keys(const query::Query& query, const SharedQuery& shared);
  Result<query::BestMatch> find_best_match(const query::Query& query, const SharedQuery& shared);
  // For callers that read only some of what was found, see selection.h. kGone from the last three:
  // select again.
  Result<std::vector<Selected>> select(const query::Query& query);
  Result<std::vector<Selected>> select_ids(const std::vector<std::string>& ids, int64_t now_ms);
  Result<ToolCall> select_tool_call(const Selected& entry, std::string_view call_key,
                                    int64_t now_ms, KnownCalls* known);
  Result<bool> is_tool(const Selected& entry);
  Result<SelectedLine> read(const Selected& entry);
  [[nodiscard]] int64_t now_ms() const;  // by the store's clock
  // {"tags":[{"tag","entries"}]}, by name.
  Result<json::Tree> tags();
  // For the store's catalog, see catalog.h.
  Result<CatalogFacts> take_for_catalog();
  // Deletes every entry that matches. Returns how many.
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
  // The same with "usage". Its first call reads the log.
  Result<json::Tree> stats_with_usage();
  Result<UsageByDay> usage(int64_t start_ms, int64_t end_ms);  // start <= timestamp < end
  Result<json::Tree> files();

  Result<json::Tree> verify(bool deep = false, const ProgressReceiver& receiver = {});
  Result<json::Tree> repair(bool dry_run, bool accept_edits = false);
  Result<json::Tree> migrate(bool dry_run);
  Result<json::Tree> compact(const CompactionOptions& options);
  Result<json::Tree> rebuild_index();
  Result<std::string> index_listing();
  // Writes into what `begin` gives. `format` is a name or an object of options. For the others see
  // varve_session_export_file and varve_session_import_file.
  Status export_text(std::string_view format, const log::BeginSink& begin,
                     const ProgressReceiver& receiver);
  Result<json::Tree> export_file(std::string_view path, std::string_view options,
                                 const ProgressReceiver& receiver = {});
  Result<json::Tree> import_text(std::string_view text, const ProgressReceiver& receiver = {});
  Result<json::Tree> import_file(std::string_view path, std::string_view options,
                                 const ProgressReceiver& receiver = {});

  // Whether its ttl is over (expiry.h).
  Result<bool> has_expired();
  // If a wrong clock told when it was last written to, a sliding ttl counts from now on.
  Status settle_last_access();
  // How many entries have expired and are still in the log.
  uint64_t expired_entry_count();
  // [bytes] of log, tombstones, vectors, index.bin, kv.json and transcript.md, as last seen here.
  uint64_t size_bytes();
  // The same as they are now: another process may have written to them since. kNotFound when the
  // session was deleted.
  Result<uint64_t> measured_size_bytes();
  // [bytes] of index, vectors and kept lines in memory.
  [[nodiscard]] uint64_t memory_bytes() const;

  // kNotFound when the session was deleted meanwhile. Looks whether metadata.json is another:
  // kFormatVersion when it is of a newer version by now.
  Status check_alive();
  // Whether the log that was read last is still the session's: false once it was deleted, or
  // another process compacted or purged it. Reads nothing.
  bool has_present_log();
  // Whether it is this user's and this agent's (empty: any), as metadata.json was when the session
  // was opened, or at the last check_alive().
  [[nodiscard]] bool is_of(std::string_view user_id, std::string_view agent_id) const;
  // Lines of the log that are known to be damaged or missing, as of the last look at it.
  uint64_t lost_line_count();

  // Takes the lock and keeps it until stop_keeping_lock() or close(). kBusy.
  Status keep_lock();
  Status stop_keeping_lock();
  // Calls `look` with true while nobody can write to the session, since its lock is kept and no
  // other thread has its turn; with false if the lock is not kept.
  Status look_at_still(const std::function<Status(bool is_still)>& look);

  // Makes durable what is not yet, if there is any: the step of the interval flusher. With
  // `wait_ms` it waits at most that long for other threads, and for other processes; then kBusy.
  Status flush(std::optional<uint64_t> wait_ms = {});
  // The same for all that the log has, whoever wrote it. Unlike sync() it saves nothing else.
  Status make_durable(std::optional<uint64_t> wait_ms = {});

  // Saves index and metadata, best effort. Idempotent. Calls after it are still answered.
  void close();

 private:
  struct Parts;
  explicit Session(std::unique_ptr<Parts> parts);
  Status sync_without_index();
  // Holder of the storage's lock:
  Status sync_log(uint64_t last_seq);
  Status prepare_for(log::Durability wanted);
  std::unique_ptr<Parts> parts_;
};

}  // namespace varve::session
