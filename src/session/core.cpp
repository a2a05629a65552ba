#include "session/core.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <new>
#include <utility>

#include "base/hash.h"
#include "base/time.h"
#include "entry/entry.h"
#include "index/snapshot.h"
#include "log/quarantine.h"
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

Core::Core(std::string session_id, std::unique_ptr<log::SessionStorage> session_storage,
           const Context& session_context)
    : id(std::move(session_id)),
      storage(std::move(session_storage)),
      context(session_context),
      settings(context.settings),
      events(id, *context.events, *context.counters),
      own_analyzers(context.analyzers == nullptr ? std::make_unique<AnalyzerPool>(settings.text)
                                                 : nullptr),
      analyzers(context.analyzers == nullptr ? *own_analyzers : *context.analyzers),
      durability(settings.durability),
      vectors(*storage),
      hash_seed(random_value<uint64_t>(*session_context.random)),
      index(empty_index()),
      metadata(settings),
      cache_(settings.cached_entries_max) {
  storage->set_sync_histogram(&context.counters->sync_us);
  storage->set_work_while_waiting([this] { follow_closely(); });
}

std::string Core::user_id() const {
  const std::shared_lock lock(index_mutex);
  return metadata.tree().get_string("user_id");
}

void Core::note_growth(int64_t bytes) noexcept {
  if (context.quota == nullptr) return;
  try {
    context.quota->note_growth(user_id(), bytes);
  } catch (const std::bad_alloc&) {
    // The quota counts again within seconds.
  }
}

void Core::watch_size() noexcept {
  const uint64_t limit_bytes = settings.session_bytes_max;
  if (limit_bytes != 0) events.watch_size(size_bytes(), limit_bytes);
}

// --- loading -------------------------------------------------------------------------------------

Status Core::load() {
  VARVE_TRY_ASSIGN(const log::Tail tail, load_metadata_of_tail());
  measure_capped_files();
  vectors.look();
  const std::unique_lock lock(index_mutex);
  view.tail = tail;
  const Status loaded = load_snapshot();
  post_index_load(loaded);
  if (loaded.ok()) {
    saved.was_used = true;
    context.counters->index_loads += 1;
  } else {
    rebuild_reason = loaded.message();
    forget_index();
  }
  const bool rebuilt = !loaded.ok() && tail.entries_bytes > 0;
  VARVE_TRY(read_changes(tail));
  if (rebuilt) {
    count_rebuild();
    json::Tree details = json::Tree::object();
    details.set("reason", json::Tree::string(rebuild_reason));
    // A missing index.bin is no damage: whoever made a young session has not closed it yet.
    const bool was_missing = loaded.code() == Code::kNotFound;
    events.post(was_missing ? Level::kInfo : Level::kWarn, "index rebuilt from the log",
                std::move(details));
  }
  if (rolled_back_count() > 0) post_rollback();
  if (lost_deletion_count() > 0) post_lost_deletions();
  return {};
}

void Core::post_rollback() {
  context.counters->corruption_errors += 1;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(storage->name_of(log::Stream::kEntries)));
  details.set("missing", json::Tree::integer_unsigned(rolled_back_count()));
  details.set("last_seq", json::Tree::integer_unsigned(index.coverage.last_seq));
  events.post(Level::kError,
              "entries that were durable are missing at the end of the log: restore a copy that "
              "has them, or accept the loss with repair",
              std::move(details));
}

// Not whole until the log has been read: before that an allocation or the disk may fail.
void Core::forget_index() {
  index_is_whole_ = false;
  index = empty_index();
  note_new_index();
}

// For an index made from the log alone.
void Core::note_new_index() {
  // A writer cuts a torn tail off where the index ends, which now is the start of the log.
  view.torn_entries.clear();
  view.torn_tombstones.clear();
  index_epoch += 1;
  saved.covered.text_rows = 0;
  index_from_log = true;
}

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
  auto fresh = read_metadata();
  if (!fresh.ok() && fresh.code() != Code::kCorruption) return std::move(fresh).status();
  VARVE_TRY_ASSIGN(const log::Tail now, look());
  if (now.generation != tail->generation) return log::replaced();
  if (fresh.ok()) metadata.set(*std::move(fresh));
  durable_tombstones_seen = metadata.value().durable_tombstones();
  cache_.clear();
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
  index.coverage.skipped_count += report.damaged_count;
  if (stream == log::Stream::kTombstones) {
    index.damaged_tombstone_count += report.damaged_count;
  }
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
  const bool entries = stream == log::Stream::kEntries;
  // Mostly noticed here, and then nothing of theirs goes to quarantine.
  VARVE_TRY_ASSIGN(const log::Tail now, storage->tail());
  if ((entries ? now.entries_bytes : now.tombstones_bytes) != tail_bytes) {
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
  const bool was_durable = entries && covered_bytes < storage->durable_mark().entries_bytes;
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
  (entries ? view.torn_entries : view.torn_tombstones).clear();
  (entries ? view.tail.entries_bytes : view.tail.tombstones_bytes) = covered_bytes;
  return {};
}

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

// --- applying what this process wrote ------------------------------------------------------------

// An allocation may fail while rows are added. Then the index is not whole, and the next reader
// rebuilds it. What was appended is answered as appended in either case.
void Core::apply_entries(uint64_t start_bytes, const std::vector<NewRow>& rows,
                         uint64_t end_bytes) noexcept {
  const std::unique_lock lock(index_mutex);
  word_debt_.note_written(end_bytes - start_bytes);
  // A reader may have indexed these very lines already.
  if (index.coverage.entries_bytes != start_bytes || !index_is_whole_) return;
  index_is_whole_ = false;
  try {
    for (const NewRow& row : rows)
      index.add(*row.facts, row.location, metadata.compacted_through_seq());
  } catch (const std::bad_alloc&) {
    return;
  }
  index.coverage.entries_bytes = end_bytes;
  view.tail.entries_bytes = end_bytes;  // bytes behind it would have failed the append
  index_is_whole_ = true;
}

void Core::apply_tombstones(uint64_t start_bytes, const std::vector<std::string_view>& ids,
                            std::string_view lines) noexcept {
  const uint64_t end_bytes = start_bytes + lines.size();
  lines.remove_suffix(1);
  const size_t last_at = lines.rfind('\n') + 1;  // behind npos: 0
  const std::string_view last = lines.substr(last_at);
  const std::unique_lock lock(index_mutex);
  if (index.coverage.tombstones_bytes != start_bytes || !index_is_whole_) return;
  index_is_whole_ = false;
  try {
    for (const auto& deleted : ids) index.add_tombstone(deleted);
  } catch (const std::bad_alloc&) {
    return;
  }
  index.coverage.tombstones_bytes = end_bytes;
  index.last_tombstone = {start_bytes + last_at, last.size(), hash64(last)};
  if (view.tail.tombstones_bytes == start_bytes) view.tail.tombstones_bytes = end_bytes;
  index_is_whole_ = true;
}

uint64_t Core::last_seq() const {
  return std::max({index.coverage.last_seq, durable_seq_seen, metadata.compacted_through_seq()});
}

uint64_t Core::next_seq() const {
  const std::shared_lock lock(index_mutex);
  return last_seq() + 1;
}

Core::AppendPoint Core::append_point() const {
  const std::shared_lock lock(index_mutex);
  return {index.coverage.entries_bytes, last_seq() + 1, index_epoch,
          index.coverage.skipped_count > 0};
}

uint64_t Core::rolled_back_count() const {
  const uint64_t present = std::max(index.coverage.last_seq, metadata.compacted_through_seq());
  return durable_seq_seen > present ? durable_seq_seen - present : 0;
}

// --- sizes --------------------------------------------------------------------------------------

uint64_t Core::size_bytes() const {
  const std::shared_lock lock(index_mutex);
  return size_bytes_now();
}

uint64_t Core::size_bytes_now() const {
  return view.tail.entries_bytes + view.tail.tombstones_bytes + saved.size_bytes +
         vectors.size_bytes() + capped_bytes();
}

void Core::measure_capped_files() {
  for (const auto& [name, file] : {std::pair(log::kKeyValueFile, &kv_file),
                                   std::pair(log::kTranscriptFile, &transcript_file)}) {
    const auto document = storage->open_document(name);
    if (document.ok()) file->size_bytes = (*document)->size_bytes();
    if (document.code() == Code::kNotFound) file->size_bytes = 0;
  }
}

Result<uint64_t> Core::measured_size_bytes() {
  VARVE_TRY_ASSIGN(const log::Tail tail, storage->tail());
  measure_capped_files();
  vectors.look();
  const auto snapshot = storage->open_document(index::kSnapshotFile);
  if (!snapshot.ok() && snapshot.code() != Code::kNotFound) return snapshot.status();
  const uint64_t snapshot_bytes = snapshot.ok() ? (*snapshot)->size_bytes() : 0;
  return tail.entries_bytes + tail.tombstones_bytes + snapshot_bytes + vectors.size_bytes() +
         capped_bytes();
}

void Core::follow_sizes() {
  if (settings.session_bytes_max == 0 || !storage->was_locked_by_others()) return;
  measure_capped_files();
  vectors.look();
  const uint64_t mark = storage->document_mark(index::kSnapshotFile);
  if (mark == snapshot_mark_) return;
  const auto document = storage->open_document(index::kSnapshotFile);
  if (!document.ok() && document.code() != Code::kNotFound) return;
  snapshot_mark_ = mark;
  const std::unique_lock lock(index_mutex);
  saved.size_bytes = document.ok() ? (*document)->size_bytes() : 0;
}

uint64_t Core::deleted_count() const {
  const std::shared_lock lock(index_mutex);
  return index.deleted_count();
}

}  // namespace varve::session
