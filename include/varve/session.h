/**
 * @file varve/session.h
 * A session: one memory, with its log of entries, its metadata and its lifetime.
 */
#ifndef VARVE_SESSION_H
#define VARVE_SESSION_H

#include "varve/base.h"
#include "varve/error.h"
#include "varve/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An open session. Any thread. Handles of one session in one store share their memory. */
typedef struct varve_session varve_session_t;

/**
 * Creates a session and opens it.
 *
 * @param[in]  store        open store.
 * @param[in]  options_json {"session_id","if_exists","user_id","agent_id","title",
 *                          "stores":["kv","transcript"],"kv_cap","transcript_cap","ttl_hours",
 *                          "ttl_policy","decay_config","compaction_config","preferences",
 *                          "durability"}, all optional; NULL or empty for none. Without session_id
 *                          an id is made: "sess_" and 26 characters that sort by time. if_exists:
 *                          "fail", the default, or "open", which needs a session_id: an existing
 *                          session of that id is opened as it is, whatever the other options, but
 *                          it must belong to the user and agent given. An empty user_id or agent_id
 *                          is refused. stores: what the session has beside its log, by default
 *                          both; for their caps see kv.h and transcript.h. ttl_hours: the session
 *                          expires this long after its last write (ttl_policy "sliding", the
 *                          default; up to an eighth of the time earlier) or its creation
 *                          ("fixed"); 0: never. Parts of an hour are fine. durability,
 *                          decay_config and compaction_config ({"auto_compact", "threshold"})
 *                          override the store's configuration. preferences: any object of your
 *                          own. All members: docs/format.md#metadata.json.
 * @param[in]  options_len  [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] session_out  the open session; close with varve_session_close.
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  bad option or id; the error names member and offset
 *          VARVE_ALREADY_EXISTS    a session of that id exists; with "open", it is another user's
 *                                  or agent's, or its directory has no session in it
 *          VARVE_SIZE_LIMIT        the user has as many as storage.max_user_sessions allows; more
 *                                  than 16 MiB of options
 *          VARVE_BUSY              another process is creating a session, or keeps opening the
 *                                  store, or (with concurrency.exclusive) took the new lock
 *          VARVE_NOT_FOUND         the session was deleted as soon as it was made
 *          VARVE_UNSUPPORTED       a session has this id in another case, and the file system does
 *                                  not tell upper from lower case
 *          VARVE_FORMAT_VERSION, VARVE_CORRUPTION  with "open", as varve_session_open
 *          VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_BAD_HANDLE
 * @cost    makes a directory durable before the call returns, whatever the number of sessions
 *          there are; with storage.max_user_sessions it also reads metadata.json of each session
 *          of the user, and in the store's first call the list of all
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_create(varve_store_t *store, const char *options_json VARVE_NULLABLE,
                     size_t options_len, varve_session_t **session_out VARVE_OUT_OWNED,
                     varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Opens an existing session; without permission to write, for reading only. Damage does not keep a
 * session from opening: intact entries are there, the rest is counted by varve_session_stats and
 * reported by varve_session_verify. With integrity.recovery "strict" (docs/operations.md#recovery)
 * damage is an error that says where it is, and nothing is changed.
 *
 * @param[in]  store       open store.
 * @param[in]  id          session id.
 * @param[in]  id_len      [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] session_out the open session; close with varve_session_close.
 * @param[out] error_out   caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND (also: expired), VARVE_INVALID_ARGUMENT (malformed id),
 *          VARVE_FORMAT_VERSION, VARVE_CORRUPTION (with "strict"), VARVE_IO, VARVE_BAD_HANDLE,
 *          VARVE_BUSY (the log kept being replaced; with concurrency.exclusive others write to it),
 *          VARVE_SIZE_LIMIT (metadata.json has more than 64 MiB);
 *          with concurrency.exclusive also VARVE_READ_ONLY
 * @cost    reads the index and the part of the log that it does not cover; with "strict" all of it
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_open(varve_store_t *store, const char *id, size_t id_len,
                   varve_session_t **session_out VARVE_OUT_OWNED,
                   varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Closes a handle. Closing the last one of a session in a store also saves index and metadata and,
 * with durability "interval" or "os", makes durable what was not. If that fails, as when another
 * process holds the lock past lock_timeout_ms, what was added is still there, the next open takes
 * longer, and the log function is told (ERROR when a power loss may still take something). To know
 * that everything is durable, call varve_session_sync first.
 *
 * @param[in] session handle, or NULL.
 * @errors none
 * @thread any
 */
VARVE_API void varve_session_close(varve_session_t *session VARVE_NULLABLE);

/**
 * Returns the session's id; NULL for a bad handle. Borrowed from the session: lives until the
 * session or its store is closed.
 *
 * @param[in] session open session.
 * @errors none
 * @thread any
 */
VARVE_API const char *varve_session_id(varve_session_t *session);

/**
 * Returns the session's metadata, as in metadata.json, with current counts.
 *
 * @param[in]  session      open session.
 * @param[out] json_out     {"session_id","user_id","agent_id","title","created_at",
 *                          "last_accessed","total_entries","total_size_bytes","statistics",...},
 *                          docs/format.md#metadata.json. user_id, agent_id and title are absent
 *                          when they were not given.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NOT_FOUND (the session was deleted), VARVE_BUSY (the log kept
 *          being replaced), VARVE_IO
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_metadata(varve_session_t *session, char **json_out VARVE_OUT_OWNED VARVE_NULLABLE,
                       size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
                       varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Changes metadata by a JSON merge patch (RFC 7396): null removes a member. What defines a session
 * (session_id, user_id, agent_id, stores) and what the library counts (created_at, total_entries,
 * statistics, generation, version, ...) cannot be changed; members of your own are kept as given.
 * All metadata together is at most 16 MiB.
 *
 * @param[in]  session    open session.
 * @param[in]  patch_json a JSON object.
 * @param[in]  patch_len  [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  not an object; a member that is mistyped or cannot be changed
 *          VARVE_SIZE_LIMIT        more than 16 MiB, or 65,472 members in one object
 *          VARVE_NOT_FOUND         the session was deleted
 *          VARVE_FORMAT_VERSION    metadata.json is of a newer version by now
 *          VARVE_READ_ONLY, VARVE_BUSY, VARVE_NO_SPACE, VARVE_IO
 * @cost    metadata.json is replaced and made durable before the call returns
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_update(varve_session_t *session, const char *patch_json, size_t patch_len,
                     varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Makes everything added so far durable, whatever the durability, and saves index and metadata.
 *
 * @param[in]  session   open session.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND (the session was deleted), VARVE_IO, VARVE_NO_SPACE, VARVE_BUSY,
 *          VARVE_READ_ONLY, VARVE_BAD_HANDLE
 * @cost    a sync of the log, metadata.json replaced and made durable, and if anything was added
 *          since, a write of the whole index, which grows with the session; for adds that each are
 *          durable there is durability "commit"
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_sync(
    varve_session_t *session, varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns the session's figures.
 *
 * @param[in]  session      open session.
 * @param[out] json_out     {"session_id","entries","deleted","expired","size_bytes":{"log","index",
 *                          "tombstones","vectors","kv","transcript","total"},"size_limit_bytes",
 *                          "modified":TIME|null,
 *                          "lock":{"held","process_id","operation","since"},"types":{TYPE:N},
 *                          "memory_bytes","vectors":{"dimension","records","memory_bytes"},
 *                          "last_seq",
 *                          "durable_seq","durability","durable","undurable_bytes",
 *                          "generation","read_only",
 *                          "corruption":{"skipped","missing","torn_tails","rollback","metadata",
 *                          "kv","transcript"},
 *                          "index":{"loaded","rebuilds","reason","covered_bytes",
 *                          "facets_memory_bytes","words_memory_bytes","words_of_entries"},
 *                          "usage":{"entries","input_tokens","output_tokens","cost_usd"}}.
 *                          entries are alive; expired ones are still in the log; deleted counts
 *                          deletions, whose entries a compaction may have removed; types has the
 *                          entries and the expired. last_seq: of the last entry in the log, which
 *                          durable_seq may be above when a compaction removed later ones.
 *                          size_limit_bytes 0 is no limit. modified: when the log last changed.
 *                          corruption: missing are entries in the middle of the log, rollback
 *                          those at its end that were durable, and deletions that were. kv and
 *                          transcript count how often this process met damage in
 *                          them; varve_session_verify looks for it. lock: who is writing at this
 *                          moment, in any process; the last three members only when somebody is. It
 *                          may be over before the call returns. durable: false while a power loss
 *                          could take something that this store answered: with durability
 *                          "interval" or "os" until it is synced, and while the disk does not
 *                          accept entries (integrity.io_failure "buffer"), of which undurable_bytes
 *                          are in memory only. memory_bytes is of the whole index;
 *                          facets (tags, references, content members), words and vectors are in it
 *                          only as far as a query has needed them. usage: see varve_store_usage.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NOT_FOUND, VARVE_BUSY (the log kept being replaced), VARVE_IO
 * @cost    O(types, and entries with usage: 0.05 to 0.25 ms for 20,000); entries added by other
 *          processes are read first. The first call reads the log once, for the usage; later calls
 *          read what was added since
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_stats(varve_session_t *session, char **json_out VARVE_OUT_OWNED VARVE_NULLABLE,
                    size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
                    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Lists the session's files by name, kv.json and transcript.md among them, with the time each was
 * modified (RFC 3339): {"files":[{"name","size_bytes","modified"}]}; empty for "memory:".
 *
 * @param[in]  session      open session.
 * @param[out] json_out     the object.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NOT_FOUND, VARVE_BUSY (as varve_session_metadata), VARVE_IO
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_files(varve_session_t *session, char **json_out VARVE_OUT_OWNED VARVE_NULLABLE,
                    size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
                    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Receives the progress of a long operation, and lets it go on or stops it. Called on the calling
 * thread, never under a lock: when the operation starts, then as work is done, at most once for
 * each megabyte, and at the end. It may call the library, but must not close the session that it is
 * called for, nor its store. It must not throw or longjmp.
 *
 * @param[in] user_data as registered.
 * @param[in] operation "export", "import" or "verify"; valid during the call.
 * @param[in] done      [bytes] so far.
 * @param[in] total     [bytes]; 0 when it is not known.
 * @return 0 to go on; anything else stops the operation, which then returns VARVE_CALLBACK.
 */
typedef int32_t (*varve_progress_fn)(void *user_data, const char *operation, uint64_t done,
                                     uint64_t total);

/**
 * Reports the progress of long operations with this handle to `fn`: varve_session_export,
 * varve_session_export_file, varve_session_import, varve_session_import_file and
 * varve_session_verify. NULL stops the reports. An operation that has begun keeps the function it
 * began with.
 *
 * @param[in]  session   open session.
 * @param[in]  fn        receiver, or NULL.
 * @param[in]  user_data passed to fn; must outlive the handle, or the operations that begin before
 *                       the next call of this.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_set_progress(
    varve_session_t *session, varve_progress_fn fn VARVE_NULLABLE, void *user_data VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
