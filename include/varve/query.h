/**
 * @file varve/query.h
 * Finding memories by words, tag, type, time, reference, and by relevance that decays.
 *
 * A query is a JSON object. Every member is optional, and all combine by AND. An empty list, object
 * or text is no condition, except where it is refused: by varve_session_delete_where, of members
 * that select sessions in varve_store_query, and as a vector, a time, a cursor or an order:
 *
 *   {"text": "oauth* \"authorization code\" -implicit",
 *    "types": ["decision", "finding"],
 *    "tags": {"include": ["security"], "exclude": ["deprecated"], "match": "any"},
 *    "time": {"start": "2026-01-01T00:00:00Z", "end": "2026-01-10T00:00:00Z", "last": "7d"},
 *    "vector": [0.1, -0.7], "vector_weight": 0.5,
 *    "min_importance": 0.7, "min_relevance": 0.05,
 *    "references": ["mem_abc123xyz"], "relation": "caused_by", "max_depth": 2,
 *    "ids": [], "trace_id": "", "content": {"role": "user"},
 *    "sort_by": "best", "order": "desc", "limit": 10, "after": CURSOR, "now": RFC3339,
 *    "explain": false}
 *
 * text            words (ranked; any may match), "phrases", +must, -not, wildcards * and ?
 * question        instead of text, what a person asks: words and "phrases"; in "what does
 *                 docker run -p do?" the signs say nothing
 * vector          an embedding of the question: finds entries that have a vector
 *                 (varve_session_put_vector), by cosine; with text both orders are merged by
 *                 reciprocal rank fusion, where the vector counts for vector_weight (0.5) of 1,
 *                 but of entries that have none words alone decide
 * tags            the entry's tag or one above it: security finds security.authentication
 * time            start <= timestamp < end; last: s, m, h, d or w back from now
 * references      entries reached from these ids, outwards and inwards, within max_depth (1; at
 *                 most 64) steps
 * relation        only along relations of this name; "references" is the plain member
 * content         scalar members of content that must be equal
 * sort_by         best | relevance | match | time | importance; "best" when there is text, a
 *                 question or a vector, else "relevance". Ties by time, then by position in the log
 * limit           100 by default; 0 gives none
 * after           the "next" of the previous page
 * now             the moment that ages are counted to; by default the store's clock. What has
 *                 expired by either is not found
 *
 * Deleted and expired entries are never found. docs/query.md has the whole language with examples;
 * docs/retrieval.md has the formulas of relevance and "best" and what they were measured on.
 */
#ifndef VARVE_QUERY_H
#define VARVE_QUERY_H

#include "varve/base.h"
#include "varve/error.h"
#include "varve/session.h"
#include "varve/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Finds entries of one session.
 *
 * @param[in]  session     open session.
 * @param[in]  query_json  as above; NULL or "" for all entries by relevance.
 * @param[in]  query_len   [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] results_out the results, in order; free them with varve_results_free. Not NULL.
 * @param[out] error_out   caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  unknown or mistyped member, contradictory range, cursor of
 *                                  another query: the details name member and byte offset; a vector
 *                                  of another dimension than the session's
 *          VARVE_CORRUPTION        with a vector: the head of vectors.bin is damaged
 *          VARVE_FORMAT_VERSION    with a vector: vectors.bin is of a newer version
 *          VARVE_NOT_FOUND         the session was deleted
 *          VARVE_BUSY              the log kept being replaced
 *          VARVE_BAD_HANDLE, VARVE_IO
 * @cost    grows with the postings read and the limit, not with the log; one read of the bytes of
 *          each result. A phrase reads every entry that has all its words. The first query of a
 *          session loads tags, references and content members, the first with text the words, the
 *          first with a vector the vectors (docs/query.md#what-it-costs). A vector is compared with
 *          all vectors of the session.
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_query(varve_session_t *session, const char *query_json VARVE_NULLABLE,
                    size_t query_len, varve_results_t **results_out VARVE_OUT_OWNED,
                    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Counts the entries that a query finds, on all its pages.
 *
 * @param[in]  session    open session.
 * @param[in]  query_json as above. sort_by, order, limit, after, explain and a vector are checked,
 *                        and have no say in what is counted. NULL or "" for all.
 * @param[in]  query_len  [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] count_out  how many; may be NULL.
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  as varve_session_query without a vector
 * @cost    grows with the number of rows of the smallest condition; reads entries only for phrases
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_count(varve_session_t *session, const char *query_json VARVE_NULLABLE,
                    size_t query_len, uint64_t *count_out VARVE_OUT VARVE_NULLABLE,
                    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Lists every tag of the session's entries, and the tags above it in the hierarchy, by name:
 * {"tags":[{"tag":"security","entries":3},{"tag":"security.authentication","entries":2}]}.
 *
 * @param[in]  session      open session.
 * @param[out] json_out     the tags; "entries" counts the entries that the tag finds.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND (session deleted), VARVE_BUSY, VARVE_BAD_HANDLE, VARVE_IO
 * @cost    grows with the number of tags on entries
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_tags(varve_session_t *session, char **json_out VARVE_OUT_OWNED VARVE_NULLABLE,
                   size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
                   varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns the number of results; 0 for NULL and for a closed or foreign handle.
 *
 * @param[in] results handle, or NULL.
 * @errors none
 * @thread one thread at a time per results
 */
VARVE_API size_t varve_results_count(const varve_results_t *results VARVE_NULLABLE);

/**
 * Returns one result's entry as it is stored. Borrowed: lives until varve_results_free.
 *
 * @param[in]  results      results of a query.
 * @param[in]  index        0 for the first.
 * @param[out] json_out     the entry.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  index is not below varve_results_count
 *          VARVE_BAD_HANDLE
 * @thread  one thread at a time per results
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_results_entry(const varve_results_t *results, size_t index,
                    const char **json_out VARVE_OUT_BORROWED VARVE_NULLABLE,
                    size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
                    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns one result's relevance: importance, decay, recency and match together, 0 to 1.5.
 *
 * @param[in]  results       results of a query.
 * @param[in]  index         0 for the first.
 * @param[out] relevance_out the relevance; may be NULL.
 * @param[out] error_out     caller frees; may be NULL.
 *
 * @errors  as varve_results_entry
 * @thread  one thread at a time per results
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_results_score(
    const varve_results_t *results, size_t index, double *relevance_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns the cursor for "after", by which the same query gives the next page; empty on the last
 * page. It has no character that JSON escapes. Borrowed: lives until varve_results_free.
 *
 * @param[in]  results    results of a query.
 * @param[out] cursor_out the cursor.
 * @param[out] cursor_len_out [bytes] 0: there is no next page.
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE
 * @thread  one thread at a time per results
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_results_next(
    const varve_results_t *results, const char **cursor_out VARVE_OUT_BORROWED VARVE_NULLABLE,
    size_t *cursor_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns all results at once:
 * {"results":[{"entry":{...},"session_id","relevance","decay_factor","match_quality"}],"next"},
 * where "next" is the cursor for "after", or null on the last page. With "explain", every result
 * and the whole answer also have an "explain" (docs/query.md#explain). Borrowed: lives until
 * varve_results_free.
 *
 * @param[in]  results      results of a query.
 * @param[out] json_out     the results.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NO_MEMORY
 * @thread  one thread at a time per results
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_results_json(
    const varve_results_t *results, const char **json_out VARVE_OUT_BORROWED VARVE_NULLABLE,
    size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Frees results. They do not depend on the session or the store, which may be closed earlier.
 *
 * @param[in] results handle, or NULL.
 * @errors none
 * @thread one thread at a time per results
 */
VARVE_API void varve_results_free(varve_results_t *results VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
