/**
 * @file varve/transcript.h
 * The turns of a conversation, in order, to be shown to the model again.
 *
 * A session shows at most as many of its latest turns as its cap says (transcript_cap of
 * varve_session_create, else storage.transcript_cap, 500). The turns are in transcript.md
 * (docs/format.md#transcript.md), which people can read and several processes may append to at
 * once. In a session created without "transcript" among its stores these functions return
 * VARVE_UNSUPPORTED. docs/stores.md has examples.
 */
#ifndef VARVE_TRANSCRIPT_H
#define VARVE_TRANSCRIPT_H

#include "varve/base.h"
#include "varve/error.h"
#include "varve/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Appends a turn with the current time, as durable as the session's durability says. With a cap of
 * 0 nothing is kept, which is not an error.
 *
 * @param[in]  session     open session.
 * @param[in]  role        who said it: 1 to 128 bytes of UTF-8 without control characters of
 *                         ASCII and without blanks at either end; "user", "assistant", a name.
 * @param[in]  role_len    [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  content     any UTF-8 text, NULs included; it is returned unchanged.
 * @param[in]  content_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] error_out   caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  a malformed role, text that is not UTF-8
 *          VARVE_SIZE_LIMIT        content above storage.max_entry_size_bytes; a full session; a
 *                                  transcript.md above 64 MiB, now or with this turn
 *          VARVE_UNSUPPORTED       the session has no "transcript"
 *          VARVE_NOT_FOUND         the session was deleted
 *          VARVE_READ_ONLY, VARVE_BUSY, VARVE_NO_SPACE, VARVE_IO
 * @cost    one write at the end of the file and, with "commit", one sync. The first append with a
 *          handle also reads the file; it is rewritten when turns beyond the cap have gathered
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_transcript_append(
    varve_session_t *session, const char *role, size_t role_len, const char *content,
    size_t content_len, varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns the last `n` turns, oldest first, or all when there are fewer:
 * [{"content","role","timestamp"}].
 *
 * @param[in]  session      open session.
 * @param[in]  n            how many; SIZE_MAX for all.
 * @param[out] json_out     the array.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_UNSUPPORTED  the session has no "transcript"
 *          VARVE_NOT_FOUND    the session was deleted
 *          VARVE_BUSY         the transcript kept being replaced
 *          VARVE_SIZE_LIMIT (a transcript.md above 64 MiB), VARVE_IO
 * @cost    reads the end of the file, as far back as the turns reach; takes no lock
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_transcript_last(
    varve_session_t *session, size_t n, char **json_out VARVE_OUT_OWNED VARVE_NULLABLE,
    size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
