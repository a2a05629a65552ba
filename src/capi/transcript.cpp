#include "varve/transcript.h"

#include "capi/calls.h"
#include "capi/text.h"

using varve::Status;
using varve::capi::text_in;
using varve::capi::TextOut;
using varve::capi::with_session;
using varve::session::Session;

extern "C" {

varve_status_t varve_transcript_append(varve_session_t* session, const char* role, size_t role_len,
                                       const char* content, size_t content_len,
                                       varve_error_t** error_out) {
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto role_text, text_in(role, role_len, "role"));
    VARVE_TRY_ASSIGN(const auto content_text, text_in(content, content_len, "content"));
    return target.transcript_append(role_text, content_text);
  });
}

varve_status_t varve_transcript_last(varve_session_t* session, size_t count, char** json_out,
                                     size_t* json_len_out, varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_session(session, error_out,
                      [&](Session& target) { return out.set(target.transcript_last(count)); });
}

}  // extern "C"
