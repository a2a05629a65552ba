/* Adds entries to a session and prints the id of each one once it was acknowledged.
 *
 *   worker DIRECTORY SESSION PREFIX COUNT [FIRST]
 *
 * Entry N, from FIRST or 0 on, has the id PREFIX-N and the content "PREFIX counts to N ☕". That it
 * is there already counts as acknowledged: a worker that was killed is started again at the first
 * entry that it did not tell of. */
#include <stdio.h>
#include <stdlib.h>
#include <varve/varve.h>

enum { kTextMax = 512 };

static const char config[] = "{\"concurrency\":{\"lock_timeout_ms\":60000}}";

static int add(varve_session_t* session, const char* prefix, long number, varve_error_t** error) {
  char entry[kTextMax];
  snprintf(entry, sizeof entry,
           "{\"id\":\"%s-%ld\",\"type\":\"observation\",\"content\":\"%s counts to %ld ☕\"}",
           prefix, number, prefix, number);
  int status = varve_session_add(session, entry, VARVE_NUL_TERMINATED, NULL, NULL, error);
  if (status == VARVE_ALREADY_EXISTS) {
    varve_error_free(*error);
    *error = NULL;
    status = VARVE_OK;
  }
  return status;
}

int main(int argc, char** argv) {
  if (argc < 5) {
    fputs("usage: worker DIRECTORY SESSION PREFIX COUNT [FIRST]\n", stderr);
    return 2;
  }
  const char* prefix = argv[3];
  long count = strtol(argv[4], NULL, 10);
  long number = argc > 5 ? strtol(argv[5], NULL, 10) : 0;
  varve_store_t* store = NULL;
  varve_session_t* session = NULL;
  varve_error_t* error = NULL;

  setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* a line is told as a whole, and at once */
  int failed = varve_store_open(argv[1], VARVE_NUL_TERMINATED, config, VARVE_NUL_TERMINATED, &store,
                                &error) ||
               varve_session_open(store, argv[2], VARVE_NUL_TERMINATED, &session, &error);
  for (; !failed && number < count; number++) {
    failed = add(session, prefix, number, &error);
    if (!failed) {
      printf("%s-%ld\n", prefix, number);
    }
  }
  if (failed) {
    fprintf(stderr, "worker: %s\n", varve_error_message(error));
  }
  varve_error_free(error);
  varve_session_close(session);
  varve_store_close(store);
  return failed;
}
