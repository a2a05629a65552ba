/* A libvarve for the tests of the addon: it gives texts back as they came, counts what it has given
 * away, and calls back when it is told to, on the thread of the call. What is not here traps. */
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <varve/varve.h>

struct varve_error {
  varve_status_t status;
  char message[64];
};

static atomic_int texts, errors, handles, closes, exports;
static atomic_uchar is_open[1 << 16];
static atomic_uintptr_t next_handle = 1;

static varve_log_fn log_fn;
static varve_clock_fn clock_fn;
static varve_token_fn token_fn;
static varve_progress_fn progress_fn;
static void *log_data, *clock_data, *token_data, *progress_data;

/* For each letter, how often somebody came to it whom nobody has waited for. */
static sem_t arrivals[26];

__attribute__((constructor)) static void prepare(void) {
  for (int letter = 0; letter < 26; letter++) {
    sem_init(&arrivals[letter], 0, 0);
  }
}

static void *open_handle(void) {
  uintptr_t handle = next_handle++;
  is_open[handle] = 1;
  handles++;
  return (void *)handle;
}

static void close_handle(const void *handle) {
  closes += handle != NULL;
  if (handle != NULL && atomic_exchange(&is_open[(uintptr_t)handle], 0) == 1) {
    handles--;
  }
}

static varve_status_t give(const char *text, size_t size, char **out, size_t *size_out) {
  *out = malloc(size + 1);
  memcpy(*out, text, size);
  (*out)[size] = '\0';
  *size_out = size;
  texts++;
  return VARVE_OK;
}

static varve_status_t fail(varve_status_t status, const char *message, varve_error_t **error_out) {
  *error_out = malloc(sizeof **error_out);
  (*error_out)->status = status;
  snprintf((*error_out)->message, sizeof(*error_out)->message, "%s", message);
  errors++;
  return status;
}

uint32_t varve_abi_version(void) { return VARVE_ABI_VERSION; }
const char *varve_status_name(varve_status_t status) {
  static _Thread_local char name[32];
  snprintf(name, sizeof name, "STATUS_%d", status);
  return name;
}
const char *varve_error_message(const varve_error_t *error) { return error->message; }
const char *varve_error_details(const varve_error_t *error) {
  (void)error;
  return "{\"member\":\"x\"}";
}
void varve_error_free(varve_error_t *error) {
  errors--;
  free(error);
}
void varve_free(void *text) {
  texts -= text != NULL;
  free(text);
}

varve_status_t varve_store_open(const char *uri, size_t uri_len, const char *config_json,
                                size_t config_len, varve_store_t **store_out,
                                varve_error_t **error_out) {
  (void)uri, (void)uri_len, (void)config_json, (void)config_len, (void)error_out;
  *store_out = open_handle();
  return VARVE_OK;
}
/* Comes to z, and waits for exports that have begun, as libvarve does. */
void varve_store_close(varve_store_t *store) {
  close_handle(store);
  sem_post(&arrivals['z' - 'a']);
  while (exports > 0) {
    sched_yield();
  }
}

/* What opens anything else calls the log receiver, which may throw. */
varve_status_t varve_session_create(varve_store_t *store, const char *options_json,
                                    size_t options_len, varve_session_t **session_out,
                                    varve_error_t **error_out) {
  (void)store, (void)options_json, (void)options_len, (void)error_out;
  *session_out = open_handle();
  if (log_fn != NULL) {
    log_fn(log_data, VARVE_LOG_INFO, "{}", 2);
  }
  return VARVE_OK;
}
varve_status_t varve_session_open(varve_store_t *store, const char *id, size_t id_len,
                                  varve_session_t **session_out, varve_error_t **error_out) {
  return varve_session_create(store, id, id_len, session_out, error_out);
}
void varve_session_close(varve_session_t *session) { close_handle(session); }

varve_status_t varve_memory_open(varve_store_t *store, const char *options_json, size_t options_len,
                                 varve_memory_t **memory_out, varve_error_t **error_out) {
  return varve_session_create(store, options_json, options_len, (varve_session_t **)memory_out,
                              error_out);
}
void varve_memory_close(varve_memory_t *memory) { close_handle(memory); }

varve_status_t varve_window_new(size_t capacity, varve_window_t **window_out,
                                varve_error_t **error_out) {
  (void)capacity;
  return varve_session_create(NULL, NULL, 0, (varve_session_t **)window_out, error_out);
}
void varve_window_free(varve_window_t *window) { close_handle(window); }

varve_status_t varve_session_query(varve_session_t *session, const char *query_json,
                                   size_t query_len, varve_results_t **results_out,
                                   varve_error_t **error_out) {
  (void)session;
  return varve_session_create(NULL, query_json, query_len, (varve_session_t **)results_out,
                              error_out);
}
varve_status_t varve_store_query(varve_store_t *store, const char *query_json, size_t query_len,
                                 varve_results_t **results_out, varve_error_t **error_out) {
  (void)store;
  return varve_session_query(NULL, query_json, query_len, results_out, error_out);
}
varve_status_t varve_memory_search(varve_memory_t *memory, const char *query_json, size_t query_len,
                                   varve_results_t **results_out, varve_error_t **error_out) {
  (void)memory;
  return varve_session_query(NULL, query_json, query_len, results_out, error_out);
}
void varve_results_free(varve_results_t *results) { close_handle(results); }

/* No text, which is not an empty one. */
varve_status_t varve_results_next(const varve_results_t *results, const char **cursor_out,
                                  size_t *cursor_len_out, varve_error_t **error_out) {
  (void)results, (void)error_out;
  *cursor_out = NULL;
  *cursor_len_out = 0;
  return VARVE_OK;
}
const char *varve_session_id(varve_session_t *session) { return session == NULL ? NULL : "me"; }

/* The id as it came. */
varve_status_t varve_session_get(varve_session_t *session, const char *id, size_t id_len,
                                 char **json_out, size_t *json_len_out, varve_error_t **error_out) {
  (void)session, (void)error_out;
  return give(id, id_len, json_out, json_len_out);
}

/* More than a string of JavaScript holds, of pages that take no memory: nobody writes to them. */
varve_status_t varve_store_metrics(varve_store_t *store, char **text_out, size_t *text_len_out,
                                   varve_error_t **error_out) {
  (void)store, (void)error_out;
  *text_len_out = (size_t)1 << 29;
  *text_out = calloc(*text_len_out, 1);
  texts++;
  return VARVE_OK;
}

/* The number as it came. */
varve_status_t varve_session_count(varve_session_t *session, const char *query_json,
                                   size_t query_len, uint64_t *count_out,
                                   varve_error_t **error_out) {
  (void)session, (void)query_len, (void)error_out;
  *count_out = strtoull(query_json, NULL, 10);
  return VARVE_OK;
}
varve_status_t varve_transcript_last(varve_session_t *session, size_t n, char **json_out,
                                     size_t *json_len_out, varve_error_t **error_out) {
  char text[32];
  (void)session, (void)error_out;
  snprintf(text, sizeof text, "%zu", n);
  return give(text, strlen(text), json_out, json_len_out);
}

/* How many numbers came, and the last. */
varve_status_t varve_session_put_vector(varve_session_t *session, const char *id, size_t id_len,
                                        const float *values, uint32_t dimension,
                                        varve_error_t **error_out) {
  char text[64];
  (void)session, (void)id, (void)id_len;
  snprintf(text, sizeof text, "%u, %g", dimension, dimension > 0 ? values[dimension - 1] : 0.0);
  return fail(VARVE_NOT_FOUND, text, error_out);
}

/* Fails, and says the id; without a word when that is empty. */
varve_status_t varve_session_delete(varve_session_t *session, const char *id, size_t id_len,
                                    const char *reason, size_t reason_len,
                                    varve_error_t **error_out) {
  (void)session, (void)reason, (void)reason_len;
  return id_len == 0 ? VARVE_NO_MEMORY : fail(VARVE_NOT_FOUND, id, error_out);
}

/* What there is at present. */
varve_status_t varve_store_stats(varve_store_t *store, char **json_out, size_t *json_len_out,
                                 varve_error_t **error_out) {
  char text[128];
  (void)store, (void)error_out;
  snprintf(text, sizeof text, "{\"texts\":%d,\"errors\":%d,\"handles\":%d,\"closes\":%d}", texts,
           errors, handles, closes);
  return give(text, strlen(text), json_out, json_len_out);
}

/* Functions are refused without a handle, and kept for all otherwise. */
varve_status_t varve_store_set_log(varve_store_t *store, int32_t level, varve_log_fn fn,
                                   void *user_data, varve_error_t **error_out) {
  (void)level;
  if (store == NULL) {
    return fail(VARVE_BAD_HANDLE, "store", error_out);
  }
  log_fn = fn;
  log_data = user_data;
  return VARVE_OK;
}
varve_status_t varve_store_set_clock(varve_store_t *store, varve_clock_fn fn, void *user_data,
                                     varve_error_t **error_out) {
  if (store == NULL) {
    return fail(VARVE_BAD_HANDLE, "store", error_out);
  }
  clock_fn = fn;
  clock_data = user_data;
  return VARVE_OK;
}
varve_status_t varve_store_set_token_counter(varve_store_t *store, varve_token_fn fn,
                                             void *user_data, varve_error_t **error_out) {
  if (store == NULL) {
    return fail(VARVE_BAD_HANDLE, "store", error_out);
  }
  token_fn = fn;
  token_data = user_data;
  return VARVE_OK;
}
varve_status_t varve_session_set_progress(varve_session_t *session, varve_progress_fn fn,
                                          void *user_data, varve_error_t **error_out) {
  if (session == NULL) {
    return fail(VARVE_BAD_HANDLE, "session", error_out);
  }
  progress_fn = fn;
  progress_data = user_data;
  return VARVE_OK;
}

/* One call of a function: what it answered, or "failed" or "none". */
static void call_back(char which, char *answer, size_t size) {
  uint64_t tokens = 4711;
  snprintf(answer, size, "none");
  if (which == '1' && log_fn != NULL) {
    log_fn(log_data, VARVE_LOG_WARN, "{\"a\":\"b\0c\"}", 11);
    snprintf(answer, size, "told");
  } else if (which == '2' && clock_fn != NULL) {
    snprintf(answer, size, "%lld", (long long)clock_fn(clock_data));
  } else if (which == '3' && token_fn != NULL) {
    int32_t failed = token_fn(token_data, "two\0words", 9, &tokens);
    snprintf(answer, size, "%s%llu", failed ? "failed " : "", (unsigned long long)tokens);
  } else if (which == '4' && progress_fn != NULL) {
    snprintf(answer, size, "%d", progress_fn(progress_data, "export", 1, 2));
  }
}

/* Takes the steps that `format` has, one by one, and gives the answers of functions:
 *   1 2 3 4  calls the log receiver, the clock, the token counter, the progress function
 *   a        comes to a; so with every other letter
 *   A        waits until somebody has come to a
 *   !        ends with VARVE_CALLBACK, and says the answers */
static varve_status_t take_steps(const char *format, size_t format_len, char **text_out,
                                 size_t *text_len_out, varve_error_t **error_out) {
  char answers[1024] = "";
  for (size_t i = 0; i < format_len; i++) {
    char step = format[i];
    if (step >= 'a' && step <= 'z') {
      sem_post(&arrivals[step - 'a']);
    } else if (step >= 'A' && step <= 'Z') {
      sem_wait(&arrivals[step - 'A']);
    } else if (step == '!') {
      return fail(VARVE_CALLBACK, answers, error_out);
    } else {
      size_t size = strlen(answers);
      snprintf(answers + size, sizeof answers - size, "%s", size > 0 ? "," : "");
      size = strlen(answers);
      call_back(step, answers + size, sizeof answers - size);
    }
  }
  return give(answers, strlen(answers), text_out, text_len_out);
}

varve_status_t varve_session_export(varve_session_t *session, const char *format, size_t format_len,
                                    char **text_out, size_t *text_len_out,
                                    varve_error_t **error_out) {
  (void)session;
  exports++;
  varve_status_t status = take_steps(format, format_len, text_out, text_len_out, error_out);
  exports--;
  return status;
}
