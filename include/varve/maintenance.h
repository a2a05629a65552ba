/**
 * @file varve/maintenance.h
 * Looking after a session: verify, repair, rebuild, export, import.
 */
#ifndef VARVE_MAINTENANCE_H
#define VARVE_MAINTENANCE_H

#include "varve/base.h"
#include "varve/error.h"
#include "varve/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Reads every byte of the session's log and tombstones and checks every line, checksum, sequence
 * number and index entry. Changes nothing.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {}: there are none yet.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"ok","entries","deleted","damaged","problems":[{"file","offset",
 *                            "length","reason"}],"problems_total","checked_bytes","last_seq"}.
 *                            "problems" holds the first 1000.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NOT_FOUND, VARVE_IO; damage is in the report, not an error
 * @cost    reads the whole log; O(log)
 * @thread  any; writers and readers go on
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_verify(varve_session_t *session, const char *options_json VARVE_NULLABLE,
                     size_t options_len, char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                     size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                     varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Makes a damaged session whole: damaged lines and a torn tail move to quarantine.jsonl exactly as
 * they were, intact lines stay byte for byte, missing sequence numbers are accepted as gone. The
 * log is replaced in one atomic step, in a new generation. Without damage nothing is changed.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {"dry_run":true}: report only.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"entries","quarantined","missing","bytes_before","bytes_after",
 *                            "changed"}.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_INVALID_ARGUMENT
 * @cost    reads the whole log, and writes it once when there is damage
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_repair(varve_session_t *session, const char *options_json VARVE_NULLABLE,
                     size_t options_len, char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                     size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                     varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Throws the index away, builds it anew from the log and saves it.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {}: there are none yet.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"entries","duration_ms"}.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NOT_FOUND, VARVE_IO, VARVE_INVALID_ARGUMENT
 * @cost    reads the whole log; O(log)
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_rebuild_index(varve_session_t *session, const char *options_json VARVE_NULLABLE,
                            size_t options_len, char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                            size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                            varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * The index as a person can read it: {"version","last_updated","entries":{ID:{"line_number",
 * "byte_offset","type","timestamp","tags","importance"}},"tags":{TAG:[ID]},"types":{TYPE:[ID]}}.
 *
 * @param[in]  session      open session.
 * @param[out] json_out     the object, indented.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NOT_FOUND, VARVE_IO
 * @cost    reads the whole log; O(log)
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_index(varve_session_t *session, char **json_out VARVE_OUT_OWNED VARVE_NULLABLE,
                    size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
                    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Gives all entries that are neither deleted nor expired, in the order of the log.
 *
 * @param[in]  session      open session.
 * @param[in]  format       "jsonl" (the lines as stored), "json" (an object {"session","entries"}
 *                          with metadata and entries) or "markdown" (for people).
 * @param[in]  format_len   [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] text_out     the text.
 * @param[out] text_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT (unknown format), VARVE_BAD_HANDLE, VARVE_NOT_FOUND, VARVE_IO,
 *          VARVE_NO_MEMORY
 * @cost    reads the whole log; O(log)
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_export(
    varve_session_t *session, const char *format, size_t format_len,
    char **text_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *text_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Adds entries from JSON lines: each line that is good, whatever the others are. Importing lines
 * that carry an id again adds nothing. Entries that name another session become this session's; a
 * line that carries a checksum which does not match is refused. Not atomic: what was added stays.
 *
 * @param[in]  session        open session.
 * @param[in]  jsonl          entries, one a line; blank lines and CRLF are fine.
 * @param[in]  jsonl_len      [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"added","existing","refused":[{"line","reason"}],"refused_total"}.
 *                            "refused" holds the first 1000.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_SIZE_LIMIT (session full)
 * @cost    one write and one fdatasync per few hundred lines
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_import(varve_session_t *session, const char *jsonl, size_t jsonl_len,
                     char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                     size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                     varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
