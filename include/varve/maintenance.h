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
 * Verifies a session: reads every byte of its log, tombstones, vectors, kv.json and transcript.md
 * and checks every line, checksum, sequence number, reference, vector and index entry. Changes
 * nothing.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {"deep":false}. deep: also compares the tags,
 *                            references, content and words in the index with the log, list by
 *                            list.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"ok","entries","deleted","damaged","problems":[{"file","offset",
 *                            "length","reason"}],"problems_total","notes":[{"file","offset","id",
 *                            "target","reason"}],"notes_total","checked_bytes","last_seq",
 *                            "vectors":{"dimension","records","entries","damaged"}}.
 *                            "entries" are not deleted, expired ones included; "deleted" counts
 *                            deletions, "checked_bytes" those of log and tombstones.
 *                            "problems" and "notes" hold the first 1000. A note is not damage: the
 *                            entry "id" refers to "target", which was deleted or does not exist;
 *                            or, both empty, metadata.json has a member that may have no effect.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NOT_FOUND, VARVE_INVALID_ARGUMENT, VARVE_IO, VARVE_CALLBACK;
 *          damage is in the report, not an error
 *          VARVE_BUSY    the last line is incomplete, and a writer that may be writing it held the
 *                        lock for longer than "lock_timeout_ms"; or the log kept being replaced
 * @cost    reads the whole log; O(log). With "deep" also the memory for another index, and the time
 *          to build it
 * @thread  any; writers and readers continue meanwhile
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_verify(varve_session_t *session, const char *options_json VARVE_NULLABLE,
                     size_t options_len, char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                     size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                     varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Repairs a damaged session: damaged lines and a torn tail move to quarantine.jsonl exactly as they
 * were, intact lines stay byte for byte, missing sequence numbers and deletions are accepted as
 * lost, and numbers out of order as they are. Where lines move, the log is replaced in one atomic
 * step, in a new generation. Without damage nothing is changed.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {"dry_run":false,"accept_edits":false}. dry_run: only
 *                            report.
 *                            accept_edits: lines that are entries except for their checksum get a
 *                            new one and stay, with their id and seq, where those still fit.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"entries","quarantined","resealed","missing","bytes_before",
 *                            "bytes_after","metadata_lost","changed"}. missing: entries, and
 *                            deletions that were durable. bytes: of log and tombstones.
 *                            metadata_lost: metadata.json was lost or could not be read, and is
 *                            recreated.
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
 * Rewrites the log without deleted and expired entries, which nobody may read any more. Damaged
 * lines move to quarantine. The audit lines of tombstones.jsonl stay, and deleted ids stay used
 * (ids of expired and evicted entries are free again). The log is replaced in one atomic step, in a
 * new generation; readers in every process continue undisturbed.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {"dry_run":false,"evict_below":0}. dry_run: only report
 *                            what would go. evict_below: live entries of a relevance below this
 *                            (0 to 2) go, too, except those of types that do not decay, those with
 *                            the tag `pinned`, and those that a live entry refers to.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"entries_before","entries_after","bytes_before","bytes_after",
 *                            "dropped":{"deleted","expired","evicted","damaged"},"changed",
 *                            "duration_ms","vectors_before","vectors_after"}. The figures before
 *                            include deleted and expired entries; bytes are of memory.jsonl.
 *                            changed: the log was rewritten; a purge always does that. vectors: of
 *                            vectors.bin; absent when there is none, and in a dry run.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_INVALID_ARGUMENT,
 *          VARVE_NOT_FOUND, VARVE_CORRUPTION (a line changed on disk since it was indexed); after
 *          any failure the old log is there as it was
 * @cost    reads the log once, writes what stays, rebuilds the index; adds wait meanwhile
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_compact(varve_session_t *session, const char *options_json VARVE_NULLABLE,
                      size_t options_len, char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                      size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                      varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Erases deleted and expired entries for good: when this returns VARVE_OK, no byte of their content
 * or their vectors is in any file of the session: log, index (its words too), vectors.bin,
 * quarantine, temporary files. docs/privacy.md names what is out of reach (backups, exports, disk
 * blocks, processes that are stopped). Damaged lines are erased as well, and with them
 * quarantine.jsonl: nobody can say whose words are in them. To keep what can be saved of them, run
 * varve_session_repair first.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {"dry_run":false}. dry_run: only report what would go.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     as varve_session_compact.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  as varve_session_compact; VARVE_FORMAT_VERSION when vectors.bin is of a newer version;
 *          VARVE_SIZE_LIMIT when kv.json or transcript.md has more than 64 MiB.
 *          After a failure call this again: until it returns VARVE_OK nothing is promised
 * @cost    as varve_session_compact, and indexes the words of all entries again
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_purge(varve_session_t *session, const char *options_json VARVE_NULLABLE,
                    size_t options_len, char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                    size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Rewrites a log of an earlier format version as one of this version, in one atomic step: ids,
 * order and unknown members stay, every line becomes canonical, with seq and checksum, and what is
 * not an entry moves to quarantine.jsonl. Reading never migrates; the first write to the session
 * does. A log of this version is left as it is.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {"dry_run":false}. dry_run: only report.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"from","to","changed","entries","quarantined"}. from: the log's
 *                            version before; quarantined: stretches of the log that are no entries.
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
 * Rebuilds the index from the log, with all words, and saves it. The old index is used until then:
 * other threads continue meanwhile, and what they add or delete is in the new index. If the call
 * fails, the old index stays in use. Where only index.bin cannot be written, as beside another
 * writer, without permission or room, it does not fail: this session has the new index, and the
 * "index":{"covered_bytes"} of varve_session_stats is 0.
 *
 * @param[in]  session        open session.
 * @param[in]  options_json   NULL, empty or {}: there are no options yet.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"entries","duration_ms"}.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NOT_FOUND, VARVE_IO, VARVE_INVALID_ARGUMENT, VARVE_BUSY (the log
 *          kept being replaced)
 * @cost    reads the whole log, once; O(log). Memory for both indexes. With `threads` above 1 in
 *          the configuration a second thread counts words, and ends before the call returns.
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_rebuild_index(varve_session_t *session, const char *options_json VARVE_NULLABLE,
                            size_t options_len, char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                            size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                            varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns the index in readable form: {"version","last_updated","entries":{ID:{"line_number",
 * "byte_offset","type","timestamp","tags","importance","current_relevance"}},"tags":{TAG:[ID]},
 * "types":{TYPE:[ID]}}. current_relevance is the relevance without words at "last_updated", which
 * is the time of the call.
 *
 * @param[in]  session      open session.
 * @param[out] json_out     the object, indented.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NOT_FOUND, VARVE_IO, VARVE_BUSY (the log kept being replaced)
 * @cost    reads the whole log; O(log)
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_index(varve_session_t *session, char **json_out VARVE_OUT_OWNED VARVE_NULLABLE,
                    size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
                    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns all entries that are neither deleted nor expired, in the order of the log, as of one
 * moment; with a query, only those that match.
 *
 * @param[in]  session      open session.
 * @param[in]  format       "jsonl" (the lines as stored), "json" (an object {"entries","session"}
 *                          with entries and metadata) or "markdown" (for people); or an object
 *                          {"format","query"} as for varve_session_export_file, in which the format
 *                          may be left out.
 * @param[in]  format_len   [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] text_out     the text.
 * @param[out] text_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT (unknown format, bad query), VARVE_BAD_HANDLE, VARVE_NOT_FOUND,
 *          VARVE_IO, VARVE_NO_MEMORY, VARVE_CALLBACK, VARVE_CORRUPTION (a line changed on disk
 *          since it was indexed), VARVE_BUSY (the log kept being replaced)
 * @cost    reads the whole log; O(log)
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_session_export(
    varve_session_t *session, const char *format, size_t format_len,
    char **text_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *text_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Adds entries from a text: every valid one, whatever the others are. The format is recognised by
 * what is there (docs/export-import.md): entries as JSON lines or a JSON array, an export as JSON,
 * lines of a memory server (Model Context Protocol), messages of a chat. An entry that is there
 * already is not added again; an id that belongs to another entry, or was deleted, is refused.
 * Entries that name another session become this session's; a line whose checksum does not match is
 * refused. Not atomic: what was added before a failure stays.
 *
 * @param[in]  session        open session.
 * @param[in]  jsonl          the text; blank lines, CRLF and a byte order mark are fine.
 * @param[in]  jsonl_len      [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     {"added","existing","refused":[{"line","reason"}],"refused_total",
 *                            "format"}. "refused" holds the first 1000, by line; in an array,
 *                            "line" is where the element begins. "format" is what was found.
 *                            Where the session compacted itself meanwhile and dropped live
 *                            entries, also of those added, "evicted" says how many.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL.
 *
 * @errors  VARVE_BUSY, VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO, VARVE_SIZE_LIMIT (session full),
 *          VARVE_NOT_FOUND, VARVE_INVALID_ARGUMENT (no text: NULL with a length), VARVE_CORRUPTION
 *          (as varve_session_add), VARVE_CALLBACK
 * @cost    one write and one fdatasync for every few hundred lines
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_import(varve_session_t *session, const char *jsonl, size_t jsonl_len,
                     char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                     size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                     varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Writes what varve_session_export returns into a file outside the store, piece by piece: memory
 * does not grow with the size of the entries. The file gets its name when it is whole and durable;
 * a failure or a crash leaves what was there before, or nothing. Only its owner may read it. After
 * a crash a temporary file PATH.tmp-* may be left.
 *
 * @param[in]  session        open session.
 * @param[in]  path           file to write; its directory must exist. UTF-8.
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
 * @errors  VARVE_INVALID_ARGUMENT (also: the path is among the store's own files),
 *          VARVE_ALREADY_EXISTS (the file exists, without "overwrite"),
 *          VARVE_NOT_FOUND (no such directory or session), VARVE_READ_ONLY, VARVE_NO_SPACE,
 *          VARVE_IO (also: the path is a directory), VARVE_CALLBACK, VARVE_CORRUPTION and
 *          VARVE_BUSY as varve_session_export
 * @cost    reads the whole log, or what the query finds; writes it once, with one fsync
 * @thread  any; writers and readers continue meanwhile
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_session_export_file(varve_session_t *session, const char *path, size_t path_len,
                          const char *options_json VARVE_NULLABLE, size_t options_len,
                          char **report_out VARVE_OUT_OWNED VARVE_NULLABLE,
                          size_t *report_len_out VARVE_OUT VARVE_NULLABLE,
                          varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Adds entries from a file outside the store as varve_session_import does from a text, piece by
 * piece: memory does not grow with the size of the file.
 *
 * @param[in]  session        open session.
 * @param[in]  path           a regular file; links are followed. UTF-8.
 * @param[in]  path_len       [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  options_json   NULL, empty or {"format":"auto"|"jsonl"|"json"|"mcp"|"chat" (auto),
 *                            "dry_run":false}. With "dry_run" nothing is written, and the report
 *                            says what would be. It then has "exceeds_limit":true, if all of it
 *                            does not fit into the size limits without a compaction.
 * @param[in]  options_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] report_out     as varve_session_import.
 * @param[out] report_len_out [bytes].
 * @param[out] error_out      caller frees; may be NULL. "line" in its details is the first entry
 *                            that was not added.
 *
 * @errors  VARVE_INVALID_ARGUMENT, VARVE_NOT_FOUND (no such file or session), VARVE_BUSY,
 *          VARVE_READ_ONLY, VARVE_NO_SPACE, VARVE_IO (also: a directory or a pipe),
 *          VARVE_SIZE_LIMIT (session full), VARVE_CALLBACK, VARVE_CORRUPTION (as varve_session_add)
 * @cost    one write and one fdatasync for every few hundred lines; with "dry_run" memory grows by
 *          some bytes for each entry
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
