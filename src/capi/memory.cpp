#include "varve/memory.h"

#include <memory>
#include <utility>

#include "base/ids.h"
#include "capi/calls.h"
#include "capi/handle_out.h"
#include "capi/results.h"
#include "capi/text.h"

using varve::kIdCharsMax;
using varve::Status;
using varve::capi::close_child_handle;
using varve::capi::HandleOut;
using varve::capi::json_in;
using varve::capi::MemoryRecord;
using varve::capi::open_child_handle;
using varve::capi::open_results;
using varve::capi::optional_json_in;
using varve::capi::optional_text_in;
using varve::capi::StoreRecord;
using varve::capi::text_in;
using varve::capi::TextOut;
using varve::capi::to_token;
using varve::capi::with_memory;
using varve::capi::with_store;
using varve::memory::Memory;

extern "C" {

varve_status_t varve_memory_open(varve_store_t* store, const char* options_json, size_t options_len,
                                 varve_memory_t** memory_out, varve_error_t** error_out) {
  HandleOut<varve_memory_t> out(memory_out, "memory_out");
  return with_store(store, error_out, [&](const std::shared_ptr<StoreRecord>& owner) -> Status {
    VARVE_TRY(out.check());
    VARVE_TRY_ASSIGN(const auto text, optional_json_in(options_json, options_len, "options_json"));
    VARVE_TRY_ASSIGN(auto options, varve::memory::parse_memory_options(text));
    auto memory = std::make_shared<Memory>(owner->store(), std::move(options));
    return out.set(open_child_handle<MemoryRecord>(owner, std::move(memory)));
  });
}

// What is recorded stays recorded, so the memory for the answer is reserved first.
varve_status_t varve_memory_record(varve_memory_t* memory, const char* session_id,
                                   size_t session_id_len, const char* entry_json, size_t entry_len,
                                   char** id_out, size_t* id_len_out, varve_error_t** error_out) {
  TextOut out(id_out, id_len_out);
  return with_memory(memory, error_out, [&](Memory& target) -> Status {
    VARVE_TRY_ASSIGN(const auto session, text_in(session_id, session_id_len, "session_id"));
    VARVE_TRY_ASSIGN(const auto entry, json_in(entry_json, entry_len, "entry_json"));
    VARVE_TRY(out.reserve(kIdCharsMax));
    VARVE_TRY_ASSIGN(const auto id, target.record(session, entry));
    return out.set(id);
  });
}

varve_status_t varve_memory_context(varve_memory_t* memory, const char* session_id,
                                    size_t session_id_len, uint64_t max_tokens, char** json_out,
                                    size_t* json_len_out, varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_memory(memory, error_out, [&](Memory& target) -> Status {
    VARVE_TRY_ASSIGN(const auto session, text_in(session_id, session_id_len, "session_id"));
    return out.set(target.context(session, max_tokens));
  });
}

varve_status_t varve_memory_load(varve_memory_t* memory, const char* session_id,
                                 size_t session_id_len, varve_error_t** error_out) {
  return with_memory(memory, error_out, [&](Memory& target) -> Status {
    VARVE_TRY_ASSIGN(const auto session, text_in(session_id, session_id_len, "session_id"));
    return target.load(session);
  });
}

varve_status_t varve_memory_save(varve_memory_t* memory, const char* session_id,
                                 size_t session_id_len, varve_error_t** error_out) {
  return with_memory(memory, error_out, [&](Memory& target) -> Status {
    VARVE_TRY_ASSIGN(const auto session, text_in(session_id, session_id_len, "session_id"));
    return target.save(session);
  });
}

varve_status_t varve_memory_clear(varve_memory_t* memory, varve_error_t** error_out) {
  return with_memory(memory, error_out, [](Memory& target) -> Status {
    target.clear();
    return {};
  });
}

varve_status_t varve_memory_store(varve_memory_t* memory, const char* entry_json, size_t entry_len,
                                  char** id_out, size_t* id_len_out, varve_error_t** error_out) {
  TextOut out(id_out, id_len_out);
  return with_memory(memory, error_out, [&](Memory& target) -> Status {
    VARVE_TRY_ASSIGN(const auto entry, json_in(entry_json, entry_len, "entry_json"));
    VARVE_TRY(out.reserve(kIdCharsMax));
    VARVE_TRY_ASSIGN(const auto id, target.store(entry));
    return out.set(id);
  });
}

varve_status_t varve_memory_search(varve_memory_t* memory, const char* query_json, size_t query_len,
                                   varve_results_t** results_out, varve_error_t** error_out) {
  HandleOut<varve_results_t> out(results_out, "results_out");
  return with_memory(memory, error_out, [&](Memory& target) -> Status {
    VARVE_TRY(out.check());
    VARVE_TRY_ASSIGN(const auto query, optional_json_in(query_json, query_len, "query_json"));
    return out.set(open_results(target.search(query)));
  });
}

varve_status_t varve_memory_delete(varve_memory_t* memory, const char* id, size_t id_len,
                                   const char* reason, size_t reason_len,
                                   varve_error_t** error_out) {
  return with_memory(memory, error_out, [&](Memory& target) -> Status {
    VARVE_TRY_ASSIGN(const auto entry_id, text_in(id, id_len, "id"));
    VARVE_TRY_ASSIGN(const auto why, optional_text_in(reason, reason_len, "reason"));
    return target.remove(entry_id, why);
  });
}

void varve_memory_close(varve_memory_t* memory) {
  const auto store = close_child_handle<MemoryRecord>(to_token(memory));
  if (store != nullptr) store->deliver_events();
}

}  // extern "C"
