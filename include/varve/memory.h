/**
 * @file varve/memory.h
 * A memory: what an agent remembers of one user, in three tiers over one store.
 *
 *   working     for each session, the entries that the agent has in front of it: the last `window`
 *               (20) recorded through this handle, behind the newest that its log had when the
 *               first was recorded. Lost when the handle is closed; beyond 1024 sessions, the one
 *               used longest ago loses its own, and begins with its log again.
 *   short term  the session's log, on disk. Entries expire `ttl_hours` (168: 7 days) after they
 *               were recorded, and the session with all that is in it as long after its last write,
 *               or up to an eighth of the time earlier.
 *   long term   a session of the user's own, shared by all agents. It does not expire.
 *
 * Entries are messages as chat programs write them, {"role":"user","content":"Hello"}; "content" is
 * required, unless there is a role and "tool_calls", "function_call", "parts" or "refusal": it is
 * null then. They may have every member of an entry of varve/entry.h ("id", "tags", "importance",
 * "usage", ...). Missing members, and those of an entry that are null, are filled in: id,
 * timestamp, "type" and, in short-term memory, "expires_at". The type is "observation" without a
 * role, and with one that of an imported message: "tool_call" of one that calls tools,
 * "tool_result" of one with results, else "message". In the log the role is part of the content,
 * {"role","message"}, where queries find it, and so are who says it ("name") and what is called,
 * answered, refused and shown ("tool_calls", "function_call", "images", "parts", "tool_call_id",
 * "tool_name", "refusal"); varve_memory_context returns messages in the form in which they were
 * given. A call or a result that is no message, as items of OpenAI's responses, is taken as
 * {"type":"tool_call","content":ITEM} or {"type":"tool_result","content":ITEM}.
 *
 * Working memory selects entries and the log holds them: an entry that is deleted or expires leaves
 * every tier at once, whoever deletes it. docs/tiers.md is a short introduction.
 */
#ifndef VARVE_MEMORY_H
#define VARVE_MEMORY_H

#include "varve/base.h"
#include "varve/error.h"
#include "varve/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A user's memory in an open store. Any thread. */
typedef struct varve_memory varve_memory_t;

/**
 * Opens the memory of a user. It has no place of its own: what it knows is in the store.
 *
 * @param[in]  store        open store; closing it closes the memory.
 * @param[in]  options_json {"user_id","agent_id","window","ttl_hours"}, all optional; NULL or empty
 *                          for none. user_id: whose sessions these are; without one, the store and
 *                          all its sessions belong to one user. agent_id: that of sessions created
 *                          here. window: entries of each session's working memory, 1 ..= 1000000,
 *                          default 20. ttl_hours: default 168; 0 is for ever. An empty user_id or
 *                          agent_id is refused.
 * @param[in]  options_len  [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] memory_out   the memory; close with varve_memory_close.
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  the error names member and offset
 *          VARVE_BAD_HANDLE
 * @cost    reads nothing
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_memory_open(varve_store_t *store, const char *options_json VARVE_NULLABLE, size_t options_len,
                  varve_memory_t **memory_out VARVE_OUT_OWNED,
                  varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Records a message in the session's log and in its working memory. A session that does not exist
 * or has expired is created, with the memory's user_id, agent_id and ttl_hours, but not for a
 * message that is refused. Results of tools are given references to their calls, as by an import,
 * unless they have "references": each to the last call of its id, or where it has none, of its
 * tool's name, among the latest 100 calls of the session. varve_context_build keeps them together
 * by these. A session's working memory begins with its newest entries, as by varve_memory_load, but
 * after varve_memory_clear with what is recorded.
 *
 * @param[in]  memory         open memory.
 * @param[in]  session_id     which conversation.
 * @param[in]  session_id_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  entry_json     the message.
 * @param[in]  entry_len      [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] id_out         the entry's id, given or made here.
 * @param[out] id_len_out     [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  the details name the member
 *          VARVE_ALREADY_EXISTS    the id exists, or was deleted
 *          VARVE_NOT_FOUND         the session is another user's, or others keep deleting it
 *          VARVE_SIZE_LIMIT        entry, session or user above a limit
 *          VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_CORRUPTION (with
 *          "strict"), VARVE_FORMAT_VERSION, VARVE_BAD_HANDLE
 * @cost    as varve_session_add, with a read of metadata.json; a session that is not open is opened
 *          or created. For results of tools a query, which reads the latest 10 calls, or if a call
 *          is not among them up to 100. For the first of a session also as varve_memory_load
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_memory_record(
    varve_memory_t *memory, const char *session_id, size_t session_id_len, const char *entry_json,
    size_t entry_len, char **id_out VARVE_OUT_OWNED VARVE_NULLABLE,
    size_t *id_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns what the agent is to have in front of it: working memory or, when that is empty (after a
 * restart, or varve_memory_clear, or when none of its entries is left), the session's log. Entries
 * are chronological. With max_tokens they are the newest that fit, without a gap. A list that was
 * cut, by tokens or the window, or that begins after the session's first entry, does not begin with
 * results of tools (role "tool" or "function", parts "tool_result" without text, a role and the
 * type "tool_result", or items of OpenAI's responses), whose calls are not in it; nor has any list
 * such with the id of a call and "references" to its entry when both are not in it. Tokens are
 * estimated (docs/context.md#tokens) from the lines that varve_window_text would give.
 *
 * @param[in]  memory         open memory.
 * @param[in]  session_id     which conversation.
 * @param[in]  session_id_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  max_tokens     0 for no limit: the whole log, when working memory is empty.
 * @param[out] json_out       {"entries":[{"id","session_id","timestamp","type","role","content",
 *                            ...}],"token_count","source":"working"|"short_term"}. A session that
 *                            does not exist has no entries.
 * @param[out] json_len_out   [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT (malformed id), VARVE_BUSY, VARVE_IO, VARVE_CORRUPTION (with
 *          "strict"), VARVE_READ_ONLY (with concurrency.exclusive), VARVE_FORMAT_VERSION,
 *          VARVE_BAD_HANDLE
 * @cost    a query by time, and one read of each entry returned
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_memory_context(
    varve_memory_t *memory, const char *session_id, size_t session_id_len, uint64_t max_tokens,
    char **json_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Replaces the session's working memory with its newest entries: to continue a conversation after
 * varve_memory_clear, or one to which others have added.
 *
 * @param[in]  memory         open memory.
 * @param[in]  session_id     which conversation.
 * @param[in]  session_id_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND  no such session: never created, deleted, expired, or another user's
 *          VARVE_INVALID_ARGUMENT (malformed id), VARVE_BUSY, VARVE_IO, VARVE_CORRUPTION (with
 *          "strict"), VARVE_READ_ONLY (with concurrency.exclusive), VARVE_FORMAT_VERSION,
 *          VARVE_BAD_HANDLE
 * @cost    a query by time for as many entries as the window has
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_memory_load(varve_memory_t *memory, const char *session_id, size_t session_id_len,
                  varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Makes everything recorded in the session durable, whatever its durability, and saves its index.
 * With durability "commit", the default, nothing can be lost without this call either: a message is
 * in the log when varve_memory_record returns.
 *
 * @param[in]  memory         open memory.
 * @param[in]  session_id     which conversation.
 * @param[in]  session_id_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND  no such session, as varve_memory_load
 *          VARVE_INVALID_ARGUMENT (malformed id), VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE,
 *          VARVE_IO, VARVE_CORRUPTION (with "strict"), VARVE_FORMAT_VERSION, VARVE_BAD_HANDLE
 * @cost    as varve_session_sync
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_memory_save(varve_memory_t *memory, const char *session_id, size_t session_id_len,
                  varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Empties the working memory of all sessions, to begin anew: only what is recorded next is in front
 * of the agent. Logs and long-term memory stay as they are.
 *
 * @param[in]  memory    open memory.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE
 * @cost    closes sessions that nobody else has open
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_memory_clear(
    varve_memory_t *memory, varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Stores an entry in long-term memory.
 *
 * @param[in]  memory     open memory.
 * @param[in]  entry_json the message, or {"content":"likes tea"}.
 * @param[in]  entry_len  [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] id_out     the entry's id, given or made here.
 * @param[out] id_len_out [bytes].
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  the details name the member
 *          VARVE_ALREADY_EXISTS    the id exists, or was deleted
 *          VARVE_NOT_FOUND         others keep deleting the session
 *          VARVE_SIZE_LIMIT, VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO,
 *          VARVE_CORRUPTION (with "strict"), VARVE_FORMAT_VERSION, VARVE_BAD_HANDLE
 * @cost    as varve_memory_record
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_memory_store(
    varve_memory_t *memory, const char *entry_json, size_t entry_len,
    char **id_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *id_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Finds entries in all sessions of the user, long term and short.
 *
 * @param[in]  memory      open memory.
 * @param[in]  query_json  a query as for varve_store_query; its user_id, when given, is the
 *                         memory's. NULL or "" for all entries by relevance.
 * @param[in]  query_len   [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] results_out the results, entries as they are stored; free them with
 *                         varve_results_free. Not NULL.
 * @param[out] error_out   caller frees; may be NULL.
 *
 * @errors  as varve_store_query; also VARVE_INVALID_ARGUMENT for another user_id. Sessions of other
 *          users that session_ids names have no entries
 * @cost    as varve_store_query
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_memory_search(varve_memory_t *memory, const char *query_json VARVE_NULLABLE, size_t query_len,
                    varve_results_t **results_out VARVE_OUT_OWNED,
                    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Deletes an entry in every session of the user that has it, as varve_session_delete does. When one
 * of the sessions cannot be read or written, the call fails; the entry may then be deleted in
 * others.
 *
 * @param[in]  memory     open memory.
 * @param[in]  id         entry id.
 * @param[in]  id_len     [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  reason     why, for the audit log, at most 1024 bytes; may be empty. It must not
 *                        contain what is being deleted.
 * @param[in]  reason_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND  no session of the user has such an entry
 *          VARVE_INVALID_ARGUMENT, VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO,
 *          VARVE_CORRUPTION (with "strict"), VARVE_FORMAT_VERSION, VARVE_BAD_HANDLE
 * @cost    a lookup in each session of the user, and one write in those that have it
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_memory_delete(
    varve_memory_t *memory, const char *id, size_t id_len, const char *reason VARVE_NULLABLE,
    size_t reason_len, varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Closes a memory. Its working memory is lost; what was recorded stays.
 *
 * @param[in] memory handle, or NULL.
 * @errors none
 * @thread any
 */
VARVE_API void varve_memory_close(varve_memory_t *memory VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
