/**
 * @file varve/entry.h
 * Entries: what an agent saw, decided and learnt.
 *
 * An entry is a JSON object. Needed: "type" (conversation, decision, finding, preference, message,
 * tool_call, tool_result, observation, summary, document, or any [a-z][a-z0-9_]{0,31}) and
 * "content" (any JSON value). Optional: "id", "timestamp", "importance" (0..1, default 0.5),
 * "tags", "references", "relations", "expires_at", "trace_id", "span_id", "decay_factor". Members
 * the library does not know are kept as they came. docs/format.md#entries has the whole schema.
 */
#ifndef VARVE_ENTRY_H
#define VARVE_ENTRY_H

#include "varve/base.h"
#include "varve/error.h"
#include "varve/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Adds one entry. After VARVE_OK it is in the log, as durable as the session's durability says
 * ("commit", the default: it survives power loss), and every process sees it. After anything else
 * the session is as it was.
 *
 * Threads adding to one session at once share one write and one fdatasync.
 *
 * @param[in]  session    open session.
 * @param[in]  entry_json UTF-8 JSON object, depth at most 64.
 * @param[in]  entry_len  [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] id_out     the entry's id, given or made here.
 * @param[out] id_len_out [bytes].
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  member and byte offset in the details
 *          VARVE_ALREADY_EXISTS    the id exists, or was deleted: an id is used once, ever
 *          VARVE_SIZE_LIMIT        entry or session over its limit, sizes in the details
 *          VARVE_BUSY              another process held the lock past lock_timeout_ms
 *          VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_NOT_FOUND (session deleted)
 *          VARVE_FORMAT_VERSION    schema_version above ours
 *          VARVE_CORRUPTION        a line, or metadata.json, carries the highest sequence number
 *                                  there is: none is left
 * @cost    one write, and one fdatasync with "commit"; O(entry_len)
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_add(
    varve_session_t *session, const char *entry_json, size_t entry_len,
    char **id_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *id_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Adds several entries, all or none, also across a crash.
 *
 * @param[in]  session     open session.
 * @param[in]  entries     a JSON array of entries, or JSON lines (one entry a line).
 * @param[in]  entries_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] ids_out     JSON array of the ids, in the order given.
 * @param[out] ids_len_out [bytes].
 * @param[out] error_out   caller frees; may be NULL. Details name the entry ("[3].tags[0]") or the
 *                         line.
 *
 * @errors  as varve_session_add; also VARVE_ALREADY_EXISTS for an id given twice. None at all, an
 *          empty array or text, is VARVE_OK
 * @cost    one write, and one fdatasync with "commit", for all of them
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_add_batch(
    varve_session_t *session, const char *entries, size_t entries_len,
    char **ids_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *ids_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Gives one entry as it is stored: the line of the log, checked against its checksum.
 *
 * @param[in]  session      open session.
 * @param[in]  id           entry id.
 * @param[in]  id_len       [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] json_out     the entry.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND         never added, deleted, or expired; or the session was deleted
 *          VARVE_CORRUPTION        its line was damaged on disk: path and offset in the details
 *          VARVE_INVALID_ARGUMENT  malformed id
 *          VARVE_BUSY              the log was replaced over and over meanwhile
 *          VARVE_BAD_HANDLE, VARVE_IO
 * @cost    one read of the entry's bytes
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_get(
    varve_session_t *session, const char *id, size_t id_len,
    char **json_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Deletes one entry: hidden at once from every reader in every process. A line without content
 * {"id","reason","timestamp"} stays in tombstones.jsonl as the audit log; the entry's bytes leave
 * the log with the next compaction or purge.
 *
 * @param[in]  session    open session.
 * @param[in]  id         entry id.
 * @param[in]  id_len     [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  reason     why, for the audit log; may be empty. At most 1024 bytes. It must not hold
 *                        what is being deleted.
 * @param[in]  reason_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND  there is no such entry, it is deleted already, or has expired; or the
 *                           session was deleted
 *          VARVE_INVALID_ARGUMENT, VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO
 * @cost    one write, and one fdatasync with "commit"
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_delete(
    varve_session_t *session, const char *id, size_t id_len, const char *reason VARVE_NULLABLE,
    size_t reason_len, varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Deletes every entry that a query finds (varve/query.h), each as varve_session_delete does.
 *
 * @param[in]  session    open session.
 * @param[in]  query_json the query, without vector, sort_by, order, limit, after and explain, which
 *                        are refused, as are conditions that are empty, such as "ids": [] and
 *                        "text": "", and no query at all (NULL or ""). "{}", without any condition,
 *                        is every entry.
 * @param[in]  query_len  [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  reason     why, for the audit log; as for varve_session_delete.
 * @param[in]  reason_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] count_out  how many were deleted by this call; may be NULL.
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  as varve_session_query and varve_session_delete; NOT_FOUND only for a deleted session:
 *          finding nothing is VARVE_OK with a count of 0
 * @cost    the query, one write of all tombstones, and one fdatasync with "commit"
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_delete_where(varve_session_t *session, const char *query_json, size_t query_len,
                           const char *reason VARVE_NULLABLE, size_t reason_len,
                           uint64_t *count_out VARVE_OUT VARVE_NULLABLE,
                           varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Gives a live entry its vector: an embedding that you made of it, for queries with "vector"
 * (varve/query.h). In place of the one it had; a vector goes with its entry. docs/vectors.md
 *
 * Nothing is computed from the entry itself, and nothing is sent anywhere. Export and import leave
 * vectors out; backup, restore, compaction and purge take them along.
 *
 * @param[in]  session   open session.
 * @param[in]  id        entry id.
 * @param[in]  id_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  values    the numbers, finite and not all zero; copied. Their scale has no effect.
 * @param[in]  dimension how many, 1 to 16384, the same for all vectors of a session.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  no or too many numbers, one that is not finite, all zero;
 *                                  another dimension than the session's vectors; malformed id
 *          VARVE_NOT_FOUND         never added, deleted, or expired; or the session was deleted
 *          VARVE_SIZE_LIMIT        the session would be over its limit
 *          VARVE_CORRUPTION        the head of vectors.bin is damaged: repair, then give them again
 *          VARVE_FORMAT_VERSION    vectors.bin is of a newer version
 *          VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO
 * @cost    one write of 144 + 4 * dimension bytes, and one fdatasync with "commit"
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_put_vector(
    varve_session_t *session, const char *id, size_t id_len, const float *values VARVE_NULLABLE,
    uint32_t dimension, varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
