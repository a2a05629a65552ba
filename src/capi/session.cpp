#include "varve/session.h"

#include <memory>
#include <utility>

#include "capi/calls.h"
#include "capi/handle_out.h"
#include "capi/text.h"

using varve::Status;
using varve::capi::close_child_handle;
using varve::capi::HandleOut;
using varve::capi::json_in;
using varve::capi::open_child_handle;
using varve::capi::optional_json_in;
using varve::capi::SessionRecord;
using varve::capi::StoreRecord;
using varve::capi::text_in;
using varve::capi::TextOut;
using varve::capi::to_token;
using varve::capi::with_handle;
using varve::capi::with_session;
using varve::capi::with_store;
using varve::session::Session;

extern "C" {

varve_status_t varve_session_create(varve_store_t* store, const char* options_json,
                                    size_t options_len, varve_session_t** session_out,
                                    varve_error_t** error_out) {
  HandleOut<varve_session_t> out(session_out, "session_out");
  return with_store(store, error_out, [&](const std::shared_ptr<StoreRecord>& owner) -> Status {
    VARVE_TRY(out.check());
    VARVE_TRY_ASSIGN(const auto options,
                     optional_json_in(options_json, options_len, "options_json"));
    VARVE_TRY_ASSIGN(auto session, owner->store().create_session(options));
    return out.set(open_child_handle<SessionRecord>(owner, std::move(session)));
  });
}

varve_status_t varve_session_open(varve_store_t* store, const char* id, size_t id_len,
                                  varve_session_t** session_out, varve_error_t** error_out) {
  HandleOut<varve_session_t> out(session_out, "session_out");
  return with_store(store, error_out, [&](const std::shared_ptr<StoreRecord>& owner) -> Status {
    VARVE_TRY(out.check());
    VARVE_TRY_ASSIGN(const auto id_text, text_in(id, id_len, "id"));
    VARVE_TRY_ASSIGN(auto session, owner->store().open_session(id_text));
    return out.set(open_child_handle<SessionRecord>(owner, std::move(session)));
  });
}

void varve_session_close(varve_session_t* session) {
  const std::shared_ptr<StoreRecord> store = close_child_handle<SessionRecord>(to_token(session));
  if (store != nullptr) store->deliver_events();
}

const char* varve_session_id(varve_session_t* session) {
  const char* id = nullptr;
  with_handle<SessionRecord>(session, nullptr, [&](SessionRecord& record) {
    id = record.session().id().c_str();
    return Status();
  });
  return id;
}

varve_status_t varve_session_metadata(varve_session_t* session, char** json_out,
                                      size_t* json_len_out, varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_session(session, error_out,
                      [&](Session& target) { return out.set(target.metadata()); });
}

varve_status_t varve_session_update(varve_session_t* session, const char* patch_json,
                                    size_t patch_len, varve_error_t** error_out) {
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto patch, json_in(patch_json, patch_len, "patch_json"));
    return target.update(patch);
  });
}

varve_status_t varve_session_sync(varve_session_t* session, varve_error_t** error_out) {
  return with_session(session, error_out, [](Session& target) { return target.sync(); });
}

varve_status_t varve_session_stats(varve_session_t* session, char** json_out, size_t* json_len_out,
                                   varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_session(session, error_out,
                      [&](Session& target) { return out.set(target.stats_with_usage()); });
}

varve_status_t varve_session_files(varve_session_t* session, char** json_out, size_t* json_len_out,
                                   varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_session(session, error_out, [&](Session& target) { return out.set(target.files()); });
}

varve_status_t varve_session_set_progress(varve_session_t* session, varve_progress_fn fn,
                                          void* user_data, varve_error_t** error_out) {
  return with_handle<SessionRecord>(session, error_out, [&](SessionRecord& record) {
    record.set_progress({fn, user_data});
    return Status();
  });
}

}  // extern "C"
