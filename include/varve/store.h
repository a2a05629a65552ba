/**
 * @file varve/store.h
 * A store: one directory (or memory) that holds any number of sessions.
 *
 * Several processes may have the same store open at once, each with as many handles as it likes.
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
  VARVE_LOG_DEBUG = 0, /**< lock acquisition, index loads */
  VARVE_LOG_INFO = 1,  /**< sessions created, deleted, snapshots written */
  VARVE_LOG_WARN = 2,  /**< lock timeout, repaired tail, missing entries, rebuilt index */
  VARVE_LOG_ERROR = 3, /**< damaged lines, input/output failures */
  VARVE_LOG_OFF = 4    /**< nothing */
};

/**
 * Receives one log line: a JSON object {"timestamp","level","component","session_id","message",
 * "metadata"} without newline. Called on the calling thread, never under a lock. It may call the
 * library, though not the function it was called from. It must not throw or longjmp.
 *
 * @param[in] user_data as registered.
 * @param[in] level     VARVE_LOG_DEBUG ... VARVE_LOG_ERROR.
 * @param[in] json_line UTF-8, valid during the call.
 * @param[in] len       [bytes].
 */
typedef void (*varve_log_fn)(void *user_data, int32_t level, const char *json_line, size_t len);

/**
 * Tells the time instead of the system's clock. Called on the calling thread at the start of a
 * call, never under a lock; it must only tell the time, not call the library.
 *
 * @param[in] user_data as registered.
 * @return [ms] since the Unix epoch.
 */
typedef int64_t (*varve_clock_fn)(void *user_data);

/**
 * Opens a store, and creates it when its directory does not exist.
 *
 * @param[in]  uri        a directory path, "file:PATH", or "memory:" (nothing on disk; the store
 *                        and its sessions live until it is closed).
 * @param[in]  uri_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  config_json a JSON object; NULL or empty for none. Members (docs/format.md#config):
 *                        {"storage":{"max_session_size_mb","max_entry_size_bytes",...},
 *                        "concurrency":{"lock_timeout_ms",...},"decay":{...},
 *                        "performance":{"batch_write_interval_ms","cache_size",...},
 *                        "integrity":{...},"durability":"commit"|"interval"|"os"}.
 *                        What is given here overrides the store's config.json.
 * @param[in]  config_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] store_out  the open store; close with varve_store_close.
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  bad URI or configuration, member and offset named
 *          VARVE_READ_ONLY         the directory is missing and may not be created
 *          VARVE_FORMAT_VERSION    config.json is of a newer version
 *          VARVE_UNSUPPORTED       unknown URI scheme
 *          VARVE_IO, VARVE_NO_SPACE
 * @cost    a few system calls; nothing grows with the number of sessions
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_open(const char *uri, size_t uri_len, const char *config_json VARVE_NULLABLE,
                 size_t config_len, varve_store_t **store_out VARVE_OUT_OWNED,
                 varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Closes a store and the sessions opened from it. Calls in flight on other threads finish first.
 * With durability "interval", what was added is made durable before this returns.
 *
 * @param[in] store handle, or NULL.
 * @errors none
 * @thread any
 */
VARVE_API void varve_store_close(varve_store_t *store VARVE_NULLABLE);

/**
 * Makes everything added so far through this store durable, whatever the durability.
 *
 * @param[in]  store     open store.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_IO, VARVE_BUSY
 * @cost    one fdatasync for each session that has anything to make durable
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_sync(varve_store_t *store, varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Lists sessions, newest first, page by page, without opening them.
 *
 * @param[in]  store      open store.
 * @param[in]  filter_json {"user_id","agent_id","limit","after","rescan"}, all optional; NULL or
 *                        empty for none. limit: 1 ..= 10000, default 100. after: "next" of the
 *                        page before. rescan: true rebuilds the list from the directories first
 *                        (after copying session directories in by hand).
 * @param[in]  filter_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] json_out   {"sessions":[{"session_id","user_id","agent_id","title","created_at",
 *                        "last_accessed","total_entries"}],"next":CURSOR|null}.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT, VARVE_BAD_HANDLE, VARVE_IO
 * @cost    grows with the page, not with the number of sessions; with user_id or agent_id also
 *          with the newer sessions that are passed over
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_store_sessions(
    varve_store_t *store, const char *filter_json VARVE_NULLABLE, size_t filter_len,
    char **json_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Deletes a session with everything in it, at once and for good. Open handles of it answer
 * VARVE_NOT_FOUND from then on, in every process.
 *
 * @param[in]  store     open store.
 * @param[in]  id        session id.
 * @param[in]  id_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND, VARVE_INVALID_ARGUMENT, VARVE_BUSY, VARVE_READ_ONLY, VARVE_IO
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_delete_session(varve_store_t *store, const char *id, size_t id_len,
                           varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Finds entries across sessions. The query is that of varve/query.h with three members more:
 * {"user_id","agent_id","session_ids"} say which sessions; without them, all. Each result tells its
 * "session_id". Words are weighed over all sessions asked, so that results of a large session and
 * of a small one can be compared.
 *
 * @param[in]  store       open store.
 * @param[in]  query_json  as above; NULL or "" for all entries by relevance.
 * @param[in]  query_len   [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] results_out the results, in order; free them with varve_results_free. Not NULL.
 * @param[out] error_out   caller frees; may be NULL.
 *
 * @errors  as varve_session_query; sessions that cannot be read are left out and told to the log
 *          function
 * @cost    as varve_session_query for each session asked; user_id, agent_id and session_ids decide
 *          without opening the others. Spread over `threads` of the configuration.
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_query(varve_store_t *store, const char *query_json VARVE_NULLABLE, size_t query_len,
                  varve_results_t **results_out VARVE_OUT_OWNED,
                  varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Figures of this store handle: {"uri","sessions_open","entries","lock_waits","lock_timeouts",
 * "commits","entries_added","entries_deleted","bytes_written","syncs","index_rebuilds",
 * "lines_skipped"}. Counts are of this process, since the store was opened.
 *
 * @param[in]  store        open store.
 * @param[out] json_out     the object.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_store_stats(varve_store_t *store, char **json_out VARVE_OUT_OWNED VARVE_NULLABLE,
                  size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
                  varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Sends log lines of `level` and above to `fn`. NULL stops them.
 *
 * @param[in]  store     open store.
 * @param[in]  level     VARVE_LOG_DEBUG ... VARVE_LOG_OFF.
 * @param[in]  fn        receiver, or NULL.
 * @param[in]  user_data given back to fn; must outlive the store or the next call of this.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT, VARVE_BAD_HANDLE
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_store_set_log(
    varve_store_t *store, int32_t level, varve_log_fn fn VARVE_NULLABLE,
    void *user_data VARVE_NULLABLE, varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Takes the time from `fn` instead of the system's clock: timestamps, ids, expiry, decay.
 * NULL returns to the system's clock. Deadlines always use the system's monotonic clock.
 *
 * @param[in]  store     open store.
 * @param[in]  fn        clock, or NULL.
 * @param[in]  user_data given back to fn; must outlive the store or the next call of this.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE
 * @thread  any; fn may be called from any thread that uses the store
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_store_set_clock(
    varve_store_t *store, varve_clock_fn fn VARVE_NULLABLE, void *user_data VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
