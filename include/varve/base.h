/**
 * @file varve/base.h
 * Versions, status codes, text conventions, memory.
 *
 * The conventions of the whole API:
 *
 *  1. Handles (varve_store_t *, varve_session_t *, varve_error_t *, ...) are checked tokens, not
 *     addresses. A closed, foreign or garbage handle gives VARVE_BAD_HANDLE, never a crash.
 *     Closing or freeing a handle that is NULL or closed does nothing. Closing a store makes its
 *     sessions and memories VARVE_BAD_HANDLE; closing loses nothing that was acknowledged. A close
 *     waits for calls in flight on other threads: do not close a handle inside a callback of a call
 *     that uses it.
 *  2. Every fallible function returns varve_status_t and takes `varve_error_t **error_out` last.
 *     error_out may be NULL. It is written on every return: NULL after VARVE_OK, else an error
 *     object to free with varve_error_free, before the next call with the same error_out. There is
 *     no thread-local state. Besides what its comment lists, every function may return
 *     VARVE_NO_MEMORY and VARVE_INTERNAL; one that takes a handle, VARVE_BAD_HANDLE and
 *     VARVE_FORKED; one that takes a text, VARVE_INVALID_ARGUMENT; one that takes a session,
 *     VARVE_NOT_FOUND when the session was deleted or has expired (varve_session_metadata then
 *     returns it, too), and VARVE_FORMAT_VERSION once a newer version has written to it; and one
 *     that writes, VARVE_UNSUPPORTED where the file system has no locks.
 *  3. Text in is `const char *x, size_t x_len`, UTF-8, no NUL needed; VARVE_NUL_TERMINATED as the
 *     length means strlen. NULL with length 0 is the empty text, and so is NULL with
 *     VARVE_NUL_TERMINATED where NULL is allowed; NULL with any other length is refused.
 *  4. Text out that the caller owns is `char **x_out, size_t *x_len_out`: free it with varve_free.
 *     A NUL follows the last byte as a courtesy. Borrowed text out is `const char **` and lives as
 *     long as the handle that the function's comment names. Outs are written on every return (NULL
 *     and 0 on failure), whatever they held before. An out that is not wanted may be NULL, except
 *     that of a handle.
 *  5. Options, entries and reports are JSON text with members in snake_case. An unknown or mistyped
 *     option is VARVE_INVALID_ARGUMENT, and the error names it and its position; unknown members of
 *     an entry are data and are kept. Text from elsewhere, such as what a user said, must be
 *     escaped where it becomes part of JSON: quotes, backslashes and characters below U+0020. Read
 *     what comes back with a JSON parser: later versions may add members, in any place.
 *  6. Times are int64_t milliseconds since the Unix epoch in C and RFC 3339 in JSON; sizes bytes.
 *  7. Stores, sessions, memories and windows may be used from any thread at once; results and
 *     errors from one thread at a time.
 *  8. The library lets no exception escape, installs no signal handler, never exits and prints
 *     nothing. It starts no thread unless `durability` is "interval" or `threads` is above 1. After
 *     fork(), a call in the child with a handle made before the fork returns VARVE_FORKED (where it
 *     returns no status, what it returns for a closed handle).
 */
#ifndef VARVE_BASE_H
#define VARVE_BASE_H

#include <stddef.h>
#include <stdint.h>

/** Library version. This is the only place it is written; everything else reads it from here. */
#define VARVE_VERSION_MAJOR 0
#define VARVE_VERSION_MINOR 1
#define VARVE_VERSION_PATCH 0

/** ABI version: the number in libvarve.so.N. A binding refuses to load any other. */
#define VARVE_ABI_VERSION 1

/** Version of the files that are written (docs/format.md); every earlier one can be read. */
#define VARVE_FILE_FORMAT 1

/** As the length of a text: the text ends at its first NUL. */
#define VARVE_NUL_TERMINATED SIZE_MAX

/* Read by the compiler: visibility, and results that must not be dropped. */
#if defined(__GNUC__) || defined(__clang__)
#define VARVE_API __attribute__((visibility("default")))
#define VARVE_MUST_USE __attribute__((warn_unused_result))
#else
#define VARVE_API
#define VARVE_MUST_USE
#endif

/* Read by the binding generator only; empty to the compiler. */
#define VARVE_NULLABLE     /**< the argument may be NULL */
#define VARVE_OUT          /**< written by the callee */
#define VARVE_OUT_OWNED    /**< written; the caller frees it (varve_free, or the handle's close) */
#define VARVE_OUT_BORROWED /**< written; lives as long as the handle named in the comment */

#ifdef __cplusplus
extern "C" {
#endif

/** Outcome of a call. Values are explicit, grouped with gaps, and never renumbered. */
typedef int32_t varve_status_t;

enum {
  VARVE_OK = 0,
  /* The caller can do something about these. */
  VARVE_INVALID_ARGUMENT = 1, /**< malformed input; nothing was changed */
  VARVE_NOT_FOUND = 2,        /**< no such entry, key, session, file or backup */
  VARVE_ALREADY_EXISTS = 3,   /**< the id is in use, or was used and deleted */
  VARVE_SIZE_LIMIT = 4,       /**< above a configured limit */
  VARVE_BAD_HANDLE = 5,       /**< closed, NULL, garbage, or of another type */
  VARVE_READ_ONLY = 6,        /**< no permission to write, or writing was stopped for safety */
  VARVE_BUSY = 7,             /**< another writer holds the lock past the deadline; try again */
  VARVE_UNSUPPORTED = 8,      /**< not available for this session, store or file system */
  /* The environment. */
  VARVE_IO = 20,        /**< the file system reported an error */
  VARVE_NO_SPACE = 21,  /**< disk or quota full; nothing was added */
  VARVE_NO_MEMORY = 22, /**< no memory or thread left; nothing was added, deleted or set */
  /* The data on disk. */
  VARVE_CORRUPTION = 40,     /**< stored data is damaged */
  VARVE_FORMAT_VERSION = 41, /**< written by a newer version; left untouched */
  /* The rest. */
  VARVE_CALLBACK = 60, /**< a callback of yours reported failure */
  VARVE_FORKED = 61,   /**< the handle was made before fork(), in the parent */
  VARVE_INTERNAL = 127 /**< a defect in the library: please report it */
};

/**
 * Returns the ABI version of the loaded library.
 *
 * @errors none
 * @thread any
 */
VARVE_API uint32_t varve_abi_version(void);

/**
 * Returns the version of the loaded library, "0.1.0" for example. Static text.
 *
 * @errors none
 * @thread any
 */
VARVE_API const char *varve_version(void);

/**
 * Returns the name of a status, "VARVE_BUSY" for example; "VARVE_UNKNOWN_STATUS" for a number that
 * is none. Static text, never NULL.
 *
 * @param[in] status any value.
 * @errors none
 * @thread any
 */
VARVE_API const char *varve_status_name(varve_status_t status);

/**
 * Frees text that an `_out` parameter of this library gave to the caller. Free it only once: unlike
 * a handle, a pointer cannot be checked.
 *
 * @param[in] text the pointer as given, or NULL.
 * @errors none
 * @thread any
 */
VARVE_API void varve_free(void *text VARVE_NULLABLE);

#ifdef __cplusplus
}
#endif

#endif
