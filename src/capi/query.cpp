#include "varve/query.h"

#include <string>
#include <string_view>

#include "capi/calls.h"
#include "capi/handle_out.h"
#include "capi/results.h"
#include "capi/text.h"

using varve::Code;
using varve::Status;
using varve::capi::HandleOut;
using varve::capi::HandleTable;
using varve::capi::open_results;
using varve::capi::optional_json_in;
using varve::capi::ResultsRecord;
using varve::capi::TextOut;
using varve::capi::to_token;
using varve::capi::with_handle;
using varve::capi::with_session;
using varve::session::QueryResult;
using varve::session::Session;

namespace {

template <typename Use>
Status with_result(ResultsRecord& record, size_t index, Use&& use) {
  const auto& all = record.results().results;
  if (index < all.size()) {
    use(all[index]);
    return {};
  }
  return Status(Code::kInvalidArgument,
                "index is " + std::to_string(index) + "; it must be below the number of results, " +
                    std::to_string(all.size()),
                {.member = "index", .limit = all.size()});
}

// `text` is followed by a NUL.
void give(std::string_view text, const char** text_out, size_t* text_len_out) {
  if (text_out != nullptr) *text_out = text.data();
  if (text_len_out != nullptr) *text_len_out = text.size();
}

void clear(const char** text_out, size_t* text_len_out) {
  if (text_out != nullptr) *text_out = nullptr;
  if (text_len_out != nullptr) *text_len_out = 0;
}

}  // namespace

extern "C" {

varve_status_t varve_session_query(varve_session_t* session, const char* query_json,
                                   size_t query_len, varve_results_t** results_out,
                                   varve_error_t** error_out) {
  HandleOut<varve_results_t> out(results_out, "results_out");
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY(out.check());
    VARVE_TRY_ASSIGN(const auto query, optional_json_in(query_json, query_len, "query_json"));
    return out.set(open_results(target.query(query)));
  });
}

varve_status_t varve_session_count(varve_session_t* session, const char* query_json,
                                   size_t query_len, uint64_t* count_out,
                                   varve_error_t** error_out) {
  if (count_out != nullptr) *count_out = 0;
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto query, optional_json_in(query_json, query_len, "query_json"));
    VARVE_TRY_ASSIGN(const uint64_t count, target.count(query));
    if (count_out != nullptr) *count_out = count;
    return {};
  });
}

varve_status_t varve_session_tags(varve_session_t* session, char** json_out, size_t* json_len_out,
                                  varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_session(session, error_out, [&](Session& target) { return out.set(target.tags()); });
}

size_t varve_results_count(const varve_results_t* results) {
  size_t count = 0;
  with_handle<ResultsRecord>(results, nullptr, [&](ResultsRecord& record) -> Status {
    count = record.results().results.size();
    return {};
  });
  return count;
}

varve_status_t varve_results_entry(const varve_results_t* results, size_t index,
                                   const char** json_out, size_t* json_len_out,
                                   varve_error_t** error_out) {
  clear(json_out, json_len_out);
  return with_handle<ResultsRecord>(results, error_out, [&](ResultsRecord& record) {
    return with_result(record, index, [&](const QueryResult& result) {
      give(*result.line, json_out, json_len_out);
    });
  });
}

varve_status_t varve_results_score(const varve_results_t* results, size_t index,
                                   double* relevance_out, varve_error_t** error_out) {
  if (relevance_out != nullptr) *relevance_out = 0;
  return with_handle<ResultsRecord>(results, error_out, [&](ResultsRecord& record) {
    return with_result(record, index, [&](const QueryResult& result) {
      if (relevance_out != nullptr) *relevance_out = result.relevance;
    });
  });
}

varve_status_t varve_results_next(const varve_results_t* results, const char** cursor_out,
                                  size_t* cursor_len_out, varve_error_t** error_out) {
  clear(cursor_out, cursor_len_out);
  return with_handle<ResultsRecord>(results, error_out, [&](ResultsRecord& record) -> Status {
    give(record.results().next, cursor_out, cursor_len_out);
    return {};
  });
}

varve_status_t varve_results_json(const varve_results_t* results, const char** json_out,
                                  size_t* json_len_out, varve_error_t** error_out) {
  clear(json_out, json_len_out);
  return with_handle<ResultsRecord>(results, error_out, [&](ResultsRecord& record) -> Status {
    give(record.json(), json_out, json_len_out);
    return {};
  });
}

void varve_results_free(varve_results_t* results) {
  (void)HandleTable::of_process().close<ResultsRecord>(to_token(results));
}

}  // extern "C"
