/**
 * @file varve/maintenance.h
 * Looking after a session: compact, purge, verify, repair, migrate, rebuild, export, import.
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
 * Reads every byte of the session's log, tombstones and vectors and checks every line, checksum,
 * sequence number, reference, vector and index entry. Changes nothing.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {"deep":true}: also compares what the index knows of
 *                            tags, references, content and words with the log, list by list.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"ok","entries","deleted","damaged","problems":[{"file","offset",
 *                            "length","reason"}],"problems_total","notes":[{"file","offset","id",
 *                            "target","reason"}],"notes_total","checked_bytes","last_seq",
 *                            "vectors":{"dimension","records","entries","damaged"}}.
 *                            "problems" and "notes" hold the first 1000. A note is no damage: entry
 *                            "id" refers to "target", which was deleted or is not there.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NOT_FOUND, VARVE_INVALID_ARGUMENT, VARVE_IO, VARVE_CALLBACK;
 *          damage is in the report, not an error
 *          VARVE_BUSY    the last line is not whole, and a writer held the lock for longer than
 *                        "lock_timeout_ms": it may be writing it; or the log was replaced over and
 *                        over
 * @cost    reads the whole log; O(log). With "deep" also memory for another index, and the time of
 *          making it
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
 * @param[in]  options_json   NULL, empty or {"dry_run","accept_edits"}. dry_run: report only.
 *                            accept_edits: lines that are entries in all but their checksum get a
 *                            new one and stay, with their id and seq, where those still fit.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"entries","quarantined","resealed","missing","bytes_before",
 *                            "bytes_after","metadata_lost","changed"}. metadata_lost: metadata.json
 *                            was lost, or could not be read, and is made anew.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_INVALID_ARGUMENT,
 *          VARVE_NOT_FOUND
 * @cost    reads the whole log, and writes it once when there is damage
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_repair(varve_session_t *session, const char *options_json VARVE_NULLABLE,
                     size_t options_len, char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                     size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                     varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Writes the log anew without what nobody may read any more: deleted and expired entries. Damaged
 * lines move to quarantine. The audit lines of tombstones.jsonl stay, and deleted ids stay used
 * (ids of expired and evicted entries are free again). The log is replaced in one atomic step, in a
 * new generation; readers in any process go on undisturbed.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {"dry_run":true: only tell what would go,
 *                            "evict_below":R: live entries of a relevance below R (0 to 2) go too,
 *                            but for those of types that do not decay, those with the tag `pinned`,
 *                            and those that a live entry refers to; default 0, none}.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"entries_before","entries_after","bytes_before","bytes_after",
 *                            "dropped":{"deleted","expired","evicted","damaged"},"changed",
 *                            "duration_ms"}. Before: with the deleted and expired entries. Bytes:
 *                            of memory.jsonl. changed: the log was written anew; a purge always
 *                            does that.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_INVALID_ARGUMENT,
 *          VARVE_NOT_FOUND, VARVE_CORRUPTION (a line changed on the disk since it was indexed);
 *          whatever fails, the old log is there as it was
 * @cost    reads the log once, writes what stays, makes the index anew; adds wait meanwhile
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_compact(varve_session_t *session, const char *options_json VARVE_NULLABLE,
                      size_t options_len, char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                      size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                      varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Makes deleted and expired entries gone for good: when this answers VARVE_OK, no byte of their
 * content, and of their vectors, is in any file of the session: log, index (its words too),
 * vectors.bin, quarantine, temporary files.
 * What is out of reach (backups, exports, disk blocks, processes that are stopped) is told in
 * docs/privacy.md. Damaged lines go for good as well, and with them quarantine.jsonl: nobody can
 * say whose words are in them. To keep what can be saved of them, run varve_session_repair first.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {"dry_run":true}: only tell what would go.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     as varve_session_compact.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  as varve_session_compact; VARVE_FORMAT_VERSION when vectors.bin is of a newer version.
 *          After a failure call it again: until it answers VARVE_OK nothing is promised
 * @cost    as varve_session_compact, and the words of all entries are indexed anew
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_purge(varve_session_t *session, const char *options_json VARVE_NULLABLE,
                    size_t options_len, char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                    size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Rewrites the log of an earlier format version as one of this version, in one atomic step: ids,
 * order and unknown members stay; every line becomes canonical, with seq and checksum; what is no
 * entry moves to quarantine.jsonl. Reading never does this; the first write to the session does it
 * by itself. A log of this version is left as it is.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {"dry_run":true}: report only.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"from","to","changed","entries","quarantined"}. from: the version the
 *                            log was of; quarantined: stretches of the log that are no entries.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_INVALID_ARGUMENT,
 *          VARVE_NOT_FOUND, VARVE_FORMAT_VERSION (of a newer version; untouched)
 * @cost    reads the whole log, and writes it once when it is of an earlier version
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_migrate(varve_session_t *session, const char *options_json VARVE_NULLABLE,
                      size_t options_len, char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                      size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                      varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Builds the index anew from the log, with all words, and saves it. The one in use stays until
 * then: other threads go on meanwhile, and what they add or delete is in the new one. A call that
 * fails leaves it in use.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {}: there are none yet.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"entries","duration_ms"}.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NOT_FOUND, VARVE_IO, VARVE_INVALID_ARGUMENT, VARVE_BUSY (the log
 *          was replaced over and over meanwhile)
 * @cost    reads the whole log, once; O(log). Memory for both indexes. With `threads` above 1 in
 *          the configuration a second thread counts words, and has ended when the call answers.
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
 * @errors  VARVE_BAD_HANDLE, VARVE_NOT_FOUND, VARVE_IO, VARVE_BUSY (the log was replaced over and
 *          over meanwhile)
 * @cost    reads the whole log; O(log)
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_index(varve_session_t *session, char **json_out VARVE_OUT_OWNED VARVE_NULLABLE,
                    size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
                    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Gives all entries that are neither deleted nor expired, in the order of the log, as of one
 * moment; or, with a query, those of them that match.
 *
 * @param[in]  session      open session.
 * @param[in]  format       "jsonl" (the lines as stored), "json" (an object {"entries","session"}
 *                          with entries and metadata) or "markdown" (for people); or an object
 *                          {"format","query"}, see varve_session_export_file, where the format
 *                          may be left out.
 * @param[in]  format_len   [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] text_out     the text.
 * @param[out] text_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT (unknown format, bad query), VARVE_BAD_HANDLE, VARVE_NOT_FOUND,
 *          VARVE_IO, VARVE_NO_MEMORY, VARVE_CALLBACK, VARVE_CORRUPTION (a line changed on the disk
 *          since it was indexed), VARVE_BUSY (the log was replaced over and over meanwhile)
 * @cost    reads the whole log; O(log)
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_export(
    varve_session_t *session, const char *format, size_t format_len,
    char **text_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *text_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Adds entries from a text: each that is good, whatever the others are. The form is told by what is
 * there (docs/export-import.md): entries as JSON lines or a JSON array, an export as JSON, lines of
 * a memory server (Model Context Protocol), messages of a chat. An entry that is there already is
 * not added again; an id that is another entry's, or was deleted, is refused. Entries that name
 * another session become this session's; a line that carries a checksum which does not match is
 * refused. Not atomic: what was added stays.
 *
 * @param[in]  session        open session.
 * @param[in]  jsonl          the text; blank lines, CRLF and a byte order mark are fine.
 * @param[in]  jsonl_len      [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"added","existing","refused":[{"line","reason"}],"refused_total",
 *                            "format"}. "refused" holds the first 1000, by line; of an array,
 *                            "line" is where the element begins. "format" is what was found.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_SIZE_LIMIT (session full),
 *          VARVE_NOT_FOUND, VARVE_INVALID_ARGUMENT (no text: NULL with a length), VARVE_CORRUPTION
 *          (as varve_session_add), VARVE_CALLBACK
 * @cost    one write and one fdatasync per few hundred lines
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_import(varve_session_t *session, const char *jsonl, size_t jsonl_len,
                     char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                     size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                     varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Writes what varve_session_export gives into a file outside the store, piece by piece: memory does
 * not grow with the size of the entries. The file gets its name when it is whole and durable; a
 * failure or a crash leaves what was there before, or nothing. Only its owner may read it. After a
 * crash a temporary file PATH.tmp-* may be left.
 *
 * @param[in]  session        open session.
 * @param[in]  path           file to make; its directory must exist. UTF-8.
 * @param[in]  path_len       [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  options_json   NULL, empty or {"format":"jsonl"|"json"|"markdown" (jsonl),
 *                            "query":{conditions of varve/query.h},"overwrite":false}. With a query
 *                            the entries still come in the order of the log; "sort_by", "order",
 *                            "limit", "after" and "explain" are refused, as by
 *                            varve_session_count. With "overwrite" an existing file is replaced.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"entries","bytes","format"}.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT, VARVE_ALREADY_EXISTS (there is a file and no "overwrite"),
 *          VARVE_NOT_FOUND (no such directory or session), VARVE_READ_ONLY, VARVE_NO_SPACE,
 *          VARVE_IO (a directory is there, too), VARVE_CALLBACK, VARVE_CORRUPTION and VARVE_BUSY as
 *          varve_session_export
 * @cost    reads the whole log, or what the query finds; writes it once, with one fsync
 * @thread  any; writers and readers go on
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_export_file(varve_session_t *session, const char *path, size_t path_len,
                          const char *options_json VARVE_NULLABLE, size_t options_len,
                          char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                          size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                          varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Adds entries from a file outside the store, as varve_session_import does from a text, piece by
 * piece: memory does not grow with the size of the file.
 *
 * @param[in]  session        open session.
 * @param[in]  path           a regular file; links are followed. UTF-8.
 * @param[in]  path_len       [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  options_json   NULL, empty or {"format":"auto"|"jsonl"|"json"|"mcp"|"chat" (auto),
 *                            "dry_run":false}. With "dry_run" nothing is written, and the report
 *                            says what would be (unless the session gets full).
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     as of varve_session_import.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL. "line" in its details: the first entry that
 *                            was not added.
 *
 * @errors  VARVE_INVALID_ARGUMENT, VARVE_NOT_FOUND (no such file or session), VARVE_BUSY,
 *          VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO (a directory or a pipe, too),
 *          VARVE_SIZE_LIMIT (session full), VARVE_CALLBACK, VARVE_CORRUPTION (as varve_session_add)
 * @cost    one write and one fdatasync per few hundred lines; with "dry_run" memory grows by some
 *          bytes for each entry
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_import_file(varve_session_t *session, const char *path, size_t path_len,
                          const char *options_json VARVE_NULLABLE, size_t options_len,
                          char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                          size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                          varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
