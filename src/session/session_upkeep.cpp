// Calls that look after a session, or tell of it as a whole: reports, upkeep, export and import.
#include <limits>
#include <utility>

#include "session/reports/index_listing.h"
#include "session/reports/stats.h"
#include "session/session_parts.h"
#include "session/transfer/export.h"
#include "session/transfer/import.h"
#include "session/upkeep/compaction.h"
#include "session/upkeep/index_rebuild.h"
#include "session/upkeep/migration.h"
#include "session/upkeep/repair.h"
#include "session/upkeep/verify.h"

namespace varve::session {

Result<json::Tree> Session::stats() {
  VARVE_TRY(parts_->core.check_not_expired());
  Result<json::Tree> tree = session::stats(parts_->core);
  if (tree.ok() && parts_->writer.has_unsynced()) tree->set("durable", json::Tree::boolean(false));
  return tree;
}

Result<UsageByDay> Session::usage(int64_t start_ms, int64_t end_ms) {
  VARVE_TRY(parts_->core.check_not_expired());
  return parts_->usage.by_day(start_ms, end_ms);
}

Result<json::Tree> Session::stats_with_usage() {
  VARVE_TRY_ASSIGN(const auto days,
                   usage(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
  Usage total;
  for (const auto& [day, usage_of_day] : days) total.add(usage_of_day);
  json::Tree tree = json::Tree::object();
  total.write_to(tree);
  VARVE_TRY_ASSIGN(json::Tree figures, stats());
  figures.set("usage", std::move(tree));
  return figures;
}

Result<json::Tree> Session::files() {
  VARVE_TRY(parts_->core.check_not_expired());
  return list_files(parts_->core);
}

Result<json::Tree> Session::verify(bool deep, const ProgressReceiver& receiver) {
  VARVE_TRY(parts_->core.check_not_expired());
  return session::verify(parts_->core, parts_->writer, deep, receiver);
}

Result<json::Tree> Session::repair(bool dry_run, bool accept_edits) {
  VARVE_TRY(parts_->core.check_not_expired());
  return session::repair(parts_->core, parts_->writer, {dry_run, accept_edits});
}

Result<json::Tree> Session::compact(const CompactionOptions& options) {
  VARVE_TRY(parts_->core.check_not_expired());
  return session::compact(parts_->core, parts_->writer, options);
}

Result<json::Tree> Session::migrate(bool dry_run) {
  VARVE_TRY(parts_->core.check_not_expired());
  return session::migrate(parts_->core, parts_->writer, dry_run);
}

Result<std::string> Session::index_listing() {
  VARVE_TRY(parts_->core.check_not_expired());
  return list_index(parts_->core);
}

Result<json::Tree> Session::rebuild_index() {
  VARVE_TRY(parts_->core.check_not_expired());
  Core& core = parts_->core;
  const int64_t start_us = core.context.clock->monotonic_us();
  VARVE_TRY(session::rebuild_index(core));
  parts_->writer.save_snapshot(Saving::kAlways, Patience::kOfAWrite);
  const int64_t duration_us = core.context.clock->monotonic_us() - start_us;
  json::Tree report = json::Tree::object();
  const std::shared_lock lock(core.index_mutex);
  report.set("entries", json::Tree::integer_unsigned(core.index.undeleted_count()));
  report.set("duration_ms", json::Tree::number(static_cast<double>(duration_us) / 1000.0));
  return report;
}

Status Session::export_text(std::string_view format, const log::BeginSink& begin,
                            const ProgressReceiver& receiver) {
  VARVE_TRY(parts_->core.check_not_expired());
  VARVE_TRY_ASSIGN(const auto options, parse_export_format(format));
  return session::export_text(parts_->core, options, begin, receiver);
}

Result<json::Tree> Session::export_file(std::string_view path, std::string_view options,
                                        const ProgressReceiver& receiver) {
  VARVE_TRY(parts_->core.check_not_expired());
  VARVE_TRY_ASSIGN(const auto parsed, parse_export_options(options, true));
  return session::export_file(parts_->core, path, parsed, receiver);
}

Result<json::Tree> Session::import_text(std::string_view text, const ProgressReceiver& receiver) {
  VARVE_TRY(parts_->check_is_there());
  transfer::TextInput input(text);
  auto report = import_entries(parts_->core, parts_->writer, parts_->ids, input, {}, receiver);
  parts_->writer.save_snapshot(Saving::kIfDue);
  return report;
}

Result<json::Tree> Session::import_file(std::string_view path, std::string_view options,
                                        const ProgressReceiver& receiver) {
  VARVE_TRY(parts_->check_is_there());
  VARVE_TRY_ASSIGN(const auto parsed, parse_import_options(options));
  io::FileSystem* files = parts_->core.context.file_system;
  if (files == nullptr) {
    return Status(Code::kUnsupported, "this store has no access to files outside it");
  }
  VARVE_TRY_ASSIGN(const auto input, transfer::FileInput::open(*files, path));
  auto report = import_entries(parts_->core, parts_->writer, parts_->ids, *input, parsed, receiver);
  parts_->writer.save_snapshot(Saving::kIfDue);
  return report;
}

}  // namespace varve::session
