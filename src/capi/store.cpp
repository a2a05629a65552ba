#include "varve/store.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "capi/calls.h"
#include "capi/handle_out.h"
#include "capi/results.h"
#include "capi/text.h"

using varve::Code;
using varve::Status;
using varve::capi::bad_argument;
using varve::capi::guard;
using varve::capi::HandleOut;
using varve::capi::HandleTable;
using varve::capi::LogReceiver;
using varve::capi::open_results;
using varve::capi::optional_json_in;
using varve::capi::StoreRecord;
using varve::capi::text_in;
using varve::capi::TextOut;
using varve::capi::to_token;
using varve::capi::with_store;

namespace {

using SharedStore = std::shared_ptr<StoreRecord>;

Status check_uri(std::string_view uri) {
  if (uri.empty()) return bad_argument("uri", "is empty");
  const size_t nul = uri.find('\0');
  if (nul == std::string_view::npos) return {};
  return Status(Code::kInvalidArgument,
                "uri has a NUL at byte " + std::to_string(nul) + ", which no path can have",
                {.member = "uri", .offset = nul});
}

Status check_level(int32_t level) {
  if (level >= VARVE_LOG_DEBUG && level <= VARVE_LOG_OFF) return {};
  return bad_argument("level", "is " + std::to_string(level) +
                                   "; it must be from VARVE_LOG_DEBUG (0) to VARVE_LOG_OFF (4)");
}

// The store's record without a pin: for calls that may wait for the host's log function, in which
// the host may be closing this very store.
varve::Result<SharedStore> find_store(varve_store_t* handle) {
  VARVE_TRY_ASSIGN(const auto pin, HandleTable::of_process().pin<StoreRecord>(to_token(handle)));
  return pin.share();
}

}  // namespace

extern "C" {

varve_status_t varve_store_open(const char* uri, size_t uri_len, const char* config_json,
                                size_t config_len, varve_store_t** store_out,
                                varve_error_t** error_out) {
  HandleOut<varve_store_t> out(store_out, "store_out");
  return guard(error_out, [&]() -> Status {
    VARVE_TRY(out.check());
    VARVE_TRY_ASSIGN(const auto uri_text, text_in(uri, uri_len, "uri"));
    VARVE_TRY(check_uri(uri_text));
    VARVE_TRY_ASSIGN(const auto config, optional_json_in(config_json, config_len, "config_json"));
    VARVE_TRY_ASSIGN(auto record, StoreRecord::open(uri_text, config));
    return out.set(HandleTable::of_process().open(std::move(record)));
  });
}

void varve_store_close(varve_store_t* store) {
  const SharedStore record = HandleTable::of_process().close<StoreRecord>(to_token(store));
  if (record != nullptr) record->end();
}

varve_status_t varve_store_sync(varve_store_t* store, varve_error_t** error_out) {
  return with_store(store, error_out,
                    [](const SharedStore& record) { return record->store().sync(); });
}

varve_status_t varve_store_sessions(varve_store_t* store, const char* filter_json,
                                    size_t filter_len, char** json_out, size_t* json_len_out,
                                    varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_store(store, error_out, [&](const SharedStore& record) -> Status {
    VARVE_TRY_ASSIGN(const auto filter, optional_json_in(filter_json, filter_len, "filter_json"));
    return out.set(record->store().sessions(filter));
  });
}

varve_status_t varve_store_delete_session(varve_store_t* store, const char* id, size_t id_len,
                                          varve_error_t** error_out) {
  return with_store(store, error_out, [&](const SharedStore& record) -> Status {
    VARVE_TRY_ASSIGN(const auto id_text, text_in(id, id_len, "id"));
    return record->store().delete_session(id_text);
  });
}

varve_status_t varve_store_query(varve_store_t* store, const char* query_json, size_t query_len,
                                 varve_results_t** results_out, varve_error_t** error_out) {
  HandleOut<varve_results_t> out(results_out, "results_out");
  return with_store(store, error_out, [&](const SharedStore& record) -> Status {
    VARVE_TRY(out.check());
    VARVE_TRY_ASSIGN(const auto query, optional_json_in(query_json, query_len, "query_json"));
    return out.set(open_results(record->store().query(query)));
  });
}

varve_status_t varve_store_backup(varve_store_t* store, const char* path, size_t path_len,
                                  const char* options_json, size_t options_len, char** report_out,
                                  size_t* report_len_out, varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_store(store, error_out, [&](const SharedStore& record) -> Status {
    VARVE_TRY_ASSIGN(const auto target, text_in(path, path_len, "path"));
    VARVE_TRY_ASSIGN(const auto options,
                     optional_json_in(options_json, options_len, "options_json"));
    return out.set(record->store().back_up(target, options));
  });
}

varve_status_t varve_store_restore(varve_store_t* store, const char* path, size_t path_len,
                                   const char* options_json, size_t options_len, char** report_out,
                                   size_t* report_len_out, varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_store(store, error_out, [&](const SharedStore& record) -> Status {
    VARVE_TRY_ASSIGN(const auto source, text_in(path, path_len, "path"));
    VARVE_TRY_ASSIGN(const auto options,
                     optional_json_in(options_json, options_len, "options_json"));
    return out.set(record->store().restore(source, options));
  });
}

varve_status_t varve_store_sweep(varve_store_t* store, char** report_out, size_t* report_len_out,
                                 varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_store(store, error_out,
                    [&](const SharedStore& record) { return out.set(record->store().sweep()); });
}

varve_status_t varve_store_stats(varve_store_t* store, char** json_out, size_t* json_len_out,
                                 varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_store(store, error_out,
                    [&](const SharedStore& record) { return out.set(record->store().stats()); });
}

varve_status_t varve_store_usage(varve_store_t* store, const char* filter_json, size_t filter_len,
                                 char** json_out, size_t* json_len_out, varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_store(store, error_out, [&](const SharedStore& record) -> Status {
    VARVE_TRY_ASSIGN(const auto filter, optional_json_in(filter_json, filter_len, "filter_json"));
    return out.set(record->store().usage(filter));
  });
}

varve_status_t varve_store_metrics(varve_store_t* store, char** text_out, size_t* text_len_out,
                                   varve_error_t** error_out) {
  TextOut out(text_out, text_len_out);
  return with_store(store, error_out, [&](const SharedStore& record) -> Status {
    VARVE_TRY_ASSIGN(const std::string text, record->store().metrics());
    return out.set(text);
  });
}

varve_status_t varve_store_set_log(varve_store_t* store, int32_t level, varve_log_fn fn,
                                   void* user_data, varve_error_t** error_out) {
  return guard(error_out, [&]() -> Status {
    VARVE_TRY_ASSIGN(const SharedStore record, find_store(store));
    VARVE_TRY(check_level(level));
    const bool wanted = fn != nullptr && level != VARVE_LOG_OFF;
    record->log().set(wanted ? fn : nullptr, user_data);
    record->store().set_log(
        wanted ? static_cast<varve::session::Level>(level) : varve::session::Level::kOff,
        wanted ? &LogReceiver::receive : nullptr, &record->log());
    record->deliver_events();
    return {};
  });
}

varve_status_t varve_store_set_clock(varve_store_t* store, varve_clock_fn fn, void* user_data,
                                     varve_error_t** error_out) {
  return with_store(store, error_out, [&](const SharedStore& record) -> Status {
    record->store().set_clock(fn, user_data);
    return {};
  });
}

varve_status_t varve_store_set_token_counter(varve_store_t* store, varve_token_fn fn,
                                             void* user_data, varve_error_t** error_out) {
  return guard(error_out, [&]() -> Status {
    VARVE_TRY_ASSIGN(const SharedStore record, find_store(store));
    record->token_counter().set(fn, user_data);
    return {};
  });
}

}  // extern "C"
