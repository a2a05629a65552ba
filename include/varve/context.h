/**
 * @file varve/context.h
 * Contexts: the part of a memory that fits into a model's context window.
 *
 * Record a conversation as it happens, and build a context before you ask the model:
 *
 *   varve_context_record(session, "user_message", N, "{\"content\":\"What's the weather?\"}", …);
 *   varve_context_build(session, "{\"question\":\"What's the weather?\",
 *                                  \"budget\":{\"max_tokens\":4000}}", …);
 *
 * A request is a JSON object. Every member is optional:
 *
 *   {"question": "Where did Ann go in May?",
 *    "retrieve": [{"recency": 100}, {"importance": 50},
 *                 {"types": ["tool_call", "tool_result"], "recency": 20}, {"query": {…}}],
 *    "rank": [{"temporal": 0.5}, {"importance": 0.3}, {"match": 0.2}],
 *    "across": {"user_id": "ann"},
 *    "budget": {"max_tokens": 4000, "reserve_tokens": 500},
 *    "keep_together": true, "pinned": ["mem_abc123xyz"], "exclude_ids": [],
 *    "format": "markdown", "now": RFC3339}
 *
 * question        searched for like a query's question; without `retrieve` the newest entries, too
 * retrieve        the union of these retrievals is considered, each entry once
 * rank            the weight of each measure, from 0 to 1e6: time, importance as given, match of
 *                 the words; without rank the match, or the time where nothing is matched
 * across          the question and each query are asked of these sessions of the store, too:
 *                 user_id, agent_id, session_ids as in varve_store_query, of which a session must
 *                 fit all; {} is every session. The newest, the most important and the pinned
 *                 entries are of this session. The text says what is of it: under the heading
 *                 "2026-01-10, this session", in json by the member "session": "this"
 * budget          the text has at most max_tokens - reserve_tokens tokens; by default 4000 and 0
 * keep_together   a tool call and its results are both in or both out; by default true
 * pinned          entries that come first, before anything is ranked; unknown ids are ignored
 * exclude_ids     entries that are never in, of whichever session; unknown ids are ignored
 * format          markdown | chat | json | plain
 *
 * The best entries that fit are returned in the order of time (of one day, with "across", those of
 * this session last). Recalled text stands between marks
 * that say it is data, and nothing in an entry can end them. Deleted and expired entries are never
 * included. docs/context.md has the whole language with examples, and what the default was measured
 * on.
 */
#ifndef VARVE_CONTEXT_H
#define VARVE_CONTEXT_H

#include "varve/base.h"
#include "varve/error.h"
#include "varve/session.h"
#include "varve/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Builds a context.
 *
 * @param[in]  session      open session.
 * @param[in]  request_json as above; NULL or "" for the newest entries within 4000 tokens.
 * @param[in]  request_len  [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] json_out     {"text","items":[{"id","tokens","rank","source"}],"token_count",
 *                          "dropped","truncated"}. items are in the order of the text, with
 *                          "across" each with its "session_id"; source is
 *                          "pinned", "recalled" or "recent"; token_count is of the whole text;
 *                          dropped entries were found but did not fit. When there is room for
 *                          nothing, the text is empty.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  unknown or mistyped member, more tokens reserved than there are:
 *                                  the details name member and byte offset
 *          VARVE_NOT_FOUND         the session was deleted
 *          VARVE_CALLBACK          the token counter reported failure
 *          VARVE_BUSY              the log kept being replaced
 *          VARVE_CORRUPTION, VARVE_FORMAT_VERSION (of vectors), VARVE_BAD_HANDLE, VARVE_IO
 * @cost    a query for each retrieval; reads what may fit and counts its tokens, once: counts are
 *          kept. With "across" the question and each query are queries of varve_store_query, and
 *          sessions that are recalled from are open until the context is built
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_context_build(
    varve_session_t *session, const char *request_json VARVE_NULLABLE, size_t request_len,
    char **json_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Records one step of a conversation as an entry.
 *
 * kind                            payload
 * user_message, assistant_message {"content": "What was said"}
 * tool_call                       {"name": "weather", "arguments": {…}, "call_id": "c1"}
 * tool_result                     {"name": "weather", "result": {…}, "call_id": "c1"}
 * observation, event, summary,    {"content": …} or any members
 * document
 *
 * A payload may be just the content, as a JSON string. id, timestamp, importance, tags,
 * references, relations, trace_id, span_id, expires_at and ttl_seconds become members of the
 * entry, unless they are null, all others its content. A message is of the type "message"; one
 * that calls tools, in "tool_calls" or among the parts of its content, a "tool_call"; one with
 * results among its parts a "tool_result" that refers to their calls, as an imported one does. A
 * call_id is a string, or null for none. A tool_result gets a reference to its call: the last one
 * with its call_id, or without one, unless its references name a call, the last one with its
 * tool_call_id, or else the last one of its name that has no result. An id is also that of a call
 * in a message, among the latest hundred calls. Required: for a message its content, or "message"
 * or "text", or what it calls or refuses in "tool_calls", "function_call", "parts" or "refusal";
 * for a call its name; for a result its name or call_id; for the others any member.
 *
 * @param[in]  session      open session.
 * @param[in]  kind         one of the above.
 * @param[in]  kind_len     [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  payload_json as above.
 * @param[in]  payload_len  [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] id_out       the entry's id; may be NULL.
 * @param[out] id_len_out   [bytes]; may be NULL.
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  unknown kind, or a payload without what its kind requires
 *          VARVE_ALREADY_EXISTS, VARVE_SIZE_LIMIT, VARVE_NOT_FOUND (session deleted), VARVE_BUSY,
 *          VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_CORRUPTION (as varve_session_add),
 *          VARVE_BAD_HANDLE
 * @cost    as varve_session_add; for a tool_result also a query for its call
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_context_record(
    varve_session_t *session, const char *kind, size_t kind_len, const char *payload_json,
    size_t payload_len, char **id_out VARVE_OUT_OWNED VARVE_NULLABLE,
    size_t *id_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
