#include "session/upkeep/compaction_report.h"

#include <algorithm>
#include <utility>

#include "base/time.h"

namespace varve::session {

namespace {

constexpr size_t kHistoryMax = 20;  // compactions remembered in metadata.json

std::string_view cause_name(CompactionCause cause) {
  constexpr std::array<std::string_view, 3> kNames = {"asked", "automatic", "purge"};
  return kNames[static_cast<size_t>(cause)];
}

// What went was alive, and nobody asked for it.
void warn_of_eviction(Core& core, const CompactionReport& report) {
  const uint64_t evicted = report.dropped_as(Dropped::kEvicted);
  if (evicted == 0) return;
  json::Tree details = json::Tree::object();
  details.set("evicted", json::Tree::integer_unsigned(evicted));
  details.set("limit_bytes", json::Tree::integer_unsigned(core.settings.session_bytes_max));
  core.events.post(Level::kWarn,
                   "entries of little relevance were evicted to stay within the size limit",
                   std::move(details));
}

}  // namespace

json::Tree CompactionReport::tree() const {
  json::Tree rules = json::Tree::object();
  for (size_t i = 0; i < dropped.size(); ++i)
    rules.set(kDroppedNames[i], json::Tree::integer_unsigned(dropped[i]));
  json::Tree tree = json::Tree::object();
  tree.set("entries_before", json::Tree::integer_unsigned(entries_before));
  tree.set("entries_after", json::Tree::integer_unsigned(entries_after));
  tree.set("bytes_before", json::Tree::integer_unsigned(bytes_before));
  tree.set("bytes_after", json::Tree::integer_unsigned(bytes_after));
  tree.set("dropped", std::move(rules));
  if (vectors_before) {
    tree.set("vectors_before", json::Tree::integer_unsigned(*vectors_before));
    tree.set("vectors_after", json::Tree::integer_unsigned(vectors_after));
  }
  tree.set("changed", json::Tree::boolean(changed));
  tree.set("duration_ms", json::Tree::number(duration_ms));
  return tree;
}

Status save_history(Core& core, CompactionCause cause, const CompactionReport& report) {
  const auto durability = cause == CompactionCause::kPurge ? log::DocumentDurability::kNamed
                                                           : log::DocumentDurability::kContent;
  return core.metadata_file.save(durability, [&](Metadata& metadata) {
    const json::Tree now = json::Tree::string(format_rfc3339(core.context.clock->now_ms()));
    json::Tree item = report.tree();
    item.erase("changed");
    item.set("timestamp", now);
    item.set("cause", json::Tree::string(cause_name(cause)));
    json::Tree history = json::Tree::array();
    if (const json::Tree* before = metadata.tree().get("compactions")) {
      const size_t known = before->items().size();
      for (size_t i = known - std::min(known, kHistoryMax - 1); i < known; ++i) {
        history.push(before->items()[i]);
      }
    }
    history.push(std::move(item));
    metadata.tree().set("compactions", std::move(history));
    metadata.tree().set("last_compaction", now);
    if (!report.leaves_stray_vectors) metadata.tree().erase(kStrayVectors);
    return Status();
  });
}

void count_up(Counters& counters, CompactionCause cause, const CompactionReport& report) {
  (cause == CompactionCause::kPurge ? counters.purges : counters.compactions) += 1;
  counters.entries_expired += report.dropped_as(Dropped::kExpired);
  counters.entries_evicted += report.dropped_as(Dropped::kEvicted);
}

void post_end(Core& core, CompactionCause cause, const CompactionReport& report) {
  json::Tree details = report.tree();
  details.set("cause", json::Tree::string(cause_name(cause)));
  const auto saved_bytes = static_cast<double>(report.bytes_before - report.bytes_after);
  details.set("size_reduction_mb", json::Tree::number(saved_bytes / (1 << 20)));
  core.events.post(Level::kInfo, "session compaction completed", std::move(details));
  if (cause == CompactionCause::kAutomatic) warn_of_eviction(core, report);
}

}  // namespace varve::session
