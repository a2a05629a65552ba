#include "varve/context.h"

#include <string>
#include <string_view>

#include "base/ids.h"
#include "capi/calls.h"
#include "capi/text.h"
#include "context/build.h"
#include "context/record.h"

using varve::kIdCharsMax;
using varve::Status;
using varve::capi::json_in;
using varve::capi::optional_json_in;
using varve::capi::StoreRecord;
using varve::capi::text_in;
using varve::capi::TextOut;
using varve::capi::with_session;
using varve::context::Counter;
using varve::session::Session;

extern "C" {

varve_status_t varve_context_build(varve_session_t* session, const char* request_json,
                                   size_t request_len, char** json_out, size_t* json_len_out,
                                   varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_session(session, error_out, [&](Session& target, StoreRecord& store) -> Status {
    VARVE_TRY_ASSIGN(const auto request,
                     optional_json_in(request_json, request_len, "request_json"));
    const StoreRecord::TokenCounter::Stay stay(store.token_counter());
    const Counter counter(stay.function(), stay.user_data(), stay.version(), &store.token_counts());
    VARVE_TRY_ASSIGN(const std::string answer,
                     varve::context::build(target, &store.store(), request, counter));
    return out.set(answer);
  });
}

// What is added stays added, so the memory for the answer is reserved first.
varve_status_t varve_context_record(varve_session_t* session, const char* kind, size_t kind_len,
                                    const char* payload_json, size_t payload_len, char** id_out,
                                    size_t* id_len_out, varve_error_t** error_out) {
  TextOut out(id_out, id_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto kind_name, text_in(kind, kind_len, "kind"));
    VARVE_TRY_ASSIGN(const auto payload, json_in(payload_json, payload_len, "payload_json"));
    VARVE_TRY(out.reserve(kIdCharsMax));
    VARVE_TRY_ASSIGN(const std::string id, varve::context::record(target, kind_name, payload));
    return out.set(id);
  });
}

}  // extern "C"
