#include "varve/maintenance.h"

#include <string>
#include <string_view>

#include "capi/calls.h"
#include "capi/text.h"
#include "json/object_reader.h"
#include "log/storage.h"
#include "session/upkeep/compaction.h"

using varve::Result;
using varve::Status;
using varve::capi::json_in;
using varve::capi::optional_json_in;
using varve::capi::text_in;
using varve::capi::TextOut;
using varve::capi::with_session;
using varve::json::ObjectReader;
using varve::json::read_object;
using varve::session::CompactionCause;
using varve::session::CompactionOptions;
using varve::session::Session;

namespace {

using Receiver = const varve::session::ProgressReceiver&;

// `read` takes the members that the call has; all others are unknown.
template <typename Read>
Status read_options(const char* text, size_t len, Read&& read) {
  VARVE_TRY_ASSIGN(const auto json, optional_json_in(text, len, "options_json"));
  return read_object(json, read);
}

Result<CompactionOptions> read_compaction_options(const char* text, size_t len,
                                                  CompactionCause cause) {
  CompactionOptions options;
  options.cause = cause;
  VARVE_TRY(read_options(text, len, [&](ObjectReader& reader) {
    reader.read_bool("dry_run", &options.dry_run);
    if (cause == CompactionCause::kAsked) {
      reader.read_double("evict_below", &options.evict_below, 0, 2);
    }
  }));
  return options;
}

// Puts an export where the caller takes it from.
class ExportSink final : public varve::log::Sink {
 public:
  explicit ExportSink(TextOut& out) : out_(out) {}

  [[nodiscard]] varve::log::BeginSink beginning() {
    return [this]() -> varve::log::Sink& {
      out_.begin();
      return *this;
    };
  }
  Status append(std::string_view bytes) override { return out_.append(bytes); }

 private:
  TextOut& out_;
};

}  // namespace

extern "C" {

varve_status_t varve_session_verify(varve_session_t* session, const char* options_json,
                                    size_t options_len, char** report_out, size_t* report_len_out,
                                    varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_session(session, error_out, [&](Session& target, Receiver receiver) -> Status {
    bool deep = false;
    VARVE_TRY(read_options(options_json, options_len,
                           [&](ObjectReader& reader) { reader.read_bool("deep", &deep); }));
    return out.set(target.verify(deep, receiver));
  });
}

varve_status_t varve_session_repair(varve_session_t* session, const char* options_json,
                                    size_t options_len, char** report_out, size_t* report_len_out,
                                    varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    bool dry_run = false;
    bool accept_edits = false;
    VARVE_TRY(read_options(options_json, options_len, [&](ObjectReader& reader) {
      reader.read_bool("dry_run", &dry_run);
      reader.read_bool("accept_edits", &accept_edits);
    }));
    return out.set(target.repair(dry_run, accept_edits));
  });
}

varve_status_t varve_session_compact(varve_session_t* session, const char* options_json,
                                     size_t options_len, char** report_out, size_t* report_len_out,
                                     varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto options,
                     read_compaction_options(options_json, options_len, CompactionCause::kAsked));
    return out.set(target.compact(options));
  });
}

varve_status_t varve_session_purge(varve_session_t* session, const char* options_json,
                                   size_t options_len, char** report_out, size_t* report_len_out,
                                   varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const auto options,
                     read_compaction_options(options_json, options_len, CompactionCause::kPurge));
    return out.set(target.compact(options));
  });
}

varve_status_t varve_session_migrate(varve_session_t* session, const char* options_json,
                                     size_t options_len, char** report_out, size_t* report_len_out,
                                     varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    bool dry_run = false;
    VARVE_TRY(read_options(options_json, options_len,
                           [&](ObjectReader& reader) { reader.read_bool("dry_run", &dry_run); }));
    return out.set(target.migrate(dry_run));
  });
}

varve_status_t varve_session_rebuild_index(varve_session_t* session, const char* options_json,
                                           size_t options_len, char** report_out,
                                           size_t* report_len_out, varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY(read_options(options_json, options_len, [](ObjectReader&) {}));
    return out.set(target.rebuild_index());
  });
}

varve_status_t varve_session_index(varve_session_t* session, char** json_out, size_t* json_len_out,
                                   varve_error_t** error_out) {
  TextOut out(json_out, json_len_out);
  return with_session(session, error_out, [&](Session& target) -> Status {
    VARVE_TRY_ASSIGN(const std::string listing, target.index_listing());
    return out.set(listing);
  });
}

varve_status_t varve_session_export(varve_session_t* session, const char* format, size_t format_len,
                                    char** text_out, size_t* text_len_out,
                                    varve_error_t** error_out) {
  TextOut out(text_out, text_len_out);
  return with_session(session, error_out, [&](Session& target, Receiver receiver) -> Status {
    VARVE_TRY_ASSIGN(const auto format_name, text_in(format, format_len, "format"));
    ExportSink sink(out);
    VARVE_TRY(target.export_text(format_name, sink.beginning(), receiver));
    return out.give();
  });
}

varve_status_t varve_session_import(varve_session_t* session, const char* jsonl, size_t jsonl_len,
                                    char** report_out, size_t* report_len_out,
                                    varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_session(session, error_out, [&](Session& target, Receiver receiver) -> Status {
    VARVE_TRY_ASSIGN(const auto text, json_in(jsonl, jsonl_len, "jsonl"));
    return out.set(target.import_text(text, receiver));
  });
}

varve_status_t varve_session_export_file(varve_session_t* session, const char* path,
                                         size_t path_len, const char* options_json,
                                         size_t options_len, char** report_out,
                                         size_t* report_len_out, varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_session(session, error_out, [&](Session& target, Receiver receiver) -> Status {
    VARVE_TRY_ASSIGN(const auto file, text_in(path, path_len, "path"));
    VARVE_TRY_ASSIGN(const auto options,
                     optional_json_in(options_json, options_len, "options_json"));
    return out.set(target.export_file(file, options, receiver));
  });
}

varve_status_t varve_session_import_file(varve_session_t* session, const char* path,
                                         size_t path_len, const char* options_json,
                                         size_t options_len, char** report_out,
                                         size_t* report_len_out, varve_error_t** error_out) {
  TextOut out(report_out, report_len_out);
  return with_session(session, error_out, [&](Session& target, Receiver receiver) -> Status {
    VARVE_TRY_ASSIGN(const auto file, text_in(path, path_len, "path"));
    VARVE_TRY_ASSIGN(const auto options,
                     optional_json_in(options_json, options_len, "options_json"));
    return out.set(target.import_file(file, options, receiver));
  });
}

}  // extern "C"
