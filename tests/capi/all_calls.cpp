#include "all_calls.h"

namespace varve_test {
namespace {

constexpr size_t kNul = VARVE_NUL_TERMINATED;
constexpr const char* kEntry = R"({"type":"finding","content":1})";

constexpr const char* kNoFile = "/dev/null/none";  // cannot be

varve_store_t* store(void* handle) { return static_cast<varve_store_t*>(handle); }
varve_session_t* session(void* handle) { return static_cast<varve_session_t*>(handle); }

// One row: the call once with its outs and once without.
#define CALL(name, takes, gives, with_outs, without_outs)      \
  Call {                                                       \
#name, Takes::takes, Gives::gives,                           \
        [](void* h, Outs& o) -> varve_status_t { return name with_outs; }, \
        [](void* h, Outs&) -> varve_status_t { return name without_outs; } \
  }

std::vector<Call> store_calls() {
  return {
      CALL(varve_store_sync, kStore, kNothing, (store(h), &o.error), (store(h), nullptr)),
      CALL(varve_store_sessions, kStore, kText, (store(h), nullptr, 0, &o.text, &o.len, &o.error),
           (store(h), nullptr, 0, nullptr, nullptr, nullptr)),
      CALL(varve_store_delete_session, kStore, kNothing, (store(h), "none", kNul, &o.error),
           (store(h), "none", kNul, nullptr)),
      CALL(varve_store_backup, kStore, kText,
           (store(h), "", kNul, nullptr, 0, &o.text, &o.len, &o.error),
           (store(h), "", kNul, nullptr, 0, nullptr, nullptr, nullptr)),
      CALL(varve_store_restore, kStore, kText,
           (store(h), "", kNul, nullptr, 0, &o.text, &o.len, &o.error),
           (store(h), "", kNul, nullptr, 0, nullptr, nullptr, nullptr)),
      CALL(varve_store_sweep, kStore, kText, (store(h), &o.text, &o.len, &o.error),
           (store(h), nullptr, nullptr, nullptr)),
      CALL(varve_store_stats, kStore, kText, (store(h), &o.text, &o.len, &o.error),
           (store(h), nullptr, nullptr, nullptr)),
      CALL(varve_store_metrics, kStore, kText, (store(h), &o.text, &o.len, &o.error),
           (store(h), nullptr, nullptr, nullptr)),
      CALL(varve_store_set_log, kStore, kNothing,
           (store(h), VARVE_LOG_OFF, nullptr, nullptr, &o.error),
           (store(h), VARVE_LOG_OFF, nullptr, nullptr, nullptr)),
      CALL(varve_store_set_clock, kStore, kNothing, (store(h), nullptr, nullptr, &o.error),
           (store(h), nullptr, nullptr, nullptr)),
      CALL(varve_store_query, kStore, kResults, (store(h), nullptr, 0, &o.results, &o.error),
           (store(h), nullptr, 0, nullptr, nullptr)),
      CALL(varve_session_create, kStore, kSession, (store(h), nullptr, 0, &o.session, &o.error),
           (store(h), nullptr, 0, nullptr, nullptr)),
      CALL(varve_session_open, kStore, kSession, (store(h), "none", kNul, &o.session, &o.error),
           (store(h), "none", kNul, nullptr, nullptr)),
  };
}

std::vector<Call> session_calls() {
  return {
      CALL(varve_session_metadata, kSession, kText, (session(h), &o.text, &o.len, &o.error),
           (session(h), nullptr, nullptr, nullptr)),
      CALL(varve_session_update, kSession, kNothing, (session(h), "{}", kNul, &o.error),
           (session(h), "{}", kNul, nullptr)),
      CALL(varve_session_sync, kSession, kNothing, (session(h), &o.error), (session(h), nullptr)),
      CALL(varve_session_stats, kSession, kText, (session(h), &o.text, &o.len, &o.error),
           (session(h), nullptr, nullptr, nullptr)),
      CALL(varve_session_files, kSession, kText, (session(h), &o.text, &o.len, &o.error),
           (session(h), nullptr, nullptr, nullptr)),
      CALL(varve_session_add, kSession, kText,
           (session(h), kEntry, kNul, &o.text, &o.len, &o.error),
           (session(h), kEntry, kNul, nullptr, nullptr, nullptr)),
      CALL(varve_session_add_batch, kSession, kText,
           (session(h), kEntry, kNul, &o.text, &o.len, &o.error),
           (session(h), kEntry, kNul, nullptr, nullptr, nullptr)),
      CALL(varve_session_get, kSession, kText,
           (session(h), "none", kNul, &o.text, &o.len, &o.error),
           (session(h), "none", kNul, nullptr, nullptr, nullptr)),
      CALL(varve_session_delete, kSession, kNothing,
           (session(h), "none", kNul, nullptr, 0, &o.error),
           (session(h), "none", kNul, nullptr, 0, nullptr)),
      CALL(varve_session_delete_where, kSession, kCount,
           (session(h), R"({"ids":["none"]})", kNul, nullptr, 0, &o.count, &o.error),
           (session(h), R"({"ids":["none"]})", kNul, nullptr, 0, nullptr, nullptr)),
      CALL(varve_session_query, kSession, kResults, (session(h), nullptr, 0, &o.results, &o.error),
           (session(h), nullptr, 0, nullptr, nullptr)),
      CALL(varve_session_count, kSession, kCount,
           (session(h), R"({"ids":["none"]})", kNul, &o.count, &o.error),
           (session(h), nullptr, 0, nullptr, nullptr)),
      CALL(varve_session_tags, kSession, kText, (session(h), &o.text, &o.len, &o.error),
           (session(h), nullptr, nullptr, nullptr)),
      CALL(varve_session_verify, kSession, kText,
           (session(h), nullptr, 0, &o.text, &o.len, &o.error),
           (session(h), nullptr, 0, nullptr, nullptr, nullptr)),
      CALL(varve_session_repair, kSession, kText,
           (session(h), nullptr, 0, &o.text, &o.len, &o.error),
           (session(h), nullptr, 0, nullptr, nullptr, nullptr)),
      CALL(varve_session_compact, kSession, kText,
           (session(h), nullptr, 0, &o.text, &o.len, &o.error),
           (session(h), nullptr, 0, nullptr, nullptr, nullptr)),
      CALL(varve_session_purge, kSession, kText,
           (session(h), nullptr, 0, &o.text, &o.len, &o.error),
           (session(h), nullptr, 0, nullptr, nullptr, nullptr)),
      CALL(varve_session_migrate, kSession, kText,
           (session(h), nullptr, 0, &o.text, &o.len, &o.error),
           (session(h), nullptr, 0, nullptr, nullptr, nullptr)),
      CALL(varve_session_rebuild_index, kSession, kText,
           (session(h), nullptr, 0, &o.text, &o.len, &o.error),
           (session(h), nullptr, 0, nullptr, nullptr, nullptr)),
      CALL(varve_session_index, kSession, kText, (session(h), &o.text, &o.len, &o.error),
           (session(h), nullptr, nullptr, nullptr)),
      CALL(varve_session_export, kSession, kText,
           (session(h), "jsonl", kNul, &o.text, &o.len, &o.error),
           (session(h), "jsonl", kNul, nullptr, nullptr, nullptr)),
      CALL(varve_session_import, kSession, kText,
           (session(h), kEntry, kNul, &o.text, &o.len, &o.error),
           (session(h), kEntry, kNul, nullptr, nullptr, nullptr)),
      CALL(varve_session_export_file, kSession, kText,
           (session(h), kNoFile, kNul, nullptr, 0, &o.text, &o.len, &o.error),
           (session(h), kNoFile, kNul, nullptr, 0, nullptr, nullptr, nullptr)),
      CALL(varve_session_import_file, kSession, kText,
           (session(h), kNoFile, kNul, nullptr, 0, &o.text, &o.len, &o.error),
           (session(h), kNoFile, kNul, nullptr, 0, nullptr, nullptr, nullptr)),
      CALL(varve_session_set_progress, kSession, kNothing, (session(h), nullptr, nullptr, &o.error),
           (session(h), nullptr, nullptr, nullptr)),
  };
}

std::vector<Call> capped_calls() {
  return {
      CALL(varve_kv_set, kSession, kNothing, (session(h), "k", kNul, "v", kNul, &o.error),
           (session(h), "k", kNul, "v", kNul, nullptr)),
      CALL(varve_kv_get, kSession, kText, (session(h), "none", kNul, &o.text, &o.len, &o.error),
           (session(h), "none", kNul, nullptr, nullptr, nullptr)),
      CALL(varve_kv_delete, kSession, kNothing, (session(h), "none", kNul, &o.error),
           (session(h), "none", kNul, nullptr)),
      CALL(varve_kv_list, kSession, kText, (session(h), &o.text, &o.len, &o.error),
           (session(h), nullptr, nullptr, nullptr)),
      CALL(varve_transcript_append, kSession, kNothing,
           (session(h), "user", kNul, "hello", kNul, &o.error),
           (session(h), "user", kNul, "hello", kNul, nullptr)),
      CALL(varve_transcript_last, kSession, kText, (session(h), 1, &o.text, &o.len, &o.error),
           (session(h), 1, nullptr, nullptr, nullptr)),
  };
}

std::vector<Call> all() {
  std::vector<Call> calls = store_calls();
  for (const Call& call : session_calls()) calls.push_back(call);
  for (const Call& call : capped_calls()) calls.push_back(call);
  return calls;
}

}  // namespace

const std::vector<Call>& all_calls() {
  static const std::vector<Call> calls = all();
  return calls;
}

}  // namespace varve_test
