/**
 * @file varve/window.h
 * A window: the last messages of a conversation, in memory only.
 *
 * A window holds what an agent has in front of it. Adding is cheap, the oldest message leaves when
 * the window is full, and nothing is written anywhere. A window belongs to no store and starts
 * empty. varve/memory.h puts one in front of every session, with the session's log behind it.
 *
 * A message is a JSON object as chat programs write it, {"role":"user","content":"Hello"}.
 * "content" is required, as varve/memory.h says: any JSON value. "role", when given, is one line of
 * 1 to 64 bytes. "timestamp", when given, is RFC 3339; a message without one gets the time of the
 * system's clock (a window has no store, and so no varve_store_set_clock). Other members are kept
 * as they are.
 */
#ifndef VARVE_WINDOW_H
#define VARVE_WINDOW_H

#include "varve/base.h"
#include "varve/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A window. Any thread. */
typedef struct varve_window varve_window_t;

/**
 * Creates an empty window.
 *
 * @param[in]  capacity   messages that it keeps, 1 or more; memory is allocated as it fills.
 * @param[out] window_out the window; free it with varve_window_free.
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  capacity is 0
 *          VARVE_NO_MEMORY
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_window_new(size_t capacity, varve_window_t **window_out VARVE_OUT_OWNED,
                 varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Adds a message. When the window is full, the oldest message leaves.
 *
 * @param[in]  window     window.
 * @param[in]  entry_json the message, as above.
 * @param[in]  entry_len  [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] error_out  caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  the details name member and byte offset
 *          VARVE_BAD_HANDLE, VARVE_NO_MEMORY
 * @cost    O(entry_len), whatever the capacity
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_window_add(varve_window_t *window, const char *entry_json, size_t entry_len,
                 varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns the newest messages, in the order in which they were added.
 *
 * @param[in]  window       window.
 * @param[in]  n            how many at most; SIZE_MAX for all.
 * @param[out] json_out     a JSON array of messages, each with its "timestamp"; "[]" for an empty
 *                          window.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NO_MEMORY
 * @cost    the bytes of the messages returned
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_window_recent(
    varve_window_t *window, size_t n, char **json_out VARVE_OUT_OWNED VARVE_NULLABLE,
    size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns the window as lines for a prompt, "role: content", oldest first. The second and later
 * lines of a content are indented by two spaces, so that no content passes for another message. A
 * content that is not text is written as JSON, whatever is in it. But beside a role a list of parts
 * is what they say, pictures are told by their kind, "[image_url]", and null is what is refused or
 * in "parts", or else the empty text; calls of tools follow. Without a role, the line begins with
 * the message's "type", if that is one line of 1 to 64 bytes, or else with "entry". Beside a role,
 * a "name" of such a form stands behind it: "user (Ann): content"; for a colon in them that is not
 * between letters or digits stands a semicolon. A message may also be as the log has it,
 * {"type":"message","content":{"role","message"}}.
 *
 * @param[in]  window       window.
 * @param[out] text_out     UTF-8 lines, each with a line end; "" for an empty window.
 * @param[out] text_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE, VARVE_NO_MEMORY
 * @cost    the bytes of the messages
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_window_text(varve_window_t *window, char **text_out VARVE_OUT_OWNED VARVE_NULLABLE,
                  size_t *text_len_out VARVE_OUT VARVE_NULLABLE,
                  varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Removes all messages.
 *
 * @param[in]  window    window.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_BAD_HANDLE
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_window_clear(
    varve_window_t *window, varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns the number of messages; 0 for NULL and for a closed or foreign handle.
 *
 * @param[in] window handle, or NULL.
 * @errors none
 * @thread any
 */
VARVE_API size_t varve_window_size(varve_window_t *window VARVE_NULLABLE);

/**
 * Frees a window.
 *
 * @param[in] window handle, or NULL.
 * @errors none
 * @thread any
 */
VARVE_API void varve_window_free(varve_window_t *window VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
