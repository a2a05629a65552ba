/**
 * @file varve/store.h
 * A store: one directory (or memory) that holds any number of sessions.
 *
 * Several processes may have the same store open at once, each with any number of handles.
 */
#ifndef VARVE_STORE_H
#define VARVE_STORE_H

#include "varve/base.h"
#include "varve/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An open store. Any thread. */
typedef struct varve_store varve_store_t;

/** The answer to a query; see varve/query.h. */
typedef struct varve_results varve_results_t;

/** Levels of log lines. */
enum {
  VARVE_LOG_DEBUG = 0, /**< locks acquired and released, caches hit and missed */
  VARVE_LOG_INFO = 1,  /**< sessions created, opened, closed, deleted */
  VARVE_LOG_WARN = 2,  /**< lock timeout, nearly full session, repaired tail, rebuilt index */
  VARVE_LOG_ERROR = 3, /**< damage, input/output failures */
  VARVE_LOG_OFF = 4    /**< nothing */
};

/**
 * Receives one log line: a JSON object {"timestamp","level","component","session_id","message",
 * "metadata"} without a newline. Called on the calling thread, never under a lock. It may call the
 * library, except the function that it was called from. It must not throw or longjmp.
 *
 * @param[in] user_data as registered.
 * @param[in] level     VARVE_LOG_DEBUG ... VARVE_LOG_ERROR.
 * @param[in] json_line UTF-8, valid during the call.
 * @param[in] len       [bytes].
 */
typedef void (*varve_log_fn)(void *user_data, int32_t level, const char *json_line, size_t len);

/**
 * Tells the time in place of the system's clock. Called on the calling thread at the start of a
 * call, never under a lock. It must only tell the time, and not call the library.
 *
 * @param[in] user_data as registered.
 * @return [ms] since the Unix epoch; a time outside the years 0 to 9999 counts as the nearer end.
 */
typedef int64_t (*varve_clock_fn)(void *user_data);

/**
 * Counts the tokens of a text as the model that will read it does. Called on the calling thread by
 * varve_context_build, never under a lock; it must not call the library with the same store. The
 * same text should always have the same count: the count of an entry is remembered until another
 * function is set.
 *
 * @param[in]  user_data  as registered.
 * @param[in]  text       UTF-8, valid during the call.
 * @param[in]  len        [bytes].
 * @param[out] tokens_out how many. Any number is believed: a text with too many does not fit.
 * @return 0, or anything else for a failure, which ends the call with VARVE_CALLBACK.
 */
typedef int32_t (*varve_token_fn)(void *user_data, const char *text, size_t len,
                                  uint64_t *tokens_out);

/**
 * Opens a store, and creates it, with the directories above it, when it does not exist.
 *
 * @param[in]  uri        a directory path, "file:PATH", or "memory:" (nothing on disk; the store
 *                        and its sessions live until it is closed, and each open makes a new one).
 *                        PATH is taken literally: no %xx, no ~. Write a relative path whose first
 *                        part contains a colon as "./a:b" or "file:a:b".
 * @param[in]  uri_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  config_json a JSON object; NULL or empty for none. All members are optional, here
 *                        with their defaults (docs/format.md#config explains each and has the
 *                        rest; 0 for a "max_" of "storage" is no limit, a cap of 0 keeps nothing):
 *                        {"durability":"commit","threads":1,
 *                        "storage":{"max_session_size_mb":10,"max_entry_size_bytes":1048576,
 *                        "max_user_size_mb":0,"max_user_sessions":0,"kv_cap":200,
 *                        "transcript_cap":500,"auto_compact":true,"compaction_threshold":0.9},
 *                        "concurrency":{"lock_timeout_ms":5000,"exclusive":false},
 *                        "performance":{"batch_write_interval_ms":1000,"cache_size":100,
 *                        "max_kept_sessions":256},
 *                        "integrity":{"recovery":"tail","io_failure":"error"},
 *                        "decay":{"enabled":true,"default_half_life_hours":168},
 *                        "text":{"language":"en"}}.
 *                        durability: "commit" survives power loss from the moment of the answer,
 *                        "interval" after batch_write_interval_ms, "os" when the system gets to
 *                        it; all of them survive the end of the process. These settings override
 *                        the store's config.json.
 * @param[in]  config_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] store_out  the open store; close with varve_store_close.
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  bad URI or configuration; the error names member and offset
 *          VARVE_READ_ONLY         the directory is missing and may not be created
 *          VARVE_NOT_FOUND         the path is a symbolic link to nowhere
 *          VARVE_FORMAT_VERSION    config.json is of a newer version
 *          VARVE_SIZE_LIMIT        config.json has more than 64 MiB
 *          VARVE_UNSUPPORTED       unknown URI scheme
 *          VARVE_IO                also: the path, or a part of it, is a file
 *          VARVE_NO_SPACE
 * @cost    a few system calls, whatever the number of sessions
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_open(const char *uri, size_t uri_len, const char *config_json VARVE_NULLABLE,
                 size_t config_len, varve_store_t **store_out VARVE_OUT_OWNED,
                 varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Closes a store and the sessions and memories opened from it, as varve_session_close does: what is
 * not durable yet is made durable before this returns. Waits for calls in flight on other threads.
 *
 * @param[in] store handle, or NULL.
 * @errors none
 * @thread any
 */
VARVE_API void varve_store_close(varve_store_t *store VARVE_NULLABLE);

/**
 * Makes everything added so far through this store durable, whatever the durability. When a session
 * fails, the others are still made durable; the first failure is returned.
 *
 * @param[in]  store     open store.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_IO, VARVE_NO_SPACE, VARVE_BUSY, VARVE_READ_ONLY, VARVE_BAD_HANDLE,
 *          VARVE_FORMAT_VERSION (a newer version wrote to an open session)
 * @cost    one fdatasync for each session with anything to make durable
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_sync(varve_store_t *store, varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Lists sessions page by page, newest first, without opening them.
 *
 * @param[in]  store      open store.
 * @param[in]  filter_json {"user_id","agent_id","limit","after","rescan"}, all optional; NULL or
 *                        empty for none. An empty user_id or agent_id is refused. limit: 1 ..=
 *                        10000, default 100. after: "next" of the previous page. rescan: true first
 *                        rebuilds the list from the directories (after copying session directories
 *                        in by hand); not beside an after, which is no place in the new list.
 * @param[in]  filter_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] json_out   {"sessions":[{"session_id","user_id","agent_id","title","created_at",
 *                        "last_accessed","total_entries"}],"next":CURSOR|null}. Members that were
 *                        not given are ""; a session whose metadata.json is lost, damaged or not
 *                        for this process to read has only the first three and created_at. Expired
 *                        sessions are left out. The last page may be empty, where only deleted or
 *                        expired ones follow.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT, VARVE_BAD_HANDLE, VARVE_IO
 *          VARVE_BUSY  the list kept being rebuilt; with rescan, or when there is no list yet,
 *                      another process is creating a session
 *          VARVE_READ_ONLY, VARVE_NO_SPACE  with rescan
 * @cost    grows with the page, not with the number of sessions; also with the newer sessions that
 *          are skipped: those of others with user_id or agent_id, expired ones, and deleted ones
 *          until a rescan, or a sweep that finds more of them than half of the list
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_store_sessions(
    varve_store_t *store, const char *filter_json VARVE_NULLABLE, size_t filter_len,
    char **json_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Deletes a session and everything in it, at once and for good. From then on its open handles
 * return VARVE_NOT_FOUND, in every process.
 *
 * @param[in]  store     open store.
 * @param[in]  id        session id.
 * @param[in]  id_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND, VARVE_INVALID_ARGUMENT, VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE,
 *          VARVE_IO
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_delete_session(varve_store_t *store, const char *id, size_t id_len,
                           varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Finds entries across sessions. The query is that of varve/query.h with three more members,
 * {"user_id","agent_id","session_ids"}, which select the sessions; without them, all are searched,
 * and an empty one is refused.
 * Each result has its "session_id". Words are weighed over all sessions searched, so that results
 * of a large session and of a small one can be compared.
 *
 * @param[in]  store       open store.
 * @param[in]  query_json  as above; NULL or "" for all entries by relevance.
 * @param[in]  query_len   [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] results_out the results, in order; free them with varve_results_free. Not NULL.
 * @param[out] error_out   caller frees; may be NULL.
 *
 * @errors  as varve_session_query, except for failures of one session: an unreadable session is
 *          left out and reported to the log function, a missing one has no entries. VARVE_IO with
 *          the errno EMFILE or ENFILE when too few files can be opened for any of them
 * @cost    as varve_session_query for each session searched; user_id, agent_id and session_ids
 *          select without opening the others. Spread over `threads` of the configuration. What was
 *          opened for it stays open for the next query: `max_kept_sessions` of the configuration.
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_query(varve_store_t *store, const char *query_json VARVE_NULLABLE, size_t query_len,
                  varve_results_t **results_out VARVE_OUT_OWNED,
                  varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Copies the store into a directory, which is then itself a store, while this and other processes
 * keep adding, deleting and replacing logs. Takes none of the store's locks: no writer waits for
 * it. The copy of each session has everything that was acknowledged before the call, and nothing
 * that was deleted before the call is alive in it.
 *
 * Another backup into the same directory copies what was appended since; a log that was replaced
 * meanwhile (repair, compaction, restore) is copied whole. A backup that fails or is killed leaves
 * each session of the copy as the previous backup or this one made it, or between the two: with the
 * deletions of this one and not yet all of its additions. Older backups keep what they have: what
 * was purged from the store leaves a copy with the next backup into it.
 *
 * @param[in]  store          open store.
 * @param[in]  path           a directory that is missing, empty, or holds a backup of this store.
 *                            Use one directory for each store.
 * @param[in]  path_len       [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  options_json   {"sessions":[ID],"delete_missing":true}, both optional; NULL or empty
 *                            for none. sessions: only these, at least one; the copies of others
 *                            stay as they are. delete_missing: unless it is false, copies of
 *                            sessions that were dropped or have expired are removed; if it is
 *                            true, also of those that are gone though nobody dropped them, and one
 *                            of a session that was made anew since is replaced. If the store never
 *                            had any of them (another store, or one that was opened empty by
 *                            mistake), the call is refused unless delete_missing is given.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"sessions","copied","appended","unchanged","removed","bytes",
 *                            "entries","duration_ms","problems":[{"session_id","reason",
 *                            "copied"}]}. sessions: copied whole, appended to or unchanged; bytes
 *                            and entries: what was written. A session that cannot be read, or has
 *                            lost all its entries or deletions that its copy has, keeps the copy it
 *                            has and is a problem with "copied":false; so is one that is gone
 *                            though nobody dropped it, also where another was made under its id
 *                            since, and one whose copy is of a newer version, or cannot be written
 *                            to because something else has the name of one of its files.
 *                            Damaged lines and files are copied as they are and are a problem with
 *                            "copied":true, as are entries missing in the middle or at the end of
 *                            the log, and deletions.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  bad option; the directory holds something else, or another
 *                                  store's backup, or is inside the store
 *          VARVE_NOT_FOUND         a named session does not exist
 *          VARVE_BUSY              another backup into this directory is running, or somebody
 *                                  writes to a copy in it
 *          VARVE_FORMAT_VERSION    the backup was made by a newer version
 *          VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_BAD_HANDLE
 * @cost    reads what is copied twice, and a copy that it replaces once; writes it once; a few
 *          syncs for each session that changed
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_backup(varve_store_t *store, const char *path, size_t path_len,
                   const char *options_json VARVE_NULLABLE, size_t options_len,
                   char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                   size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                   varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Copies sessions from a backup, or from any directory that is a store, into this store. Entries
 * that were deleted stay deleted: the deletions that the present session knows of are applied to
 * its replacement before anybody sees it. Keys, transcript and metadata are those of the backup.
 *
 * A session appears, or is replaced, in one step. From then on open handles of a replaced session
 * return VARVE_NOT_FOUND, in every process; its entries that the backup lacks are gone. Where the
 * disk fails or is full, the call ends with that failure; those before, in the order of `sessions`
 * or of the ids, stay restored.
 *
 * A session that cannot take its place, as while somebody holds the lock of the one that is there,
 * is a problem with "copied":false, and the others are restored; if none is, the call ends with the
 * first such failure. So it is with one of the backup that has expired, which is left out; one of
 * which no entry can be read any more, if it would replace a session that has entries; and one
 * that is damaged, if it would replace a session that is not: repair it in the backup first. Where
 * all are restored, one whose copy is gone from the backup is a problem, too. One that is in its
 * place and cannot be looked at there, as when it is damaged and recovery is "strict", is a problem
 * with "copied":true, and so is one that is damaged, one for which damaged deletions could not be
 * applied, and one whose metadata.json in the backup is lost: then user and agent are those of the
 * list of sessions.
 *
 * @param[in]  store          open store.
 * @param[in]  path           the backup's directory; only read.
 * @param[in]  path_len       [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  options_json   {"sessions":[ID],"overwrite":false,"tombstones_from":PATH}, all
 *                            optional; NULL or empty for none. sessions: only these, at least one.
 *                            tombstones_from: a store or backup whose deletions are applied too.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"sessions","replaced","returned":[ID],"entries",
 *                            "deletions_reapplied","bytes","duration_ms",
 *                            "problems":[{"session_id","reason","copied"}]}. returned: those of
 *                            which this store has only the row in its list, since they were dropped
 *                            or lost: what was dropped on purpose is back. entries: those alive in
 *                            the restored sessions; bytes: of their logs and tombstones.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_ALREADY_EXISTS    one of the sessions exists, and has not expired; nothing was
 *                                  restored
 *          VARVE_NOT_FOUND         no backup there, or not of a named session; all have expired
 *          VARVE_INVALID_ARGUMENT  bad option, or the path is the store itself
 *          VARVE_FORMAT_VERSION    the backup was made by a newer version
 *          VARVE_CORRUPTION        a copy is damaged; the session was kept
 *          VARVE_UNSUPPORTED       the file system cannot replace a directory in one step: delete
 *                                  the session first
 *          VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_BAD_HANDLE
 * @cost    reads what is copied twice, writes it once and indexes it
 * @thread  any; writers of a session that is being replaced wait while its deletions are read
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_restore(varve_store_t *store, const char *path, size_t path_len,
                    const char *options_json VARVE_NULLABLE, size_t options_len,
                    char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                    size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Removes what has expired: sessions whose `ttl_hours` are over, with all their files, and expired
 * entries, by compacting the sessions that have some. No reader sees expired data; this call
 * removes it from the files. Call it now and then, from one process of a store. Where most of the
 * list of sessions are rows of deleted ones, by 100 or more, it takes them out; cursors of the list
 * from before are of no use then, and the catalog (docs/format.md#catalog) is made anew.
 *
 * @param[in]  store          open store.
 * @param[out] report_out     {"sessions_checked","sessions_removed","sessions_compacted",
 *                            "entries_dropped","bytes_freed","problems":[{"session_id","reason"}],
 *                            "duration_ms"}. A session that cannot be swept, as without permission
 *                            to write, is a problem and does not stop the others.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_IO, VARVE_BAD_HANDLE, VARVE_BUSY (the list of sessions kept being rebuilt)
 * @cost    opens every session; compacts those with expired entries; may write the list anew
 * @thread  any; other calls continue meanwhile
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_sweep(varve_store_t *store, char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                  size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                  varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns the figures of this store handle: {"uri","sessions_open","entries","lock_waits",
 * "lock_timeouts","commits","entries_added","entries_deleted","bytes_written","syncs",
 * "index_rebuilds","lines_skipped","metrics"}. Counts are of this process, since the store was
 * opened; "entries" are those of the open sessions, without the expired ones, which
 * "memory.entries.total" in "metrics" counts until they are swept.
 *
 * "metrics" has the figures of varve_store_metrics under dotted names (docs/operations.md#figures):
 * numbers, and for histograms {"count","sum","p50","p99","max"}, durations in milliseconds, where
 * p50 and p99 are the upper bounds of the buckets that hold them, or max where that is less.
 *
 * @param[in]  store        open store.
 * @param[out] json_out     the object.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_IO, VARVE_BUSY (the list of sessions kept being rebuilt, or the
 *          log of an open session kept being replaced), VARVE_FORMAT_VERSION (as varve_store_sync)
 * @cost    as varve_store_metrics
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_stats(varve_store_t *store, char **json_out VARVE_OUT_OWNED VARVE_NULLABLE,
                  size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
                  varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Sums what model calls used, over the entries that record it: in their member "usage",
 * {"input_tokens","output_tokens","cost_usd"}, all optional, or in the "usage" of their content, as
 * imported chats have it ("prompt_tokens" and "completion_tokens" are read too). A count is a whole
 * number up to 10^12, a cost a number from 0 to 10^9; anything else counts as 0, without a word.
 *
 * The log decides: an entry that was deleted or has expired no longer counts, because figures that
 * outlived it would reveal what it was. Where money is owed, keep books of your own.
 *
 * @param[in]  store        open store.
 * @param[in]  filter_json  {"user_id","agent_id","session_ids":[ID],"time":{"start","end"}}, all
 *                          optional; NULL or empty for none. An empty user_id, agent_id or
 *                          session_ids is refused. A session that does not exist adds nothing.
 *                          time: start <= timestamp < end; an end before the start is refused.
 * @param[in]  filter_len   [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] json_out     {"total":{"entries","input_tokens","output_tokens","cost_usd"},
 *                          "sessions":[{"session_id","user_id","agent_id",...}],
 *                          "agents":[{"agent_id",...}],"users":[{"user_id",...}],
 *                          "days":[{"day":"2026-01-10",...}],"problems":[{"session_id","reason"}]},
 *                          each with the members of total. entries: those that carry usage;
 *                          sessions without any are left out. Days are in UTC.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT, VARVE_IO, VARVE_BAD_HANDLE, VARVE_BUSY (as varve_store_sweep);
 *          failures of a single session are in problems
 * @cost    opens every selected session and reads its log once, each entry with one read; while a
 *          session stays open, later calls read only what was added since
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_store_usage(
    varve_store_t *store, const char *filter_json VARVE_NULLABLE, size_t filter_len,
    char **json_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns figures for monitoring in the text format of Prometheus (version 0.0.4): HELP, TYPE and
 * samples, each with the label store="URI". docs/operations.md#figures explains each.
 *
 * Counters and histograms are of this process, since the store was opened. varve_sessions,
 * varve_entries and varve_size_bytes are of the whole store: open sessions as they are now, all
 * others as their metadata.json says, that is, as any process last saved them (by sync or close).
 * They count what has expired until it is swept.
 *
 * @param[in]  store        open store.
 * @param[out] text_out     UTF-8, lines.
 * @param[out] text_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_IO, VARVE_BUSY and VARVE_FORMAT_VERSION (as varve_store_stats)
 * @cost    opens no session. Reads metadata.json of every session that is not open, about 15 us
 *          each; the result is reused until a hundred times as long has passed, so that a hundred
 *          thousand sessions cost a second and a half every two and a half minutes
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_metrics(varve_store_t *store, char **text_out VARVE_OUT_OWNED VARVE_NULLABLE,
                    size_t *text_len_out VARVE_OUT VARVE_NULLABLE,
                    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Sends log lines of `level` and above to `fn`; NULL stops them.
 *
 * @param[in]  store     open store.
 * @param[in]  level     VARVE_LOG_DEBUG ... VARVE_LOG_OFF.
 * @param[in]  fn        receiver, or NULL.
 * @param[in]  user_data passed to fn; must outlive the store or the next call of this.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT, VARVE_BAD_HANDLE
 * @thread  any. Waits for other threads inside the previous function
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_store_set_log(
    varve_store_t *store, int32_t level, varve_log_fn fn VARVE_NULLABLE,
    void *user_data VARVE_NULLABLE, varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Takes the time for timestamps, ids, expiry and decay from `fn` instead of the system's clock;
 * NULL returns to the system's clock. Deadlines always use the system's monotonic clock. When this
 * returns, the previous function is no longer called.
 *
 * @param[in]  store     open store.
 * @param[in]  fn        clock, or NULL.
 * @param[in]  user_data passed to fn; must outlive the store or the next call of this.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE
 * @thread  any; fn may be called from any thread that uses the store. Waits for threads inside the
 *          previous function
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_store_set_clock(
    varve_store_t *store, varve_clock_fn fn VARVE_NULLABLE, void *user_data VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Counts tokens with `fn` instead of the built-in estimate (docs/context.md#tokens); NULL returns
 * to the estimate. When this returns, the previous function is no longer called.
 *
 * @param[in]  store     open store.
 * @param[in]  fn        counter, or NULL.
 * @param[in]  user_data passed to fn; must outlive the store or the next call of this.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE
 * @thread  any; fn may be called on any thread that builds a context. Waits for those being built
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_store_set_token_counter(
    varve_store_t *store, varve_token_fn fn VARVE_NULLABLE, void *user_data VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
