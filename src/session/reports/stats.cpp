#include "session/reports/stats.h"

#include <algorithm>
#include <utility>

#include "base/time.h"
#include "base/utf8.h"
#include "index/snapshot.h"
#include "session/metadata/durability_names.h"
#include "session/retries.h"

namespace varve::session {

namespace {

json::Tree count(uint64_t value) { return json::Tree::integer_unsigned(value); }

struct FileFigures {
  uint64_t snapshot_bytes = 0;
  json::Tree modified;  // when the log last changed; null: unknown
};

FileFigures file_figures(Core& core) {
  FileFigures figures;
  const auto files = core.storage->files();
  if (!files.ok()) return figures;
  int64_t modified_ms = 0;
  for (const auto& file : *files) {
    if (file.name == index::kSnapshotFile) figures.snapshot_bytes = file.size_bytes;
    if (!file.name.ends_with(".jsonl")) continue;
    if (file.name == log::kTombstonesFile && file.size_bytes == 0) continue;  // as it was made
    modified_ms = std::max(modified_ms, file.modified_ms);
    figures.modified = json::Tree::string(format_rfc3339(modified_ms));
  }
  return figures;
}

// None of the records is read.
json::Tree vector_figures(Core& core) {
  json::Tree tree = json::Tree::object();
  const auto tail = core.storage->vectors_tail();
  const auto found = tail.ok() ? core.vectors.file().dimension(*tail) : Result<uint32_t>(0U);
  const uint32_t dimension = found.ok() ? *found : 0;
  tree.set("dimension", count(dimension));
  tree.set("records", count(dimension > 0 ? record_count(*tail, dimension) : 0));
  tree.set("memory_bytes", count(core.vectors.memory_bytes()));
  return tree;
}

json::Tree lock_state(const log::LockHolder& holder) {
  json::Tree tree = json::Tree::object();
  tree.set("held", json::Tree::boolean(holder.is_held));
  if (!holder.is_held || holder.process_id == 0) return tree;
  tree.set("process_id", json::Tree::integer(holder.process_id));
  tree.set("operation", json::Tree::string(holder.operation));
  tree.set("since", json::Tree::string(format_rfc3339(holder.since_ms)));
  return tree;
}

json::Tree sizes(const Core& core, uint64_t index_bytes) {
  const log::Tail& tail = core.view.tail;
  const uint64_t vectors_bytes = core.vectors.size_bytes();
  json::Tree tree = json::Tree::object();
  tree.set("log", count(tail.entries_bytes));
  tree.set("index", count(index_bytes));
  tree.set("tombstones", count(tail.tombstones_bytes));
  tree.set("vectors", count(vectors_bytes));
  tree.set("kv", count(core.kv_file.size_bytes));
  tree.set("transcript", count(core.transcript_file.size_bytes));
  tree.set("total", count(tail.entries_bytes + index_bytes + tail.tombstones_bytes + vectors_bytes +
                          core.size.capped_bytes()));
  return tree;
}

json::Tree corruption(const Core& core) {
  json::Tree tree = json::Tree::object();
  tree.set("skipped", count(core.index.skipped_count()));
  tree.set("missing", count(core.index.coverage.missing_count));
  tree.set("torn_tails", count(core.torn_tail_count));
  tree.set("rollback", count(core.rolled_back_count() + core.lost_deletion_count()));
  tree.set("metadata", json::Tree::boolean(!core.metadata.damage().empty()));
  tree.set("kv", count(core.kv_file.damage_count));
  tree.set("transcript", count(core.transcript_file.damage_count));
  return tree;
}

json::Tree index_state(const Core& core) {
  json::Tree tree = json::Tree::object();
  tree.set("loaded", json::Tree::boolean(core.saved.was_used));
  tree.set("rebuilds", count(core.rebuild_count));
  tree.set("reason", json::Tree::string(core.rebuild_reason));
  tree.set("covered_bytes", count(core.saved.covered.log_bytes));
  tree.set("facets_memory_bytes", count(core.index.facets_memory_bytes()));
  tree.set("words_memory_bytes", count(core.index.text_memory_bytes()));
  tree.set("words_of_entries", count(core.index.text_row_count()));
  return tree;
}

Result<json::Tree> stats_now(Core& core) {
  (void)core.metadata_file.look().ok();  // another process may have mended it
  VARVE_TRY(core.catch_up());
  core.size.measure_capped_files();
  FileFigures files = file_figures(core);
  json::Tree lock_tree = lock_state(core.storage->lock_holder());
  core.vectors.look();
  json::Tree vectors = vector_figures(core);
  const log::DurableMark mark = core.storage->durable_mark();
  const uint64_t undurable_bytes = core.storage->undurable().bytes;
  const int64_t now_ms = core.context.clock->now_ms();
  json::Tree tree = json::Tree::object();
  const std::shared_lock lock(core.index_mutex);
  VARVE_TRY(core.check_whole());
  const uint64_t expired = core.index.expired_count(now_ms);
  json::Tree types = json::Tree::object();
  for (const auto& [type, entries] : core.index.type_counts()) types.set(type, count(entries));
  tree.set("session_id", json::Tree::string(core.id));
  tree.set("entries", count(core.index.undeleted_count() - expired));
  tree.set("deleted", count(core.index.tombstone_count()));
  tree.set("expired", count(expired));
  tree.set("size_bytes", sizes(core, files.snapshot_bytes));
  tree.set("size_limit_bytes", count(core.settings.session_bytes_max));
  tree.set("modified", std::move(files.modified));
  tree.set("lock", std::move(lock_tree));
  tree.set("types", std::move(types));
  tree.set("memory_bytes", count(core.memory_bytes_now()));
  tree.set("vectors", std::move(vectors));
  tree.set("last_seq", count(core.index.coverage.last_seq));
  tree.set("durable_seq", count(std::max(mark.last_seq, core.metadata.durable_seq())));
  tree.set("durability", json::Tree::string(name_of(core.durability)));
  tree.set("durable", json::Tree::boolean(undurable_bytes == 0));
  tree.set("undurable_bytes", count(undurable_bytes));
  tree.set("generation", count(core.metadata.generation()));
  tree.set("read_only", json::Tree::boolean(!core.storage->writable()));
  tree.set("corruption", corruption(core));
  tree.set("index", index_state(core));
  return tree;
}

}  // namespace

Result<json::Tree> stats(Core& core) {
  return while_replaced([&] { return stats_now(core); });
}

Result<json::Tree> list_files(Core& core) {
  VARVE_TRY(core.catch_up());  // kNotFound when the session was deleted
  VARVE_TRY_ASSIGN(const auto stored, core.storage->files());
  json::Tree files = json::Tree::array();
  for (const auto& file : stored) {
    json::Tree item = json::Tree::object();
    item.set("name", json::Tree::string(well_formed_utf8(file.name)));
    item.set("size_bytes", count(file.size_bytes));
    item.set("modified", json::Tree::string(format_rfc3339(file.modified_ms)));
    files.push(std::move(item));
  }
  json::Tree tree = json::Tree::object();
  tree.set("files", std::move(files));
  return tree;
}

}  // namespace varve::session
