/* An outside program in C: keeps one entry and reads it back. */
#include <stdio.h>
#include <string.h>
#include <varve/varve.h>

static int fail(const char *what, varve_error_t *error) {
  fprintf(stderr, "%s: %s\n", what, varve_error_message(error));
  varve_error_free(error);
  return 1;
}

int main(void) {
  varve_store_t *store = NULL;
  varve_session_t *session = NULL;
  varve_error_t *error = NULL;
  char *id = NULL;
  char *json = NULL;
  size_t json_len = 0;

  if (varve_abi_version() != VARVE_ABI_VERSION) return fail("another ABI was loaded", NULL);
  if (varve_store_open("memory:", VARVE_NUL_TERMINATED, NULL, 0, &store, &error) != VARVE_OK)
    return fail("varve_store_open", error);
  if (varve_session_create(store, NULL, 0, &session, &error) != VARVE_OK)
    return fail("varve_session_create", error);
  if (varve_session_add(session, "{\"type\":\"finding\",\"content\":\"tea, not coffee\"}",
                        VARVE_NUL_TERMINATED, &id, NULL, &error) != VARVE_OK)
    return fail("varve_session_add", error);
  if (varve_session_get(session, id, VARVE_NUL_TERMINATED, &json, &json_len, &error) != VARVE_OK)
    return fail("varve_session_get", error);
  if (json_len != strlen(json) || strstr(json, "tea, not coffee") == NULL)
    return fail("the entry came back changed", NULL);
  printf("varve %s remembers %s\n", varve_version(), id);
  varve_free(json);
  varve_free(id);
  varve_session_close(session);
  varve_store_close(store);
  return 0;
}
