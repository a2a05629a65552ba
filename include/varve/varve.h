/**
 * @file varve/varve.h
 * varve: embedded memory for AI agents. This header includes the whole API; start here.
 *
 *   varve/base.h         conventions (read them once), versions, status codes, varve_free
 *   varve/error.h        what went wrong and where
 *   varve/store.h        open a directory of sessions; list and delete them; log lines; clock
 *   varve/session.h      one memory: create, open, metadata, stats
 *   varve/entry.h        add, get, delete
 *   varve/query.h        find by words, tag, type, time, reference, relevance
 *   varve/context.h      record a conversation; build the context that a model is given
 *   varve/kv.h           small facts by key; the working memory
 *   varve/transcript.h   the turns of a conversation, in order
 *   varve/maintenance.h  verify, repair, compact, purge, export, import
 *   varve/memory.h       a user's memory in three tiers: working, short term, long term
 *   varve/window.h       the last messages of a conversation, in memory only
 *
 * The smallest program that remembers. Every status must be looked at; varve_error_message says
 * what went wrong:
 *
 *   varve_store_t *store = NULL; varve_session_t *session = NULL; varve_results_t *found = NULL;
 *   varve_error_t *error = NULL; const char *json = NULL;
 *   if (varve_store_open("./memory", VARVE_NUL_TERMINATED, NULL, 0, &store, &error) ||
 *       varve_session_create(store, "{\"session_id\":\"kitchen\",\"if_exists\":\"open\"}",
 *                            VARVE_NUL_TERMINATED, &session, &error) ||
 *       varve_session_add(session, "{\"type\":\"finding\",\"content\":\"Ann drinks tea\"}",
 *                         VARVE_NUL_TERMINATED, NULL, NULL, &error) ||
 *       varve_session_query(session, "{\"question\":\"What does Ann drink?\"}",
 *                           VARVE_NUL_TERMINATED, &found, &error) ||
 *       varve_results_json(found, &json, NULL, &error)) {
 *     fprintf(stderr, "%s\n", varve_error_message(error));
 *   } else {
 *     puts(json);
 *   }
 *   varve_error_free(error);
 *   varve_results_free(found);
 *   varve_session_close(session);
 *   varve_store_close(store);
 *
 * Pages called docs/... and programs called examples/... are in the source tree of varve.
 */
#ifndef VARVE_VARVE_H
#define VARVE_VARVE_H

#include "varve/base.h"
#include "varve/context.h"
#include "varve/entry.h"
#include "varve/error.h"
#include "varve/kv.h"
#include "varve/maintenance.h"
#include "varve/memory.h"
#include "varve/query.h"
#include "varve/session.h"
#include "varve/store.h"
#include "varve/transcript.h"
#include "varve/window.h"

#endif
