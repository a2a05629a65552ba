// What a session keeps beside its log: the index snapshot and metadata.json.
#include <algorithm>
#include <utility>

#include "base/time.h"
#include "index/snapshot.h"
#include "log/quarantine.h"
#include "session/core.h"

namespace varve::session {

namespace {

// A snapshot is due when the part of the log it leaves out is larger than this and than half of
// what it covers: the work stays proportional to the log, and opening reads a third at most.
constexpr uint64_t kUncoveredBytesMin = uint64_t{1} << 20;

// At the end of a session less: so much of the log is left to the next opening, in proportion to
// what index.bin covers, since whoever adds one entry must not write the index of all.
constexpr uint64_t kLeftBytesMin = uint64_t{16} << 10;  // 0.1 ms to read
constexpr uint64_t kLeftBytesMax = uint64_t{1} << 20;   // 8 ms
constexpr uint64_t kLeftDivisor = 64;
constexpr uint32_t kWordsRowsWorthSaving = 256;

// The counters of metadata.json's `statistics` as the seed names them; other types by their own.
std::string statistic_name(const std::string& type) {
  if (type == "conversation" || type == "decision" || type == "finding" || type == "preference") {
    return type + "s";
  }
  return type;
}

}  // namespace

bool Core::is_snapshot_wanted(bool always) const {
  const std::shared_lock lock(index_mutex);
  const uint64_t covered_bytes = index.coverage.entries_bytes;
  const uint64_t uncovered = covered_bytes - std::min(covered_bytes, snapshot_covered_bytes);
  const bool due = uncovered > std::max(kUncoveredBytesMin, snapshot_covered_bytes / 2);
  const bool up_to_date = covered_bytes == snapshot_covered_bytes && snapshot_size_bytes > 0 &&
                          index.text_row_count() <= snapshot_text_rows;
  const bool nothing = covered_bytes == 0 && snapshot_size_bytes == 0;
  return !nothing && (due || always) && !(up_to_date && snapshot_was_loaded);
}

bool Core::is_snapshot_worth_saving() const {
  const std::shared_lock lock(index_mutex);
  const uint64_t covered_bytes = index.coverage.entries_bytes;
  const uint64_t left_bytes =
      std::clamp(snapshot_covered_bytes / kLeftDivisor, kLeftBytesMin, kLeftBytesMax);
  return !snapshot_was_loaded || covered_bytes > snapshot_covered_bytes + left_bytes ||
         pending_words_bytes() > left_bytes || has_many_words_to_save();
}

bool Core::has_words_to_save() const {
  const std::shared_lock lock(index_mutex);
  return has_many_words_to_save();
}

bool Core::has_many_words_to_save() const {
  return index.text_row_count() > snapshot_text_rows + kWordsRowsWorthSaving;
}

// What another process has saved since needs no saving again, unless we found index.bin wrong.
void Core::note_snapshot_of_others() {
  const std::unique_lock lock(index_mutex);
  if (snapshot_covered_bytes == 0) return;
  const auto saved = open_snapshot_of_log();
  if (!saved.ok() || saved->coverage.entries_bytes <= snapshot_covered_bytes) return;
  snapshot_covered_bytes = saved->coverage.entries_bytes;
  snapshot_text_rows = saved->text_row_count();
}

std::optional<Core::Snapshot> Core::prepare_snapshot(bool always, bool words) {
  if (!storage->writable()) return std::nullopt;
  if (words) index_pending_words(always);
  if (!is_snapshot_wanted(always)) return std::nullopt;
  if (!always) {
    note_snapshot_of_others();
    if (!is_snapshot_wanted(false)) return std::nullopt;
  }
  // What index.bin has and we never read goes into the new one. With nothing pending all of it was
  // read and checked, so no damage can show any more. Another thread may take the index anew
  // between the locks.
  while (true) {
    {
      const std::shared_lock lock(index_mutex);
      if (!index_is_whole_) return std::nullopt;
      if (!index.pending().any()) {
        return Snapshot{index::encode_snapshot(index), view.tail.generation,
                        index.coverage.entries_bytes, index.text_row_count()};
      }
    }
    if (!load_sections().ok()) return std::nullopt;
  }
}

void Core::put_snapshot(const Snapshot& snapshot) {
  const auto tail = storage->tail();  // under the lock it stays
  if (!tail.ok() || tail->generation != snapshot.generation) return;
  const Status saved =
      storage->put_document(index::kSnapshotFile, snapshot.bytes, log::DocumentDurability::kNone);
  if (!saved.ok()) {
    post(Level::kDebug, "index.bin was not saved: " + saved.message());
    return;
  }
  const std::unique_lock lock(index_mutex);
  snapshot_covered_bytes = snapshot.covered_bytes;
  snapshot_size_bytes = snapshot.bytes.size();
  snapshot_text_rows = snapshot.text_rows;
  snapshot_was_loaded = true;
}

void Core::count_into(json::Tree& tree) const {
  const std::shared_lock lock(index_mutex);
  json::Tree statistics = json::Tree::object();
  for (const auto name : {"conversations", "decisions", "findings", "preferences"}) {
    statistics.set(name, json::Tree::integer(0));
  }
  for (const auto& [type, count] : index.type_counts()) {
    statistics.set(statistic_name(type), json::Tree::integer_unsigned(count));
  }
  tree.set("statistics", std::move(statistics));
  tree.set("total_entries", json::Tree::integer_unsigned(index.size() - index.deleted_count()));
  tree.set("total_size_bytes", json::Tree::integer_unsigned(
                                   view.tail.entries_bytes + view.tail.tombstones_bytes +
                                   snapshot_size_bytes + vectors.size_bytes() + capped_bytes()));
  tree.set("last_accessed", json::Tree::string(format_rfc3339(context.clock->now_ms())));
}

Status Core::save_metadata(log::DocumentDurability kept,
                           const std::function<Status(Metadata&)>& change) {
  // Another process may have changed it since we read it: what is in the file counts.
  Metadata fresh;
  {
    const std::shared_lock lock(index_mutex);
    fresh = metadata;
  }
  auto text = storage->get_document("metadata.json");
  if (text.ok()) {
    auto parsed = Metadata::parse(*text, id);
    if (parsed.ok()) {
      fresh = *std::move(parsed);
    } else if (parsed.code() == Code::kFormatVersion) {
      return std::move(parsed).status().in_file(storage->name_of_document("metadata.json"));
    } else {
      VARVE_TRY(log::quarantine_bytes(
          *storage, *text, 0, {"metadata.json", "it could not be read", context.clock->now_ms()}));
    }
  } else if (text.code() != Code::kNotFound) {
    return std::move(text).status();
  }
  VARVE_TRY(change(fresh));
  count_into(fresh.tree());
  // Nothing may fail once it is in the file.
  MetadataFacts facts = facts_of(fresh);
  VARVE_TRY(storage->put_document("metadata.json", fresh.encode(), kept));
  const std::unique_lock lock(index_mutex);
  take_metadata(std::move(fresh), std::move(facts));
  return {};
}

}  // namespace varve::session
