/* Remembers a finding in its first run, and shows what it remembers in that and every later one.
 *
 *   remember [DIRECTORY]
 */
#include <stdio.h>
#include <varve/varve.h>

int main(int argc, char **argv) {
  const char *directory = argc > 1 ? argv[1] : "./memory";
  const char *kitchen = "{\"session_id\":\"kitchen\",\"user_id\":\"ann\",\"if_exists\":\"open\"}";
  const char *entry =
      "{\"type\":\"finding\",\"content\":\"tea, not coffee\",\"tags\":[\"drinks\"]}";
  varve_store_t *store = NULL;
  varve_session_t *session = NULL;
  varve_error_t *error = NULL;
  uint64_t known = 0;
  char *text = NULL;

  /* Each call answers 0 (VARVE_OK) or says in `error` what was wrong; the first failure ends it. */
  int failed =
      varve_store_open(directory, VARVE_NUL_TERMINATED, NULL, 0, &store, &error) ||
      varve_session_create(store, kitchen, VARVE_NUL_TERMINATED, &session, &error) ||
      varve_session_count(session, NULL, 0, &known, &error) ||
      (known == 0 && varve_session_add(session, entry, VARVE_NUL_TERMINATED, NULL, NULL, &error)) ||
      varve_session_export(session, "markdown", VARVE_NUL_TERMINATED, &text, NULL, &error);
  if (failed) {
    fprintf(stderr, "remember: %s\n", varve_error_message(error));
  } else {
    fputs(text, stdout);
  }

  varve_free(text);
  varve_error_free(error);
  varve_session_close(session);
  varve_store_close(store);
  return failed;
}
