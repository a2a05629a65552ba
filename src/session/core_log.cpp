// Reading the log into the index: as it grows, and all of it anew.
#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "entry/entry.h"
#include "log/quarantine.h"
#include "session/core.h"
#include "session/retries.h"

namespace varve::session {

namespace {

// How much of others' lines a waiting writer reads: a few milliseconds of work.
constexpr uint64_t kCloseBytesMax = uint64_t{256} << 10;

// Sets a flag while it lives; exceptions clear it, too.
class [[nodiscard]] SetHere {
 public:
  explicit SetHere(std::atomic<bool>& flag) : flag_(flag) { flag_.store(true); }
  ~SetHere() { flag_.store(false); }
  SetHere(const SetHere&) = delete;
  SetHere& operator=(const SetHere&) = delete;

 private:
  std::atomic<bool>& flag_;
};

}  // namespace

// --- catching up ---------------------------------------------------------------------------------

bool Core::is_current(const log::Tail& tail) const {
  return index_is_whole_ && tail == view.tail && view.torn_entries.empty() &&
         view.torn_tombstones.empty();
}

Status Core::catch_up() {
  VARVE_TRY(follow());
  return load_rows();
}

Status Core::follow() {
  VARVE_TRY_ASSIGN(const log::Tail tail, storage->tail());
  return catch_up_to(tail);
}

void Core::follow_closely() noexcept {
  try {
    const auto tail = storage->tail();
    if (!tail.ok()) return;
    {
      const std::shared_lock lock(index_mutex);
      const uint64_t covered_bytes = index.coverage.entries_bytes;
      if (!index_is_whole_ || !index.has_rows() || tail->generation != view.tail.generation ||
          tail->entries_bytes < covered_bytes ||
          tail->entries_bytes - covered_bytes > kCloseBytesMax) {
        return;
      }
    }
    (void)catch_up_to(*tail).ok();
  } catch (const std::exception&) {
    // Whoever needs the index next rebuilds it.
  }
}

Status Core::catch_up_to(const log::Tail& tail) {
  VARVE_TRY(read_to(tail));
  if (may_hold_old_vectors_.load()) let_go_of_old_vectors();
  return {};
}

// Whoever replaces the log replaces vectors.bin next, where metadata.json says so. Until it is
// known to be done, each call looks.
void Core::let_go_of_old_vectors() {
  may_hold_old_vectors_.store(false);
  vectors.look();
  if (metadata.may_have_stray_vectors()) may_hold_old_vectors_.store(true);
}

Status Core::read_to(const log::Tail& tail) {
  {
    const std::shared_lock lock(index_mutex);
    if (is_current(tail)) return {};
  }
  const std::unique_lock lock(index_mutex);
  // Since `tail` was seen, others may have read further. Going back to it would discard the index.
  VARVE_TRY_ASSIGN(const log::Tail now, look());
  return is_current(now) ? Status() : read_changes(now);
}

Status Core::read_changes(log::Tail tail) {
  for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
    Status status = read_changes_once(tail);
    if (status.code() != Code::kGone) return status;
    VARVE_TRY_ASSIGN(tail, look());
  }
  return replaced_too_often();
}

// Whoever replaces the log first writes down which gaps in seq become legal. So that is read behind
// the look at the log, and may be of the next one already: of a batch that was half there when it
// was looked at, which then was whole. Hence the second look.
Status Core::meet_replaced_log(log::Tail* tail) {
  auto fresh = metadata_file.read();
  if (!fresh.ok() && fresh.code() != Code::kCorruption) return std::move(fresh).status();
  VARVE_TRY_ASSIGN(const log::Tail now, look());
  if (now.generation != tail->generation) return log::replaced();
  if (fresh.ok()) metadata.set(*std::move(fresh));
  durable_tombstones_seen = metadata.value().durable_tombstones();
  entries.forget();
  may_hold_old_vectors_.store(true);
  *tail = now;
  return {};
}

// Another process may have cut off what is known: as torn, or because the disk did not take all of
// what was looked at meanwhile. What was added since may be longer or, behind a torn tail, as long.
Result<bool> Core::has_known_part(const log::Tail& tail) {
  const index::Coverage& known = index.coverage;
  const bool is_doubted = !view.torn_entries.empty() || tail.entries_bytes > known.entries_bytes;
  if (known.last_line_length > 0 && is_doubted) {
    VARVE_TRY_ASSIGN(const bool is_there, has_covered_part(known, tail.generation));
    if (!is_there) return false;
  }
  const bool are_doubted =
      !view.torn_tombstones.empty() || tail.tombstones_bytes > known.tombstones_bytes;
  if (known.tombstones_bytes == 0 || !are_doubted) return true;
  return has_covered_tombstones(tail.generation);
}

Status Core::read_changes_once(log::Tail tail) {
  if (tail.generation != view.tail.generation) VARVE_TRY(meet_replaced_log(&tail));
  if (!index_is_whole_ || tail.generation != view.tail.generation ||
      tail.entries_bytes < index.coverage.entries_bytes ||
      tail.tombstones_bytes < index.coverage.tombstones_bytes) {
    forget_index();
  }
  VARVE_TRY_ASSIGN(const bool is_there, has_known_part(tail));
  if (!is_there) forget_index();
  if (tail.entries_bytes != index.coverage.entries_bytes) {
    // New rows go behind those of index.bin.
    index_is_whole_ = false;  // an allocation may fail while they are opened
    Status loaded = load_pending(Part::kOpenRows);
    if (!loaded.ok()) give_up_snapshot(loaded);
  }
  index_is_whole_ = false;
  view.tail = tail;
  VARVE_TRY_ASSIGN(const Reading reading, read_log_into(&index, tail, log_marks()));
  note(reading);
  index_is_whole_ = true;
  return {};
}

Result<log::Tail> Core::look() {
  const uint64_t durable_seq = storage->durable_mark().last_seq;
  VARVE_TRY_ASSIGN(const log::Tail tail, storage->tail());
  durable_seq_seen = std::max(durable_seq_seen, durable_seq);
  return tail;
}

Core::LogMarks Core::log_marks() const {
  const uint64_t gaps_legal_to = metadata.compacted_through_seq();
  return {gaps_legal_to, std::max(gaps_legal_to, durable_seq_seen), indexed_tail()};
}

log::Tail Core::indexed_tail() const {
  if (!index_is_whole_) return {};
  return {view.tail.generation, index.coverage.entries_bytes, index.coverage.tombstones_bytes};
}

// A torn tail that was seen may be cut off before it is read: only what was scanned counts.
Result<Core::Reading> Core::read_log_into(index::Index* into, const log::Tail& tail,
                                          const LogMarks& marks, const Added& added) {
  Reading reading;
  reading.tail = tail;
  if (into->coverage.tombstones_bytes != tail.tombstones_bytes) {
    VARVE_TRY_ASSIGN(reading.tombstones, read_tombstones_into(into, tail));
    reading.tail.tombstones_bytes = std::min(tail.tombstones_bytes, reading.tombstones.scanned_end);
  }
  if (into->coverage.entries_bytes != tail.entries_bytes) {
    VARVE_TRY_ASSIGN(reading.entries, read_entries_into(into, tail, marks, added));
    reading.tail.entries_bytes = std::min(tail.entries_bytes, reading.entries.scanned_end);
  }
  return reading;
}

Result<log::ScanReport> Core::read_tombstones_into(index::Index* into, const log::Tail& tail) {
  uint64_t& covered = into->coverage.tombstones_bytes;
  VARVE_TRY_ASSIGN(
      log::ScanReport report,
      log::scan_tombstones(*storage, {tail.generation, covered, tail.tombstones_bytes},
                           [&](const log::ScannedTombstone& line) {
                             into->add_tombstone(line.tombstone->id);
                             into->last_tombstone = {line.offset, line.length, line.hash};
                             return Status();
                           }));
  covered = report.committed_end;
  return report;
}

Result<log::ScanReport> Core::read_entries_into(index::Index* into, const log::Tail& tail,
                                                const LogMarks& marks, const Added& added) {
  index::Coverage& coverage = into->coverage;
  VARVE_TRY_ASSIGN(log::ScanReport report,
                   log::scan_entries(
                       *storage, {tail.generation, coverage.entries_bytes, tail.entries_bytes},
                       marks.settled_seq,
                       [&](const log::ScannedEntry& line) {
                         const index::Location location{line.offset, line.length, line.hash};
                         if (into->add(*line.facts, location, marks.gaps_legal_to) ==
                             index::Index::Added::kIdTaken) {
                           coverage.skipped_count += 1;
                           context.counters->lines_skipped += 1;
                           context.counters->corruption_errors += 1;
                           post_repeated_id(*line.facts, line.offset);
                         } else if (added) {
                           added(line.bytes);
                         }
                         coverage.entries_bytes = line.offset + line.length + 1;
                         return Status();
                       },
                       kept_to(tail, marks.indexed)));
  coverage.entries_bytes = report.committed_end;
  return report;
}

void Core::post_repeated_id(const entry::EntryFacts& facts, uint64_t offset) {
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(storage->name_of(log::Stream::kEntries)));
  details.set("offset", json::Tree::integer_unsigned(offset));
  details.set("id", json::Tree::string(facts.id));
  events.post(Level::kError, "a line was skipped: an earlier one has the same id",
              std::move(details));
}

void Core::note(const Reading& reading) {
  view.tail = reading.tail;
  view.torn_tombstones = reading.tombstones.tail_reason;
  note_damage(reading.tombstones, log::Stream::kTombstones);
  note_salvage(reading.entries);
  view.torn_entries = reading.entries.tail_reason;
  note_damage(reading.entries, log::Stream::kEntries);
}

void Core::note_damage(const log::ScanReport& report, log::Stream stream) {
  if (report.damaged_count == 0) return;
  const bool is_of_entries = stream == log::Stream::kEntries;
  (is_of_entries ? index.coverage.skipped_count : index.damaged_tombstone_count) +=
      report.damaged_count;
  context.counters->lines_skipped += report.damaged_count;
  context.counters->corruption_errors += report.damaged_count;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(storage->name_of(stream)));
  details.set("lines", json::Tree::integer_unsigned(report.damaged_count));
  details.set("offset", json::Tree::integer_unsigned(report.damaged.front().offset));
  details.set("reason", json::Tree::string(report.damaged.front().reason));
  events.post(Level::kError, "damaged lines were skipped", std::move(details));
}

uint64_t Core::kept_to(const log::Tail& tail, const log::Tail& indexed) {
  if (settings.recovery != Recovery::kSalvage) return log::kNoneKept;
  // If the lock is free and the end has not moved since, nobody was writing when `tail` was seen.
  const bool is_free = is_ours_to_read_.load() || !storage->lock_holder().is_held;
  const auto now = storage->tail();
  const bool is_still = now.ok() && *now == tail;
  if (is_free && is_still) return log::kAllKept;
  return indexed.generation == tail.generation ? indexed.entries_bytes : log::kNoneKept;
}

void Core::note_salvage(const log::ScanReport& report) {
  if (report.salvaged_count == 0) return;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(storage->name_of(log::Stream::kEntries)));
  details.set("lines", json::Tree::integer_unsigned(report.salvaged_count));
  events.post(Level::kWarn, "lines of an unfinished batch were kept", std::move(details));
}

// What looks like a torn tail may be a line that somebody is writing without the lock. It is not
// cut off when the log grows meanwhile, but read again.
Status Core::catch_up_as_writer(bool conflict) {
  return while_appended_to("the log",
                           [&](bool again) { return catch_up_and_cut(conflict || again); });
}

Status Core::catch_up_and_cut(bool conflict) {
  VARVE_TRY_ASSIGN(const log::Tail seen, conflict ? storage->tail() : storage->locked_tail());
  {
    const SetHere nobody_writes(is_ours_to_read_);
    VARVE_TRY(catch_up_to(seen));
  }
  VARVE_TRY(load_rows());
  std::string torn_entries;
  std::string torn_tombstones;
  log::Tail tail;
  index::Coverage coverage;
  {
    const std::shared_lock lock(index_mutex);
    if (view.torn_entries.empty() && view.torn_tombstones.empty()) return {};
    torn_entries = view.torn_entries;
    torn_tombstones = view.torn_tombstones;
    tail = view.tail;
    coverage = index.coverage;
  }
  if (!torn_entries.empty()) {
    VARVE_TRY(cut_torn_tail(log::Stream::kEntries, torn_entries, coverage.entries_bytes,
                            tail.entries_bytes));
  }
  if (!torn_tombstones.empty()) {
    VARVE_TRY(cut_torn_tail(log::Stream::kTombstones, torn_tombstones, coverage.tombstones_bytes,
                            tail.tombstones_bytes));
  }
  // What was cut may have been all that told of a batch with a gap before it that it was written.
  if (!torn_entries.empty()) VARVE_TRY(storage->sync(next_seq() - 1));
  return catch_up();
}

Status Core::cut_torn_tail(log::Stream stream, std::string_view reason, uint64_t covered_bytes,
                           uint64_t tail_bytes) {
  const bool is_of_entries = stream == log::Stream::kEntries;
  // Mostly noticed here, and then nothing of theirs goes to quarantine.
  VARVE_TRY_ASSIGN(const log::Tail now, storage->tail());
  if ((is_of_entries ? now.entries_bytes : now.tombstones_bytes) != tail_bytes) {
    return {Code::kConflict, "the log grew meanwhile"};
  }
  uint64_t generation = 0;
  {
    const std::shared_lock lock(index_mutex);
    generation = view.tail.generation;
  }
  // Copied before cut: a crash in between leaves the bytes in both places, never in neither.
  log::Quarantining quarantine(*storage, context.clock->now_ms());
  VARVE_TRY(quarantine.add(generation, {{stream, covered_bytes, tail_bytes - covered_bytes,
                                         "torn tail: " + std::string(reason)}}));
  VARVE_TRY(storage->truncate(stream, tail_bytes, covered_bytes));
  const bool was_durable = is_of_entries && covered_bytes < storage->durable_mark().entries_bytes;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(storage->name_of(stream)));
  details.set("offset", json::Tree::integer_unsigned(covered_bytes));
  details.set("bytes", json::Tree::integer_unsigned(tail_bytes - covered_bytes));
  details.set("reason", json::Tree::string(reason));
  events.post(was_durable ? Level::kError : Level::kWarn, "torn tail moved to quarantine",
              std::move(details));
  context.counters->torn_tails += 1;
  const std::unique_lock lock(index_mutex);
  torn_tail_count += 1;
  (is_of_entries ? view.torn_entries : view.torn_tombstones).clear();
  (is_of_entries ? view.tail.entries_bytes : view.tail.tombstones_bytes) = covered_bytes;
  return {};
}

// --- all of it anew ------------------------------------------------------------------------------

Status Core::rebuild() {
  const std::unique_lock lock(index_mutex);
  VARVE_TRY_ASSIGN(const log::Tail tail, look());
  return rebuild_from(tail);
}

Status Core::rebuild_as_writer() {
  const SetHere nobody_writes(is_ours_to_read_);
  return rebuild();
}

Status Core::rebuild_of_same_words() {
  const std::unique_lock lock(index_mutex);
  VARVE_TRY_ASSIGN(const log::Tail tail, look());
  const bool may_keep_words = index_is_whole_;
  index::Index before = empty_index();
  swap(before, index);
  VARVE_TRY(rebuild_from(tail));
  if (may_keep_words) index.take_words(before, index::Index::SameRows::kById);
  return {};
}

Status Core::rebuild_from(const log::Tail& tail) {
  forget_index();
  VARVE_TRY(read_changes(tail));
  count_rebuild();
  saved.distrust();  // index.bin may be what was wrong, or of another log: write a new one
  return {};
}

void Core::count_rebuild() {
  rebuild_count += 1;
  context.counters->index_rebuilds += 1;
}

Status Core::rebuild_and_start_over() {
  VARVE_TRY(rebuild());
  return index_made_anew();
}

}  // namespace varve::session
