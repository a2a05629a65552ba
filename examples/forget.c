/* Forgets a topic for good, and shows that no file holds it any more.   usage: forget [DIRECTORY]
 */
#include <dirent.h>
#include <stdio.h>
#include <varve/varve.h>

/* What is to be forgotten: a condition that finds it, and a word that only it has. */
static const char topic[] = "{\"tags\":{\"include\":[\"health\"]}}";
static const char word[] = "penicillin";

/* How often the word stands in the file, in letters of this case. */
static int count_in_file(const char *path) {
  FILE *file = fopen(path, "rb");
  size_t matched = 0;
  int count = 0;
  int c;
  if (file == NULL) {
    return 0;
  }
  while ((c = fgetc(file)) != EOF) {
    matched = c == word[matched] ? matched + 1 : (size_t)(c == word[0]);
    if (matched == sizeof word - 1) {
      count++;
      matched = 0;
    }
  }
  fclose(file);
  return count;
}

/* Prints in which of the session's files the word stands, and how often; gives the sum. */
static int count_in_files(const char *root, varve_session_t *session, const char *when) {
  char directory[4096];
  snprintf(directory, sizeof directory, "%s/sessions/%s", root, varve_session_id(session));
  DIR *files = opendir(directory);
  if (files == NULL) {
    perror(directory);
    return -1;
  }
  int sum = 0;
  printf("%s:", when);
  for (struct dirent *file = readdir(files); file != NULL; file = readdir(files)) {
    char path[4096 + 256];
    snprintf(path, sizeof path, "%s/%s", directory, file->d_name);
    int count = count_in_file(path);
    sum += count;
    if (count > 0) {
      printf(" %d in %s,", count, file->d_name);
    }
  }
  closedir(files);
  printf(" %d in all\n", sum);
  return sum;
}

int main(int argc, char **argv) {
  const char *directory = argc > 1 ? argv[1] : "./memory";
  const char *entries =
      "[{\"type\":\"finding\",\"content\":\"Ann cannot take penicillin\",\"tags\":[\"health\"]},"
      "{\"type\":\"finding\",\"content\":\"Asked again: no penicillin\",\"tags\":[\"health.ann\"]},"
      "{\"type\":\"preference\",\"content\":\"Tea, not coffee\",\"tags\":[\"drinks\"]}]";
  const char *reason = "request 4711"; /* stays: it must not repeat what is forgotten */
  varve_store_t *store = NULL;
  varve_session_t *session = NULL;
  varve_error_t *error = NULL;
  char *report = NULL;
  uint64_t found = 0;
  uint64_t deleted = 0;
  int left = 0;

  int failed =
      varve_store_open(directory, VARVE_NUL_TERMINATED, NULL, 0, &store, &error) ||
      varve_session_create(store, NULL, 0, &session, &error) ||
      varve_session_add_batch(session, entries, VARVE_NUL_TERMINATED, NULL, NULL, &error) ||
      varve_session_sync(session, &error) ||
      /* How many there are, before they go. */
      varve_session_count(session, topic, VARVE_NUL_TERMINATED, &found, &error) ||
      /* Hidden at once, from every reader in every process; the bytes are still there. */
      varve_session_delete_where(session, topic, VARVE_NUL_TERMINATED, reason, VARVE_NUL_TERMINATED,
                                 &deleted, &error);
  if (!failed) {
    printf("found %d, deleted %d\n", (int)found, (int)deleted);
    count_in_files(directory, session, "after the delete");
    /* Gone for good: from log, index, quarantine and temporary files. */
    failed = varve_session_purge(session, NULL, 0, &report, NULL, &error);
  }
  if (failed) {
    fprintf(stderr, "forget: %s\n", varve_error_message(error));
  } else {
    printf("%s\n", report);
    left = count_in_files(directory, session, "after the purge");
  }

  varve_free(report);
  varve_error_free(error);
  varve_session_close(session);
  varve_store_close(store);
  return failed || left != 0 || found != deleted;
}
