/**
 * @file varve/entry.h
 * Entries: what an agent saw, decided and learnt.
 *
 * An entry is a JSON object. Required: "type" (conversation, decision, finding, preference,
 * message, tool_call, tool_result, observation, summary, document, or any [a-z][a-z0-9_]{0,31}) and
 * "content" (any JSON value). Optional: "id", "timestamp", "importance" (0..1, default 0.5),
 * "tags", "references", "relations", "expires_at", "trace_id", "span_id", "decay_factor". Unknown
 * members are kept as they are. An entry never changes: to correct one, add another and delete the
 * old one. docs/format.md#entries has the whole schema.
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
 * Adds one entry. After VARVE_OK the entry is in the log, as durable as the session's durability
 * says ("commit", the default: it survives power loss), and every process sees it. After any other
 * status the session is as it was, except when the message of VARVE_IO says that the outcome is
 * unknown (docs/errors.md), and after VARVE_SIZE_LIMIT: a full session has then been compacted,
 * without making enough room (docs/operations.md#limits).
 *
 * Threads that add to one session at once share one write and one fdatasync.
 *
 * @param[in]  session    open session.
 * @param[in]  entry_json UTF-8 JSON object, depth at most 64.
 * @param[in]  entry_len  [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] id_out     the entry's id, given or made here.
 * @param[out] id_len_out [bytes].
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  the details name member and byte offset
 *          VARVE_ALREADY_EXISTS    the id exists, or was deleted: a deleted id stays used
 *          VARVE_SIZE_LIMIT        entry or session above its limit; the details have the sizes
 *          VARVE_BUSY              another process held the lock past lock_timeout_ms
 *          VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_NOT_FOUND (session deleted)
 *          VARVE_FORMAT_VERSION    schema_version is above the library's
 *          VARVE_CORRUPTION        a line, or metadata.json, has the highest sequence number that
 *                                  there is: none is left
 * @cost    one write, and one fdatasync with "commit"; O(entry_len)
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_add(
    varve_session_t *session, const char *entry_json, size_t entry_len,
    char **id_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *id_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Adds several entries, all or none, even when the process is killed; when the power goes, with
 * durability "commit" (docs/reliability.md#known says what else may be left).
 *
 * @param[in]  session     open session.
 * @param[in]  entries     a JSON array of entries, or JSON lines (one entry a line).
 * @param[in]  entries_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] ids_out     JSON array of the ids, in the order given.
 * @param[out] ids_len_out [bytes].
 * @param[out] error_out   caller frees; may be NULL. The details name the entry ("[3].tags[0]") or
 *                         the line.
 *
 * @errors  as varve_session_add; also VARVE_ALREADY_EXISTS for an id given twice. An empty array or
 *          text is VARVE_OK
 * @cost    one write, and one fdatasync with "commit", for all of them
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_add_batch(
    varve_session_t *session, const char *entries, size_t entries_len,
    char **ids_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *ids_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns one entry as it is stored: its line of the log, verified by its checksum.
 *
 * @param[in]  session      open session.
 * @param[in]  id           entry id.
 * @param[in]  id_len       [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] json_out     the entry.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND         never added, deleted, or expired; or the session was deleted
 *          VARVE_CORRUPTION        its line was damaged on disk; the details have path and offset
 *          VARVE_INVALID_ARGUMENT  malformed id
 *          VARVE_BUSY              the log kept being replaced
 *          VARVE_BAD_HANDLE, VARVE_IO
 * @cost    one read of the entry's bytes
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_get(
    varve_session_t *session, const char *id, size_t id_len,
    char **json_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Deletes one entry: it is hidden at once from every reader in every process. A line without its
 * content, {"id","reason","timestamp"}, stays in tombstones.jsonl as the audit log; the entry's
 * bytes leave the log with the next compaction or purge.
 *
 * @param[in]  session    open session.
 * @param[in]  id         entry id.
 * @param[in]  id_len     [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  reason     why, for the audit log, at most 1024 bytes; may be empty. It must not
 *                        contain what is being deleted.
 * @param[in]  reason_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND  no such entry, already deleted, or expired; or the session was deleted
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
 * @param[in]  query_json the query. vector, sort_by, order, limit, after and explain are refused,
 *                        as are empty conditions, such as "ids": [] and "text": "", what only says
 *                        how others are meant ("now" alone, "match" of tags without "include"), and
 *                        no query at all (NULL or ""). "{}", without any condition, is every entry.
 * @param[in]  query_len  [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  reason     why, for the audit log; as for varve_session_delete.
 * @param[in]  reason_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] count_out  how many this call deleted; may be NULL.
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  as varve_session_query without a vector and varve_session_delete, but VARVE_NOT_FOUND
 *          only for a deleted session: finding nothing is VARVE_OK with a count of 0
 * @cost    the query, one write of all tombstones, and one fdatasync with "commit"
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_delete_where(varve_session_t *session, const char *query_json, size_t query_len,
                           const char *reason VARVE_NULLABLE, size_t reason_len,
                           uint64_t *count_out VARVE_OUT VARVE_NULLABLE,
                           varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Sets the vector of a live entry: an embedding that you made of it, for queries with "vector"
 * (varve/query.h). It replaces the vector that the entry had, and goes with the entry. See
 * docs/vectors.md.
 *
 * Nothing is computed from the entry itself, and nothing is sent anywhere. Export and import leave
 * vectors out; backup, restore, compaction and purge carry them along.
 *
 * @param[in]  session   open session.
 * @param[in]  id        entry id.
 * @param[in]  id_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  values    finite numbers, not all zero; copied. Their scale has no effect.
 * @param[in]  dimension how many, 1 to 16384, the same for all vectors of a session.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  no or too many numbers, a number that is not finite, all zero;
 *                                  another dimension than the session's vectors; malformed id
 *          VARVE_NOT_FOUND         never added, deleted, or expired; or the session was deleted
 *          VARVE_SIZE_LIMIT        the session would be above its limit: no live entry is dropped
 *                                  to make room for a vector
 *          VARVE_CORRUPTION        vectors.bin has a damaged head: repair, then put vectors again
 *          VARVE_FORMAT_VERSION    vectors.bin is of a newer version
 *          VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO
 * @cost    one write of 144 + 4 * dimension bytes, and one fdatasync with "commit"; with the other
 *          durabilities one where the log has what is not durable yet: entries are made durable
 *          before their vectors
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_put_vector(
    varve_session_t *session, const char *id, size_t id_len, const float *values VARVE_NULLABLE,
    uint32_t dimension, varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
