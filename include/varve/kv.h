/**
 * @file varve/kv.h
 * Small facts by key: the user's name, the topic, the agent's working memory.
 *
 * A session keeps at most as many keys as its cap says (kv_cap of varve_session_create, else
 * storage.kv_cap, 200): setting one more drops the key that was set longest ago. Setting an
 * existing key moves it to the end. The keys are in kv.json (docs/format.md#kv.json), which several
 * processes may use at once. In a session created without "kv" among its stores these functions
 * return VARVE_UNSUPPORTED. docs/stores.md has examples.
 */
#ifndef VARVE_KV_H
#define VARVE_KV_H

#include "varve/base.h"
#include "varve/error.h"
#include "varve/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sets a key. With a cap of 0 nothing is kept, which is not an error.
 *
 * @param[in]  session   open session.
 * @param[in]  key       any UTF-8 text of 1 to 1024 bytes.
 * @param[in]  key_len   [bytes] or VARVE_NUL_TERMINATED.
 * @param[in]  value     any UTF-8 text; may be empty.
 * @param[in]  value_len [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_INVALID_ARGUMENT  an empty or too long key, text that is not UTF-8
 *          VARVE_SIZE_LIMIT        a value above storage.max_entry_size_bytes; a full session; a
 *                                  kv.json above 64 MiB, now or with this value
 *          VARVE_UNSUPPORTED       the session has no "kv"
 *          VARVE_NOT_FOUND         the session was deleted
 *          VARVE_READ_ONLY, VARVE_BUSY, VARVE_NO_SPACE, VARVE_IO
 * @cost    kv.json is replaced and made durable before the call returns, whatever the durability
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_kv_set(varve_session_t *session, const char *key, size_t key_len, const char *value,
             size_t value_len, varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Returns the value of a key. The value of "working_memory" is the empty text until it is set.
 *
 * @param[in]  session       open session.
 * @param[in]  key           as it was set.
 * @param[in]  key_len       [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] value_out     the value; free with varve_free.
 * @param[out] value_len_out [bytes].
 * @param[out] error_out     caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND         no such key, or the session was deleted
 *          VARVE_UNSUPPORTED       the session has no "kv"
 *          VARVE_SIZE_LIMIT (a kv.json above 64 MiB), VARVE_INVALID_ARGUMENT, VARVE_IO
 * @cost    reads kv.json; takes no lock
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t varve_kv_get(
    varve_session_t *session, const char *key, size_t key_len,
    char **value_out VARVE_OUT_OWNED VARVE_NULLABLE, size_t *value_len_out VARVE_OUT VARVE_NULLABLE,
    varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Deletes a key.
 *
 * @param[in]  session   open session.
 * @param[in]  key       as it was set.
 * @param[in]  key_len   [bytes] or VARVE_NUL_TERMINATED.
 * @param[out] error_out caller frees; may be NULL.
 *
 * @errors  VARVE_NOT_FOUND         no such key, or the session was deleted
 *          VARVE_UNSUPPORTED, VARVE_SIZE_LIMIT  as varve_kv_get
 *          VARVE_INVALID_ARGUMENT, VARVE_READ_ONLY, VARVE_BUSY, VARVE_NO_SPACE, VARVE_IO
 * @cost    as varve_kv_set
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_kv_delete(varve_session_t *session, const char *key, size_t key_len,
                varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

/**
 * Lists all keys, the one set longest ago first: [{"key","value","ts"}], where ts is the time it
 * was set (RFC 3339).
 *
 * @param[in]  session      open session.
 * @param[out] json_out     the array.
 * @param[out] json_len_out [bytes].
 * @param[out] error_out    caller frees; may be NULL.
 *
 * @errors  VARVE_UNSUPPORTED  the session has no "kv"
 *          VARVE_NOT_FOUND    the session was deleted
 *          VARVE_SIZE_LIMIT (as varve_kv_get), VARVE_IO
 * @cost    reads kv.json; takes no lock
 * @thread  any
 */
VARVE_API VARVE_MUST_USE varve_status_t
varve_kv_list(varve_session_t *session, char **json_out VARVE_OUT_OWNED VARVE_NULLABLE,
              size_t *json_len_out VARVE_OUT VARVE_NULLABLE,
              varve_error_t **error_out VARVE_OUT_OWNED VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
