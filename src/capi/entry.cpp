#include "varve/entry.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/ids.h"
#include "capi/calls.h"
#include "capi/text.h"

using varve::kIdCharsMax;
using varve::Status;
using varve::capi::bad_argument;
using varve::capi::json_in;
using varve::capi::optional_text_in;
using varve::capi::text_in;
using varve::capi::TextOut;
using varve::capi::with_session;
using varve::session::Session;

namespace {

// Enough for the ids of a batch as JSON: a given id is part of the text itself; a made one (33
// bytes as JSON) is for an entry of at least 24 bytes.
size_t id_list_bytes_max(std::string_view entries) {
  return std::min(entries.size(), SIZE_MAX / 4) * 2 + 64;
}

}  // namespace

extern "C" {

// What is added stays added, so the memory for the answer is reserved first.
varve_status_t varve_session_add(varve_session_t* session, const char* entry_json, size_t entry_len,
                                 char** id_out, size_t* id_len_out, varve_error_t** error_out) {
  TextOut out(id_out, id_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto entry, json_in(entry_json, entry_len, "entry_json"));
    VARVE_TRY(out.reserve(kIdCharsMax));
    VARVE_TRY_ASSIGN(const std::string id, target.add(entry));
    return out.set(id);
  });
}

varve_status_t varve_session_add_batch(varve_session_t* session, const char* entries,
                                       size_t entries_len, char** ids_out, size_t* ids_len_out,
                                       varve_error_t** error_out) {
  TextOut out(ids_out, ids_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto text, json_in(entries, entries_len, "entries"));
    VARVE_TRY(out.reserve(id_list_bytes_max(text)));
    VARVE_TRY_ASSIGN(const std::string ids, target.add_batch(text));
    return out.set(ids);
  });
}

varve_status_t varve_session_get(varve_session_t* session, const char* id, size_t id_len,
                                 char** json_out, size_t* json_len_out, varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto id_text, text_in(id, id_len, "id"));
    VARVE_TRY_ASSIGN(const auto line, target.read(id_text));
    return out.set(*line);
  });
}

varve_status_t varve_session_delete(varve_session_t* session, const char* id, size_t id_len,
                                    const char* reason, size_t reason_len,
                                    varve_error_t** error_out) {
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto id_text, text_in(id, id_len, "id"));
    VARVE_TRY_ASSIGN(const auto reason_text, optional_text_in(reason, reason_len, "reason"));
    return target.remove(id_text, reason_text);
  });
}

varve_status_t varve_session_delete_where(varve_session_t* session, const char* query_json,
                                          size_t query_len, const char* reason, size_t reason_len,
                                          uint64_t* count_out, varve_error_t** error_out) {
  if (count_out != nullptr) *count_out = 0;
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto query, json_in(query_json, query_len, "query_json"));
    VARVE_TRY_ASSIGN(const auto why, optional_text_in(reason, reason_len, "reason"));
    VARVE_TRY_ASSIGN(const uint64_t count, target.remove_where(query, why));
    if (count_out != nullptr) *count_out = count;
    return {};
  });
}

varve_status_t varve_session_put_vector(varve_session_t* session, const char* id, size_t id_len,
                                        const float* values, uint32_t dimension,
                                        varve_error_t** error_out) {
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto id_text, text_in(id, id_len, "id"));
    if (values == nullptr && dimension > 0) {
      return bad_argument("values", "is NULL, but dimension is not 0");
    }
    return target.put_vector(id_text, {values, dimension});
  });
}

}  // extern "C"
