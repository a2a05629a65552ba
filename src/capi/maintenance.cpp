#include "varve/maintenance.h"

#include <string>
#include <string_view>

#include "capi/calls.h"
#include "capi/text.h"
#include "json/document.h"
#include "json/object_reader.h"

using varve::Result;
using varve::Status;
using varve::capi::json_in;
using varve::capi::optional_json_in;
using varve::capi::text_in;
using varve::capi::TextOut;
using varve::capi::with_session;
using varve::json::Document;
using varve::json::ObjectReader;
using varve::session::Session;

namespace {

struct Options {
  bool dry_run = false;
};

// `dry_run` is an option only where it is read; everywhere else it is unknown, as all others are.
Result<Options> read_options(const char* text, size_t len, bool has_dry_run) {
  VARVE_TRY_ASSIGN(const auto json, optional_json_in(text, len, "options_json"));
  Options options;
  if (json.empty()) return options;
  Document document;
  VARVE_TRY(document.parse(json));
  ObjectReader reader(json, document.root());
  if (has_dry_run) reader.read_bool("dry_run", &options.dry_run);
  VARVE_TRY(reader.finish());
  return options;
}

}  // namespace

extern "C" {

varve_status_t varve_session_verify(varve_session_t* session, const char* options_json,
                                    size_t options_len, char** report_out, size_t* report_len_out,
                                    varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY(read_options(options_json, options_len, false).status());
    return out.set(target.verify());
  });
}

varve_status_t varve_session_repair(varve_session_t* session, const char* options_json,
                                    size_t options_len, char** report_out, size_t* report_len_out,
                                    varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const Options options, read_options(options_json, options_len, true));
    return out.set(target.repair(options.dry_run));
  });
}

varve_status_t varve_session_rebuild_index(varve_session_t* session, const char* options_json,
                                           size_t options_len, char** report_out,
                                           size_t* report_len_out, varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY(read_options(options_json, options_len, false).status());
    return out.set(target.rebuild_index());
  });
}

varve_status_t varve_session_index(varve_session_t* session, char** json_out, size_t* json_len_out,
                                   varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto listing, target.index_listing());
    return out.set(listing.pretty());
  });
}

varve_status_t varve_session_export(varve_session_t* session, const char* format, size_t format_len,
                                    char** text_out, size_t* text_len_out,
                                    varve_error_t** error_out) {
  TextOut out(text_out, text_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto format_name, text_in(format, format_len, "format"));
    VARVE_TRY_ASSIGN(const std::string text, target.export_text(format_name));
    return out.set(text);
  });
}

varve_status_t varve_session_import(varve_session_t* session, const char* jsonl, size_t jsonl_len,
                                    char** report_out, size_t* report_len_out,
                                    varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto lines, json_in(jsonl, jsonl_len, "jsonl"));
    return out.set(target.import_lines(lines));
  });
}

}  // extern "C"
