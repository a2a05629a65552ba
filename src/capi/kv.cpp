#include "varve/kv.h"

#include "capi/calls.h"
#include "capi/text.h"

using varve::Status;
using varve::capi::text_in;
using varve::capi::TextOut;
using varve::capi::with_session;
using varve::session::Session;

extern "C" {

varve_status_t varve_kv_set(varve_session_t* session, const char* key, size_t key_len,
                            const char* value, size_t value_len, varve_error_t** error_out) {
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto key_text, text_in(key, key_len, "key"));
    VARVE_TRY_ASSIGN(const auto value_text, text_in(value, value_len, "value"));
    return target.kv_set(key_text, value_text);
  });
}

varve_status_t varve_kv_get(varve_session_t* session, const char* key, size_t key_len,
                            char** value_out, size_t* value_len_out, varve_error_t** error_out) {
  TextOut out(value_out, value_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto key_text, text_in(key, key_len, "key"));
    VARVE_TRY_ASSIGN(const std::string value, target.kv_get(key_text));
    return out.set(value);
  });
}

varve_status_t varve_kv_delete(varve_session_t* session, const char* key, size_t key_len,
                               varve_error_t** error_out) {
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto key_text, text_in(key, key_len, "key"));
    return target.kv_delete(key_text);
  });
}

varve_status_t varve_kv_list(varve_session_t* session, char** json_out, size_t* json_len_out,
                             varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_session(session, error_out,
                      [&](Session& target) { return out.set(target.kv_list()); });
}

}  // extern "C"
