#include "session/transfer/export.h"

#include "json/object_reader.h"
#include "log/storage.h"
#include "query/parse.h"
#include "session/query/query.h"
#include "session/retries.h"
#include "transfer/entry_writer.h"
#include "transfer/outside_file.h"

namespace varve::session {

namespace {

struct Written {
  uint64_t entries = 0;
  uint64_t bytes = 0;
};

// kGone when the log was replaced meanwhile: the caller must discard what is in the sink.
Result<Written> write_entries(Core& core, const ExportOptions& options, Progress& progress,
                              log::Sink& sink) {
  Written written;
  std::string piece;
  const auto flush = [&] {
    written.bytes += piece.size();
    Status status = sink.append(piece);
    piece.clear();
    return status;
  };
  LiveRows rows;
  if (options.query.empty()) {
    VARVE_TRY_ASSIGN(rows, core.entries.live_rows());
  } else {
    VARVE_TRY_ASSIGN(const auto query, query::parse_query(options.query, query::Scope::kSet));
    VARVE_TRY_ASSIGN(rows, find_rows(core, query));
  }
  transfer::EntryWriter writer(options.format);
  writer.begin(core.id, piece);
  VARVE_TRY(flush());
  uint64_t done_bytes = 0;
  VARVE_TRY(progress.step(0, rows.bytes));
  VARVE_TRY(core.entries.for_each_line(rows, [&](std::string_view line) {
    VARVE_TRY(writer.entry(line, piece));
    VARVE_TRY(flush());
    written.entries += 1;
    done_bytes += line.size();
    return progress.step(done_bytes, rows.bytes);
  }));
  if (options.format == transfer::ExportFormat::kJson) {
    VARVE_TRY_ASSIGN(const json::Tree metadata, core.metadata_file.described());
    writer.end(metadata, piece);
  }
  VARVE_TRY(flush());
  return written;
}

// Entries in place of a log or of index.bin would be the end of the session they are of.
Status refuse_own_file(const Core& core, std::string_view path) {
  if (core.context.store == nullptr || !core.context.store->is_own_file(path)) return {};
  return {Code::kInvalidArgument,
          "an export may not write among the store's own files; give a path outside the store",
          {.path = std::string(path), .member = "path"}};
}

constexpr std::string_view kFormats = R"("jsonl", "json" or "markdown")";

}  // namespace

Result<ExportOptions> parse_export_options(std::string_view json, bool has_file) {
  ExportOptions options;
  VARVE_TRY(json::read_object(json, [&](json::ObjectReader& reader) {
    reader.read_choice("format", &options.format, transfer::export_format, kFormats);
    if (const auto query = reader.read_object("query")) {
      options.query = json::Tree::from(*query).canonical();
      const Status parsed = query::parse_query(options.query, query::Scope::kSet).status();
      if (!parsed.ok()) reader.fail_inside(*query, parsed);
    }
    if (has_file) reader.read_bool("overwrite", &options.overwrite);
  }));
  return options;
}

Result<ExportOptions> parse_export_format(std::string_view text) {
  if (text.starts_with('{')) return parse_export_options(text, false);
  const auto format = transfer::export_format(text);
  if (!format) {
    return Status(Code::kInvalidArgument, json::not_a_choice("format", kFormats, text),
                  {.member = "format"});
  }
  ExportOptions options;
  options.format = *format;
  return options;
}

Status export_text(Core& core, const ExportOptions& options, const log::BeginSink& begin,
                   const ProgressReceiver& receiver) {
  Progress progress(receiver, "export");
  return while_replaced([&] { return write_entries(core, options, progress, begin()).status(); });
}

Result<json::Tree> export_file(Core& core, std::string_view path, const ExportOptions& options,
                               const ProgressReceiver& receiver) {
  if (core.context.file_system == nullptr) {
    return Status(Code::kUnsupported, "this store has no access to files outside it");
  }
  VARVE_TRY(refuse_own_file(core, path));
  Progress progress(receiver, "export");
  Written written;
  VARVE_TRY(while_replaced([&] {
    return transfer::write_outside_file(
        *core.context.file_system, path, options.overwrite, *core.context.random,
        [&](log::Sink& sink) -> Status {
          VARVE_TRY_ASSIGN(written, write_entries(core, options, progress, sink));
          return {};
        });
  }));
  json::Tree report = json::Tree::object();
  report.set("entries", json::Tree::integer_unsigned(written.entries));
  report.set("bytes", json::Tree::integer_unsigned(written.bytes));
  report.set("format", json::Tree::string(transfer::format_name(options.format)));
  return report;
}

}  // namespace varve::session
