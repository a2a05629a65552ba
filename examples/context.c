/* Records a conversation, and builds what a model is given.   usage: context [DIRECTORY] */
#include <stdio.h>
#include <varve/varve.h>

#define NUL VARVE_NUL_TERMINATED

/* Stands for the tokenizer of your model: here, a token for every four bytes. */
static int32_t count_tokens(void *user_data, const char *text, size_t len, uint64_t *tokens_out) {
  (void)user_data;
  (void)text;
  *tokens_out = (len + 3) / 4;
  return 0;
}

static int record(varve_session_t *session, const char *kind, const char *payload,
                  varve_error_t **error) {
  return varve_context_record(session, kind, NUL, payload, NUL, NULL, NULL, error);
}

/* Prints the answer to a request, which is JSON. */
static int build(varve_session_t *session, const char *request, varve_error_t **error) {
  char *answer = NULL;
  int failed = varve_context_build(session, request, NUL, &answer, NULL, error);
  printf("%s\n%s\n", request, failed ? "" : answer);
  varve_free(answer);
  return failed;
}

int main(int argc, char **argv) {
  const char *directory = argc > 1 ? argv[1] : "./memory";
  varve_store_t *store = NULL;
  varve_session_t *session = NULL;
  varve_error_t *error = NULL;

  int failed =
      varve_store_open(directory, NUL, NULL, 0, &store, &error) ||
      varve_session_create(store, NULL, 0, &session, &error) ||
      record(session, "user_message", "{\"content\":\"What's the weather?\"}", &error) ||
      record(session, "assistant_message", "{\"content\":\"Let me check...\"}", &error) ||
      record(session, "tool_call", "{\"name\":\"weather\",\"arguments\":{\"location\":\"NYC\"}}",
             &error) ||
      record(session, "tool_result",
             "{\"name\":\"weather\",\"result\":{\"temp\":72,\"condition\":\"sunny\"}}", &error) ||
      /* The newest that fit into 4000 tokens, by the built-in estimate. */
      build(session, "{\"budget\":{\"max_tokens\":4000}}", &error) ||
      /* By a counter of one's own, with room for the answer, as messages. */
      varve_store_set_token_counter(store, count_tokens, NULL, &error) ||
      build(session,
            "{\"question\":\"Is it sunny?\",\"format\":\"chat\","
            "\"budget\":{\"max_tokens\":1000,\"reserve_tokens\":200}}",
            &error);

  if (failed) {
    fprintf(stderr, "%s\n%s\n", varve_error_message(error), varve_error_details(error));
  }
  varve_error_free(error);
  varve_session_close(session);
  varve_store_close(store);
  return failed != 0;
}
