#include "all_calls.h"

#include <gtest/gtest.h>

#include "client.h"

namespace varve_test {
namespace {

constexpr const char* kEntry = R"({"type":"finding","content":1})";
constexpr float kVector[] = {1, 2};

constexpr const char* kMessage = R"({"role":"user","content":"Hello"})";

constexpr const char* kPayload = R"({"content":"hello"})";
constexpr const char* kNoFile = "/dev/null/none";  // cannot be

varve_store_t* store(void* handle) { return static_cast<varve_store_t*>(handle); }
varve_session_t* session(void* handle) { return static_cast<varve_session_t*>(handle); }
varve_memory_t* memory(void* handle) { return static_cast<varve_memory_t*>(handle); }
varve_window_t* window(void* handle) { return static_cast<varve_window_t*>(handle); }

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
      CALL(varve_store_usage, kStore, kText, (store(h), nullptr, 0, &o.text, &o.len, &o.error),
           (store(h), nullptr, 0, nullptr, nullptr, nullptr)),
      CALL(varve_store_metrics, kStore, kText, (store(h), &o.text, &o.len, &o.error),
           (store(h), nullptr, nullptr, nullptr)),
      CALL(varve_store_set_log, kStore, kNothing,
           (store(h), VARVE_LOG_OFF, nullptr, nullptr, &o.error),
           (store(h), VARVE_LOG_OFF, nullptr, nullptr, nullptr)),
      CALL(varve_store_set_clock, kStore, kNothing, (store(h), nullptr, nullptr, &o.error),
           (store(h), nullptr, nullptr, nullptr)),
      CALL(varve_store_set_token_counter, kStore, kNothing, (store(h), nullptr, nullptr, &o.error),
           (store(h), nullptr, nullptr, nullptr)),
      CALL(varve_store_query, kStore, kResults, (store(h), nullptr, 0, &o.results, &o.error),
           (store(h), nullptr, 0, nullptr, nullptr)),
      CALL(varve_session_create, kStore, kSession, (store(h), nullptr, 0, &o.session, &o.error),
           (store(h), nullptr, 0, nullptr, nullptr)),
      CALL(varve_session_open, kStore, kSession, (store(h), "none", kNul, &o.session, &o.error),
           (store(h), "none", kNul, nullptr, nullptr)),
      CALL(varve_memory_open, kStore, kMemory, (store(h), nullptr, 0, &o.memory, &o.error),
           (store(h), nullptr, 0, nullptr, nullptr)),
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

std::vector<Call> vector_calls() {
  return {
      CALL(varve_session_put_vector, kSession, kNothing,
           (session(h), "none", kNul, kVector, 2, &o.error),
           (session(h), "none", kNul, kVector, 2, nullptr)),
  };
}

std::vector<Call> window_calls() {
  return {
      CALL(varve_window_add, kWindow, kNothing, (window(h), kMessage, kNul, &o.error),
           (window(h), kMessage, kNul, nullptr)),
      CALL(varve_window_recent, kWindow, kText, (window(h), SIZE_MAX, &o.text, &o.len, &o.error),
           (window(h), SIZE_MAX, nullptr, nullptr, nullptr)),
      CALL(varve_window_text, kWindow, kText, (window(h), &o.text, &o.len, &o.error),
           (window(h), nullptr, nullptr, nullptr)),
      CALL(varve_window_clear, kWindow, kNothing, (window(h), &o.error), (window(h), nullptr)),
  };
}

std::vector<Call> memory_calls() {
  return {
      CALL(varve_memory_record, kMemory, kText,
           (memory(h), "chat", kNul, kMessage, kNul, &o.text, &o.len, &o.error),
           (memory(h), "chat", kNul, kMessage, kNul, nullptr, nullptr, nullptr)),
      CALL(varve_memory_context, kMemory, kText,
           (memory(h), "chat", kNul, 0, &o.text, &o.len, &o.error),
           (memory(h), "chat", kNul, 0, nullptr, nullptr, nullptr)),
      CALL(varve_memory_load, kMemory, kNothing, (memory(h), "none", kNul, &o.error),
           (memory(h), "none", kNul, nullptr)),
      CALL(varve_memory_save, kMemory, kNothing, (memory(h), "none", kNul, &o.error),
           (memory(h), "none", kNul, nullptr)),
      CALL(varve_memory_clear, kMemory, kNothing, (memory(h), &o.error), (memory(h), nullptr)),
      CALL(varve_memory_store, kMemory, kText,
           (memory(h), kMessage, kNul, &o.text, &o.len, &o.error),
           (memory(h), kMessage, kNul, nullptr, nullptr, nullptr)),
      CALL(varve_memory_search, kMemory, kResults, (memory(h), nullptr, 0, &o.results, &o.error),
           (memory(h), nullptr, 0, nullptr, nullptr)),
      CALL(varve_memory_delete, kMemory, kNothing, (memory(h), "none", kNul, nullptr, 0, &o.error),
           (memory(h), "none", kNul, nullptr, 0, nullptr)),
  };
}

std::vector<Call> context_calls() {
  return {
      CALL(varve_context_build, kSession, kText,
           (session(h), nullptr, 0, &o.text, &o.len, &o.error),
           (session(h), nullptr, 0, nullptr, nullptr, nullptr)),
      CALL(varve_context_record, kSession, kText,
           (session(h), "user_message", kNul, kPayload, kNul, &o.text, &o.len, &o.error),
           (session(h), "user_message", kNul, kPayload, kNul, nullptr, nullptr, nullptr)),
  };
}

std::vector<Call> all() {
  std::vector<Call> calls = store_calls();
  for (const Call& call : session_calls()) calls.push_back(call);
  for (const Call& call : capped_calls()) calls.push_back(call);
  for (const Call& call : vector_calls()) calls.push_back(call);
  for (const Call& call : window_calls()) calls.push_back(call);
  for (const Call& call : memory_calls()) calls.push_back(call);
  for (const Call& call : context_calls()) calls.push_back(call);
  return calls;
}

}  // namespace

const std::vector<Call>& all_calls() {
  static const std::vector<Call> calls = all();
  return calls;
}

OpenHandles::OpenHandles(varve_store_t* store, varve_session_t* session)
    : store_(store), session_(session) {
  EXPECT_EQ(varve_window_new(20, &window_, nullptr), VARVE_OK);
  EXPECT_EQ(varve_memory_open(store, nullptr, 0, &memory_, nullptr), VARVE_OK);
}

OpenHandles::~OpenHandles() {
  varve_window_free(window_);
  varve_memory_close(memory_);
}

void* OpenHandles::of(Takes takes) const {
  switch (takes) {
    case Takes::kStore: return store_;
    case Takes::kSession: return session_;
    case Takes::kWindow: return window_;
    case Takes::kMemory: return memory_;
  }
  return nullptr;
}

}  // namespace varve_test
