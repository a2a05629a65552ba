// Every function of the ABI as the sweeps call it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "abi_effects.h"

namespace varve::crash {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNew = R"({"id":"n","type":"note","content":"a new kettle"})";
constexpr const char* kTwo = R"({"id":"n1","type":"note","content":"new"})"
                             "\n"
                             R"({"id":"n2","type":"note","content":"newer"})";
constexpr const char* kText = R"({"text":"kettle \"tea cup\" wo*","limit":5})";
constexpr const char* kMessage = R"({"role":"user","content":"kettle"})";
constexpr float kVector[] = {3, 4};

void without_index(Ground& ground) { fs::remove(ground.session_file("index.bin")); }
void with_damage(Ground& ground) {
  std::ofstream(ground.session_file("memory.jsonl"), std::ios::app) << "{\"no\":\"entry\"}\n";
}
void with_torn_tail(Ground& ground) {
  std::ofstream(ground.session_file("memory.jsonl"), std::ios::app) << "{\"checksum\":";
}

void hear(void*, int32_t, const char*, size_t) {}
int64_t tell_time(void*) { return 1'768'055'025'678; }
int32_t count_tokens(void*, const char*, size_t len, uint64_t* tokens_out) {
  *tokens_out = len;
  return 0;
}
int32_t go_on(void*, const char*, uint64_t, uint64_t) { return 0; }

varve_status_t query(Ground& g, Outs& o, const char* text) {
  return varve_session_query(g.session, text, kNul, &o.results, &o.error);
}

void find_results(Ground& ground) {
  ground.open_all();
  const varve_status_t status =
      varve_session_query(ground.session, kText, kNul, &ground.results, nullptr);
  if (status != VARVE_OK) std::abort();
}
void open_old(Ground& ground) {
  ground.open_all();
  ground.old = ground.open_session("old");
}

void make_error(Ground& ground) {
  ground.open_all();
  const varve_status_t status =
      varve_session_get(ground.session, "none", kNul, nullptr, nullptr, &ground.error);
  if (status != VARVE_NOT_FOUND) std::abort();
}

using Calls = std::vector<SweptCall>;

template <typename Run>
SweptCall call(const char* function, Run) {
  SweptCall made;
  made.function = function;
  made.run = [](Ground& ground, Outs& outs) -> varve_status_t { return Run()(ground, outs); };
  return made;
}

Calls store_calls() {
  return {call("varve_store_open",
               [](Ground& g, Outs& o) {
                 return varve_store_open(g.paths.store.c_str(), kNul, R"({"threads":1})", kNul,
                                         &o.store, &o.error);
               }),
          call("varve_store_open",
               [](Ground&, Outs& o) {
                 return varve_store_open("memory:", kNul, nullptr, 0, &o.store, &o.error);
               })
              .without_files()
              .named("in memory"),
          call("varve_store_open",
               [](Ground& g, Outs& o) {
                 return varve_store_open(g.paths.fresh.c_str(), kNul, nullptr, 0, &o.store,
                                         &o.error);
               })
              .named("of a new directory"),
          call("varve_store_sync",
               [](Ground& g, Outs& o) { return varve_store_sync(g.store, &o.error); }),
          call("varve_store_sessions",
               [](Ground& g, Outs& o) {
                 return varve_store_sessions(g.store, nullptr, 0, &o.text, &o.len, &o.error);
               }),
          call("varve_store_delete_session",
               [](Ground& g, Outs& o) {
                 return varve_store_delete_session(g.store, "t", kNul, &o.error);
               })
              .that(does([](Ground& g) { return !has_session(g, "t", "ta"); })),
          call("varve_store_query",
               [](Ground& g, Outs& o) {
                 return varve_store_query(g.store, kText, kNul, &o.results, &o.error);
               })
              .leaving_out()
              .always_the_same(),
          call("varve_store_backup",
               [](Ground& g, Outs& o) {
                 return varve_store_backup(g.store, g.paths.copy.c_str(), kNul, nullptr, 0, &o.text,
                                           &o.len, &o.error);
               })
              .that(partly(either(does([](Ground& g) { return is_copied(g.paths.copy); }))))
              .leaving_out(),
          call("varve_store_backup",
               [](Ground& g, Outs& o) {
                 return varve_store_backup(g.store, g.paths.backup.c_str(), kNul, nullptr, 0,
                                           &o.text, &o.len, &o.error);
               })
              .named("once more")
              .that(partly(either(does([](Ground& g) { return is_copied(g.paths.backup); }))))
              .leaving_out(),
          call("varve_store_restore", [](Ground& g, Outs& o) {
            return varve_store_restore(g.store, g.paths.backup.c_str(), kNul,
                                       R"({"sessions":["r"]})", kNul, &o.text, &o.len, &o.error);
          }).that(partly(either(does([](Ground& g) { return has_session(g, "r", "ta"); }))))};
}

Calls store_figure_calls() {
  return {call("varve_store_sweep",
               [](Ground& g, Outs& o) {
                 return varve_store_sweep(g.store, &o.text, &o.len, &o.error);
               }),
          call("varve_store_stats",
               [](Ground& g, Outs& o) {
                 return varve_store_stats(g.store, &o.text, &o.len, &o.error);
               }),
          call("varve_store_usage",
               [](Ground& g, Outs& o) {
                 return varve_store_usage(g.store, nullptr, 0, &o.text, &o.len, &o.error);
               })
              .leaving_out()
              .always_the_same(),
          call("varve_store_metrics",
               [](Ground& g, Outs& o) {
                 return varve_store_metrics(g.store, &o.text, &o.len, &o.error);
               }),
          call("varve_store_set_log",
               [](Ground& g, Outs& o) {
                 return varve_store_set_log(g.store, VARVE_LOG_DEBUG, hear, nullptr, &o.error);
               })
              .without_files(),
          call("varve_store_set_clock",
               [](Ground& g, Outs& o) {
                 return varve_store_set_clock(g.store, tell_time, nullptr, &o.error);
               })
              .without_files(),
          call("varve_store_set_token_counter",
               [](Ground& g, Outs& o) {
                 return varve_store_set_token_counter(g.store, count_tokens, nullptr, &o.error);
               })
              .without_files(),
          call("varve_store_close", [](Ground& g, Outs&) {
            varve_store_close(g.store);
            return VARVE_OK;
          })};
}

Calls session_calls() {
  return {call("varve_session_create",
               [](Ground& g, Outs& o) {
                 return varve_session_create(g.store, R"({"session_id":"n","title":"new"})", kNul,
                                             &o.session, &o.error);
               })
              .that(partly(either(does([](Ground& g) { return has_session(g, "n", nullptr); })))),
          call("varve_session_open",
               [](Ground& g, Outs& o) {
                 return varve_session_open(g.store, "t", kNul, &o.session, &o.error);
               }),
          call("varve_session_close",
               [](Ground& g, Outs&) {
                 varve_session_close(g.session);
                 g.session = nullptr;
                 return VARVE_OK;
               }),
          call("varve_session_id",
               [](Ground& g, Outs&) {
                 return varve_session_id(g.session) != nullptr ? VARVE_OK : VARVE_INTERNAL;
               })
              .without_files(),
          call("varve_session_metadata",
               [](Ground& g, Outs& o) {
                 return varve_session_metadata(g.session, &o.text, &o.len, &o.error);
               }),
          call("varve_session_update",
               [](Ground& g, Outs& o) {
                 return varve_session_update(g.session, R"({"title":"new name"})", kNul, &o.error);
               })
              .that(does([](Ground& g) {
                Outs outs;
                const varve_status_t status =
                    varve_session_metadata(g.session, &outs.text, &outs.len, nullptr);
                return text_of(status, outs).find("new name") != std::string::npos;
              })),
          call("varve_session_sync",
               [](Ground& g, Outs& o) { return varve_session_sync(g.session, &o.error); }),
          call("varve_session_stats",
               [](Ground& g, Outs& o) {
                 return varve_session_stats(g.session, &o.text, &o.len, &o.error);
               }),
          call("varve_session_files",
               [](Ground& g, Outs& o) {
                 return varve_session_files(g.session, &o.text, &o.len, &o.error);
               }),
          call("varve_session_set_progress", [](Ground& g, Outs& o) {
            return varve_session_set_progress(g.session, go_on, nullptr, &o.error);
          }).without_files()};
}

Calls query_calls() {
  return {
      call("varve_session_query", [](Ground& g, Outs& o) { return query(g, o, kText); })
          .named("text")
          .always_the_same(),
      call("varve_session_query", [](Ground& g, Outs& o) { return query(g, o, kText); })
          .named("text without an index")
          .after(without_index)
          .always_the_same(),
      call("varve_session_query",
           [](Ground& g, Outs& o) {
             return query(g, o,
                          R"({"types":["finding"],"tags":{"include":["x.*"]},"sort_by":"time"})");
           })
          .named("conditions")
          .always_the_same(),
      call("varve_session_query",
           [](Ground& g, Outs& o) { return query(g, o, R"({"vector":[1,1],"text":"kettle"})"); })
          .named("vector")
          .always_the_same(),
      call("varve_session_count",
           [](Ground& g, Outs& o) {
             return varve_session_count(g.session, R"({"text":"kettle","types":["finding"]})", kNul,
                                        &o.count, &o.error);
           })
          .always_the_same(),
      call("varve_session_tags",
           [](Ground& g, Outs& o) {
             return varve_session_tags(g.session, &o.text, &o.len, &o.error);
           })
          .always_the_same(),
      call("varve_results_json",
           [](Ground& g, Outs& o) {
             return varve_results_json(g.results, &o.borrowed, &o.len, &o.error);
           })
          .without_files()
          .after(find_results),
      call("varve_context_build",
           [](Ground& g, Outs& o) {
             return varve_context_build(
                 g.session,
                 R"({"retrieve":[{"recency":5},{"query":{"text":"kettle"}}],)"
                 R"("budget":{"max_tokens":500}})",
                 kNul, &o.text, &o.len, &o.error);
           })
          .always_the_same(),
      call("varve_context_build",
           [](Ground& g, Outs& o) {
             return varve_context_build(
                 g.session, R"({"question":"kettle","across":{},"budget":{"max_tokens":500}})",
                 kNul, &o.text, &o.len, &o.error);
           })
          .named("across")
          .leaving_out()
          .always_the_same(),
      call("varve_context_record", [](Ground& g, Outs& o) {
        return varve_context_record(g.session, "user_message", kNul,
                                    R"({"id":"n","content":"hello"})", kNul, &o.text, &o.len,
                                    &o.error);
      }).that(adds({"n"}))};
}

Calls entry_calls() {
  return {call("varve_session_add",
               [](Ground& g, Outs& o) {
                 return varve_session_add(g.session, kNew, kNul, &o.text, &o.len, &o.error);
               })
              .that(adds({"n"})),
          call("varve_session_add",
               [](Ground& g, Outs& o) {
                 return varve_session_add(g.session, kNew, kNul, &o.text, &o.len, &o.error);
               })
              .named("behind a torn tail")
              .after(with_torn_tail)
              .that(adds({"n"})),
          call("varve_session_add_batch",
               [](Ground& g, Outs& o) {
                 return varve_session_add_batch(g.session, kTwo, kNul, &o.text, &o.len, &o.error);
               })
              .that(adds({"n1", "n2"})),
          call("varve_session_get",
               [](Ground& g, Outs& o) {
                 return varve_session_get(g.session, "a", kNul, &o.text, &o.len, &o.error);
               })
              .always_the_same(),
          call("varve_session_delete",
               [](Ground& g, Outs& o) {
                 return varve_session_delete(g.session, "a", kNul, "asked", kNul, &o.error);
               })
              .that(removes({"a"})),
          call("varve_session_delete_where",
               [](Ground& g, Outs& o) {
                 return varve_session_delete_where(g.session, R"({"types":["finding"]})", kNul,
                                                   nullptr, 0, &o.count, &o.error);
               })
              .that(removes({"a", "c"})),
          call("varve_session_put_vector", [](Ground& g, Outs& o) {
            return varve_session_put_vector(g.session, "c", kNul, kVector, 2, &o.error);
          })};
}

Calls capped_calls() {
  return {
      call("varve_kv_set",
           [](Ground& g, Outs& o) {
             return varve_kv_set(g.session, "n", kNul, "new", kNul, &o.error);
           })
          .that(does([](Ground& g) { return key_of(g, "n") == "new"; })),
      call("varve_kv_get",
           [](Ground& g, Outs& o) {
             return varve_kv_get(g.session, "k", kNul, &o.text, &o.len, &o.error);
           })
          .always_the_same(),
      call("varve_kv_delete",
           [](Ground& g, Outs& o) { return varve_kv_delete(g.session, "k", kNul, &o.error); })
          .that(does([](Ground& g) { return key_of(g, "k") != "v"; })),
      call("varve_kv_list",
           [](Ground& g, Outs& o) { return varve_kv_list(g.session, &o.text, &o.len, &o.error); })
          .always_the_same(),
      call("varve_transcript_append",
           [](Ground& g, Outs& o) {
             return varve_transcript_append(g.session, "user", kNul, "and then", kNul, &o.error);
           })
          .that(does([](Ground& g) { return has_turn(g, "and then"); })),
      call("varve_transcript_last", [](Ground& g, Outs& o) {
        return varve_transcript_last(g.session, 5, &o.text, &o.len, &o.error);
      }).always_the_same()};
}

Calls maintenance_calls() {
  return {call("varve_session_verify",
               [](Ground& g, Outs& o) {
                 return varve_session_verify(g.session, nullptr, 0, &o.text, &o.len, &o.error);
               }),
          call("varve_session_repair",
               [](Ground& g, Outs& o) {
                 return varve_session_repair(g.session, nullptr, 0, &o.text, &o.len, &o.error);
               })
              .after(with_damage),
          call("varve_session_compact",
               [](Ground& g, Outs& o) {
                 return varve_session_compact(g.session, nullptr, 0, &o.text, &o.len, &o.error);
               }),
          call("varve_session_compact",
               [](Ground& g, Outs& o) {
                 return varve_session_compact(g.session, nullptr, 0, &o.text, &o.len, &o.error);
               })
              .named("without an index")
              .after(without_index),
          call("varve_session_purge",
               [](Ground& g, Outs& o) {
                 return varve_session_purge(g.session, nullptr, 0, &o.text, &o.len, &o.error);
               })
              .that(partly(either(does(has_no_trace)))),
          call("varve_session_migrate",
               [](Ground& g, Outs& o) {
                 return varve_session_migrate(g.old, nullptr, 0, &o.text, &o.len, &o.error);
               })
              .after(open_old),
          call("varve_session_rebuild_index",
               [](Ground& g, Outs& o) {
                 return varve_session_rebuild_index(g.session, nullptr, 0, &o.text, &o.len,
                                                    &o.error);
               }),
          call("varve_session_index", [](Ground& g, Outs& o) {
            return varve_session_index(g.session, &o.text, &o.len, &o.error);
          })};
}

Calls transfer_calls() {
  return {call("varve_session_export",
               [](Ground& g, Outs& o) {
                 return varve_session_export(g.session, "jsonl", kNul, &o.text, &o.len, &o.error);
               })
              .named("lines")
              .always_the_same(),
          call("varve_session_export",
               [](Ground& g, Outs& o) {
                 return varve_session_export(g.session, "markdown", kNul, &o.text, &o.len,
                                             &o.error);
               })
              .named("markdown"),
          call("varve_session_import",
               [](Ground& g, Outs& o) {
                 return varve_session_import(g.session, kTwo, kNul, &o.text, &o.len, &o.error);
               })
              .that(partly(adds({"n1", "n2"}))),
          call("varve_session_export_file",
               [](Ground& g, Outs& o) {
                 return varve_session_export_file(g.session, g.paths.out.c_str(), kNul, nullptr, 0,
                                                  &o.text, &o.len, &o.error);
               })
              .that(partly(does([](Ground& g) { return fs::exists(g.paths.out); }))),
          call("varve_session_import_file", [](Ground& g, Outs& o) {
            return varve_session_import_file(g.session, g.paths.in.c_str(), kNul, nullptr, 0,
                                             &o.text, &o.len, &o.error);
          }).that(partly(adds({"n1", "n2"})))};
}

Calls memory_calls() {
  return {
      call("varve_memory_open",
           [](Ground& g, Outs& o) {
             return varve_memory_open(g.store, R"({"user_id":"me"})", kNul, &o.memory, &o.error);
           })
          .without_files(),
      call("varve_memory_record",
           [](Ground& g, Outs& o) {
             return varve_memory_record(g.memory, "chat", kNul,
                                        R"({"id":"m","role":"user","content":"kettle"})", kNul,
                                        &o.text, &o.len, &o.error);
           })
          .that(does([](Ground& g) { return is_in_another(g, "chat", "m"); })),
      call("varve_memory_record",
           [](Ground& g, Outs& o) {
             return varve_memory_record(g.memory, "talk", kNul,
                                        R"({"id":"m","role":"user","content":"kettle"})", kNul,
                                        &o.text, &o.len, &o.error);
           })
          .named("in a new session")
          .that(does([](Ground& g) { return is_in_another(g, "talk", "m"); })),
      call("varve_memory_context",
           [](Ground& g, Outs& o) {
             return varve_memory_context(g.memory, "chat", kNul, 0, &o.text, &o.len, &o.error);
           }),
      call("varve_memory_load",
           [](Ground& g, Outs& o) { return varve_memory_load(g.memory, "s", kNul, &o.error); }),
      call("varve_memory_save",
           [](Ground& g, Outs& o) { return varve_memory_save(g.memory, "chat", kNul, &o.error); }),
      call("varve_memory_clear",
           [](Ground& g, Outs& o) { return varve_memory_clear(g.memory, &o.error); }),
      call("varve_memory_store",
           [](Ground& g, Outs& o) {
             return varve_memory_store(g.memory, R"({"id":"m","content":"likes kettles"})", kNul,
                                       &o.text, &o.len, &o.error);
           })
          .that(does([](Ground& g) { return remembers(g, R"("id":"m")"); })),
      call("varve_memory_search",
           [](Ground& g, Outs& o) {
             return varve_memory_search(g.memory, kText, kNul, &o.results, &o.error);
           }),
      call("varve_memory_delete",
           [](Ground& g, Outs& o) {
             return varve_memory_delete(g.memory, "a", kNul, nullptr, 0, &o.error);
           })
          .that(either(removes({"a"}))),
      call("varve_memory_close", [](Ground& g, Outs&) {
        varve_memory_close(g.memory);
        g.memory = nullptr;
        return VARVE_OK;
      })};
}

Calls window_calls() {
  return {
      call("varve_window_new",
           [](Ground&, Outs& o) { return varve_window_new(3, &o.window, &o.error); })
          .without_files(),
      call("varve_window_add",
           [](Ground& g, Outs& o) { return varve_window_add(g.window, kMessage, kNul, &o.error); })
          .without_files()
          .that(in_memory(does([](Ground& g) {
            Outs outs;
            const varve_status_t status =
                varve_window_text(g.window, &outs.text, &outs.len, nullptr);
            return text_of(status, outs).find("kettle") != std::string::npos;
          }))),
      call("varve_window_recent",
           [](Ground& g, Outs& o) {
             return varve_window_recent(g.window, 5, &o.text, &o.len, &o.error);
           })
          .without_files(),
      call(
          "varve_window_text",
          [](Ground& g, Outs& o) { return varve_window_text(g.window, &o.text, &o.len, &o.error); })
          .without_files()
          .always_the_same(),
      call("varve_window_clear", [](Ground& g, Outs& o) {
        return varve_window_clear(g.window, &o.error);
      }).without_files()};
}

Calls base_calls() {
  return {
      call("varve_abi_version",
           [](Ground&, Outs&) {
             return varve_abi_version() == VARVE_ABI_VERSION ? VARVE_OK : VARVE_INTERNAL;
           }),
      call("varve_version",
           [](Ground&, Outs&) { return varve_version() != nullptr ? VARVE_OK : VARVE_INTERNAL; }),
      call("varve_status_name",
           [](Ground&, Outs&) {
             return varve_status_name(VARVE_BUSY) != nullptr ? VARVE_OK : VARVE_INTERNAL;
           }),
      call("varve_free",
           [](Ground&, Outs&) {
             varve_free(nullptr);
             return VARVE_OK;
           }),
      call("varve_error_status",
           [](Ground& g, Outs&) {
             return varve_error_status(g.error) == VARVE_NOT_FOUND ? VARVE_OK : VARVE_INTERNAL;
           })
          .after(make_error),
      call("varve_error_message",
           [](Ground& g, Outs&) {
             return *varve_error_message(g.error) != '\0' ? VARVE_OK : VARVE_INTERNAL;
           })
          .after(make_error),
      call("varve_error_details",
           [](Ground& g, Outs&) {
             return *varve_error_details(g.error) != '\0' ? VARVE_OK : VARVE_INTERNAL;
           })
          .after(make_error),
      call("varve_error_free", [](Ground& g, Outs&) {
        varve_error_free(g.error);
        g.error = nullptr;
        return VARVE_OK;
      }).after(make_error)};
}

Calls handle_calls() {
  return {
      call("varve_results_count",
           [](Ground& g, Outs&) {
             return varve_results_count(g.results) > 0 ? VARVE_OK : VARVE_INTERNAL;
           })
          .after(find_results),
      call("varve_results_entry",
           [](Ground& g, Outs& o) {
             return varve_results_entry(g.results, 0, &o.borrowed, &o.len, &o.error);
           })
          .after(find_results),
      call("varve_results_score",
           [](Ground& g, Outs& o) { return varve_results_score(g.results, 0, &o.score, &o.error); })
          .after(find_results),
      call("varve_results_next",
           [](Ground& g, Outs& o) {
             return varve_results_next(g.results, &o.borrowed, &o.len, &o.error);
           })
          .after(find_results),
      call("varve_results_free",
           [](Ground& g, Outs&) {
             varve_results_free(g.results);
             g.results = nullptr;
             return VARVE_OK;
           })
          .after(find_results),
      call("varve_window_size",
           [](Ground& g, Outs&) {
             return varve_window_size(g.window) == 2 ? VARVE_OK : VARVE_INTERNAL;
           }),
      call("varve_window_free", [](Ground& g, Outs&) {
        varve_window_free(g.window);
        g.window = nullptr;
        return VARVE_OK;
      })};
}

Calls together(std::initializer_list<Calls> parts) {
  Calls all;
  for (const Calls& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

const std::vector<SweptCall>& swept_calls() {
  static const Calls kCalls = together(
      {store_calls(), store_figure_calls(), session_calls(), query_calls(), entry_calls(),
       capped_calls(), maintenance_calls(), transfer_calls(), memory_calls(), window_calls()});
  return kCalls;
}

const std::vector<SweptCall>& calls_without_memory() {
  static const Calls kCalls = together({base_calls(), handle_calls()});
  return kCalls;
}

}  // namespace varve::crash
