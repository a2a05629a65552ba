/* Remembers three things, and finds them again.   usage: find [DIRECTORY] */
#include <stdio.h>
#include <varve/varve.h>

/* Prints what a query finds, the best first. */
static int find(varve_session_t *session, const char *query, varve_error_t **error) {
  varve_results_t *results = NULL;
  int failed = varve_session_query(session, query, VARVE_NUL_TERMINATED, &results, error);
  printf("%s\n", query);
  for (size_t i = 0; !failed && i < varve_results_count(results); i++) {
    const char *entry = NULL;
    size_t entry_len = 0;
    double relevance = 0;
    failed = varve_results_entry(results, i, &entry, &entry_len, error) ||
             varve_results_score(results, i, &relevance, error);
    if (!failed) {
      printf("  %.2f %.*s\n", relevance, (int)entry_len, entry);
    }
  }
  varve_results_free(results);
  return failed;
}

int main(int argc, char **argv) {
  const char *directory = argc > 1 ? argv[1] : "./memory";
  const char *entries =
      "[{\"type\":\"preference\",\"content\":\"Tea, not coffee\",\"importance\":0.8,"
      "\"tags\":[\"drinks\"]},"
      "{\"type\":\"finding\",\"content\":\"The kettle boils in 3 minutes\","
      "\"tags\":[\"kitchen.devices\"]},"
      "{\"type\":\"decision\",\"content\":\"Two kettles for the meeting\",\"importance\":0.9,"
      "\"tags\":[\"kitchen\",\"drinks\"]}]";
  varve_store_t *store = NULL;
  varve_session_t *session = NULL;
  varve_error_t *error = NULL;

  int failed =
      varve_store_open(directory, VARVE_NUL_TERMINATED, NULL, 0, &store, &error) ||
      varve_session_create(store, NULL, 0, &session, &error) ||
      varve_session_add_batch(session, entries, VARVE_NUL_TERMINATED, NULL, NULL, &error) ||
      /* Words, in any of their forms. */
      find(session, "{\"text\":\"how long does a kettle boil\",\"limit\":2}", &error) ||
      /* A tag finds those below it as well; without words the most relevant comes first. */
      find(session, "{\"tags\":{\"include\":[\"kitchen\"]}}", &error);
  if (failed) {
    fprintf(stderr, "find: %s\n", varve_error_message(error));
  }

  varve_error_free(error);
  varve_session_close(session);
  varve_store_close(store);
  return failed;
}
