/**
 * @file varve/error.h
 * Errors: what went wrong, where, and what to do about it.
 *
 * A caller that passes `error_out` gets an error object with every status other than VARVE_OK. The
 * object is immutable, may move between threads, and is freed with varve_error_free. docs/errors.md
 * lists each code with its usual causes and remedies.
 */
#ifndef VARVE_ERROR_H
#define VARVE_ERROR_H

#include "varve/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One failure. */
typedef struct varve_error varve_error_t;

/**
 * Returns the status code: VARVE_OK for NULL, VARVE_BAD_HANDLE for a freed or foreign handle.
 *
 * @param[in] error handle, or NULL.
 * @errors none
 * @thread one thread at a time per error
 */
VARVE_API varve_status_t varve_error_status(const varve_error_t *error VARVE_NULLABLE);

/**
 * Returns the message, one line for a person: what went wrong and, where it helps, what to do; ""
 * for NULL and for a freed or foreign handle. Borrowed from the error: lives until
 * varve_error_free.
 *
 * @param[in] error handle, or NULL.
 * @errors none
 * @thread one thread at a time per error
 */
VARVE_API const char *varve_error_message(const varve_error_t *error VARVE_NULLABLE);

/**
 * Returns the place of the error as a JSON object, with the members that apply:
 * {"path","member","offset","line","size","limit","errno"} (docs/errors.md#details); "{}" when none
 * applies, for NULL, and for a freed or foreign handle. Borrowed from the error: lives until
 * varve_error_free.
 *
 * @param[in] error handle, or NULL.
 * @errors none
 * @thread one thread at a time per error
 */
VARVE_API const char *varve_error_details(const varve_error_t *error VARVE_NULLABLE);

/**
 * Frees an error.
 *
 * @param[in] error handle, or NULL.
 * @errors none
 * @thread any
 */
VARVE_API void varve_error_free(varve_error_t *error VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
