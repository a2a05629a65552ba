#include "session/core.h"

#include <algorithm>
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

// A session is near its limit above 9 of 10 parts.
constexpr uint64_t kLimitParts = 10;
constexpr uint64_t kNearLimitParts = 9;

// What a waiting writer reads of the others' lines: some milliseconds.
constexpr uint64_t kCloseBytesMax = uint64_t{256} << 10;

// Sets it until its end, however that comes: memory may end.
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
           const Session::Context& session_context)
    : id(std::move(session_id)),
      storage(std::move(session_storage)),
      context(session_context),
      settings(session_context.settings),
      durability(session_context.settings.durability),
      vectors(*storage),
      index(session_context.settings.text),
      cache_(session_context.settings.cached_entries_max) {
  storage->set_sync_histogram(&context.counters->sync_us);
  storage->set_work_while_waiting([this] { follow_closely(); });
  analyzers_.reserve(kIdleAnalyzersMax);  // giving one back must not fail
}

void Core::post(Level level, std::string_view message, json::Tree details) {
  context.events->post(level, "session", id, message, std::move(details));
}

void Core::note_failure(const Status& failure, std::string_view message) noexcept {
  const bool of_disk = failure.code() == Code::kIo || failure.code() == Code::kNoSpace;
  if (!of_disk && failure.code() != Code::kCorruption) return;
  (of_disk ? context.counters->io_errors : context.counters->corruption_errors) += 1;
  try {
    json::Tree details = json::Tree::object();
    details.set("reason", json::Tree::string(failure.message()));
    const Place& place = failure.place();
    if (!place.path.empty()) details.set("file", json::Tree::string(place.path));
    if (place.offset) details.set("offset", json::Tree::integer_unsigned(*place.offset));
    if (place.os_errno != 0) details.set("errno", json::Tree::integer(place.os_errno));
    post(Level::kError, message, std::move(details));
  } catch (const std::bad_alloc&) {
    // The failure itself is answered.
  }
}

void Core::watch_size() noexcept {
  const uint64_t limit = settings.session_bytes_max;
  if (limit == 0) return;
  const uint64_t size = size_bytes();
  const bool is_near = size > limit / kLimitParts * kNearLimitParts;
  if (is_near_limit_.exchange(is_near) || !is_near) return;
  try {
    json::Tree details = json::Tree::object();
    details.set("size_bytes", json::Tree::integer_unsigned(size));
    details.set("limit_bytes", json::Tree::integer_unsigned(limit));
    post(Level::kWarn, "the session approaches its size limit", std::move(details));
  } catch (const std::bad_alloc&) {
    // What was written is written.
  }
}

void Core::watch_durability() noexcept {
  try {
    const log::Undurable kept = storage->undurable();
    const bool is_undurable = kept.bytes > 0;
    if (is_undurable_.exchange(is_undurable) == is_undurable) return;
    if (!is_undurable) {
      post(Level::kInfo, "the disk has taken the entries that were kept in memory");
      return;
    }
    context.counters->io_errors += 1;
    json::Tree details = json::Tree::object();
    details.set("reason", json::Tree::string(kept.reason));
    post(Level::kError, "the disk does not take entries: they are kept in memory",
         std::move(details));
  } catch (const std::bad_alloc&) {
    // What was answered is answered.
  }
}

// --- loading -------------------------------------------------------------------------------------

// The tail of the log and metadata no older than its generation: whoever replaced the log wrote
// down first which gaps in seq that makes legal.
Result<log::Tail> Core::load_metadata_of_tail() {
  VARVE_TRY_ASSIGN(log::Tail before, storage->tail());
  for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
    VARVE_TRY(load_metadata());
    VARVE_TRY_ASSIGN(const log::Tail tail, storage->tail());
    if (tail.generation == before.generation) return tail;
    before = tail;
  }
  return Status(Code::kBusy, "the log is being replaced over and over; try again");
}

Status Core::load() {
  VARVE_TRY_ASSIGN(const log::Tail tail, load_metadata_of_tail());
  measure_capped_files();
  vectors.look();
  const std::unique_lock lock(index_mutex);
  view.tail = tail;
  const Status loaded = load_snapshot();
  post_index_load(loaded);
  if (loaded.ok()) {
    snapshot_was_loaded = true;
    context.counters->index_loads += 1;
  } else {
    rebuild_reason = loaded.message();
    forget_index();
  }
  const bool rebuilt = !loaded.ok() && tail.entries_bytes > 0;
  VARVE_TRY(read_changes(tail));
  if (rebuilt) {
    rebuild_count += 1;
    context.counters->index_rebuilds += 1;
    json::Tree details = json::Tree::object();
    details.set("reason", json::Tree::string(rebuild_reason));
    post(Level::kWarn, "index rebuilt from the log", std::move(details));
  }
  if (rolled_back_count() > 0) {
    context.counters->corruption_errors += 1;
    json::Tree details = json::Tree::object();
    details.set("missing", json::Tree::integer_unsigned(rolled_back_count()));
    details.set("last_seq", json::Tree::integer_unsigned(index.coverage.last_seq));
    post(Level::kError, "the log ends before entries that were durable", std::move(details));
  }
  return {};
}

void Core::post_index_load(const Status& loaded) {
  if (!context.events->wants(Level::kDebug)) return;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(index::kSnapshotFile));
  if (loaded.ok()) {
    const uint64_t rows = index.pending().file->header().row_count;
    details.set("entries", json::Tree::integer_unsigned(rows));
  } else {
    details.set("reason", json::Tree::string(loaded.message()));
  }
  post(Level::kDebug, loaded.ok() ? "cache hit" : "cache miss", std::move(details));
}

Result<Metadata> Core::read_metadata() {
  auto text = storage->get_document("metadata.json");
  if (text.code() == Code::kNotFound) return Status(Code::kCorruption, "it is missing");
  if (!text.ok()) return std::move(text).status();
  auto parsed = Metadata::parse(*text, id);
  if (!parsed.ok() && parsed.code() != Code::kFormatVersion) {
    return Status(Code::kCorruption, parsed.status().message());
  }
  if (!parsed.ok()) {
    return std::move(parsed).status().in_file(storage->name_of_document("metadata.json"));
  }
  return parsed;
}

Status Core::load_metadata() {
  const int64_t now_ms = context.clock->now_ms();
  Result<Metadata> parsed = read_metadata();
  if (!parsed.ok() && parsed.code() != Code::kCorruption) return std::move(parsed).status();
  std::optional<log::SessionRow> listed;
  if (!parsed.ok() && context.find_listed) {
    VARVE_TRY_ASSIGN(listed, context.find_listed(id));
  }
  const std::unique_lock lock(index_mutex);
  if (parsed.ok()) {
    set_metadata(*std::move(parsed));
    if (metadata.edited_outside()) post(Level::kWarn, "metadata.json was edited outside varve");
  } else {
    // The log is the truth; a session is not refused for what only describes it.
    set_metadata(Metadata::recovered(id, now_ms, listed));
    metadata_was_damaged = true;
    context.counters->corruption_errors += 1;
    post(Level::kError, "metadata.json cannot be read: " + parsed.status().message());
  }
  durable_seq_seen = std::max(metadata.durable_seq(), storage->durable_mark().last_seq);
  return {};
}

// index.bin, when it is of this log.
Result<index::Index> Core::open_snapshot_of_log() {
  auto document = storage->open_document(index::kSnapshotFile);
  if (document.code() == Code::kNotFound) {
    return Status(Code::kNotFound, "there was no index.bin");
  }
  if (!document.ok()) return std::move(document).status();
  VARVE_TRY_ASSIGN(auto file, index::SnapshotFile::open(*std::move(document)));
  snapshot_size_bytes = file->size_bytes();
  VARVE_TRY_ASSIGN(index::Index loaded, index::open_snapshot(std::move(file), settings.text));
  const index::Coverage& coverage = loaded.coverage;
  if (coverage.entries_bytes > view.tail.entries_bytes) {
    return Status(Code::kCorruption, "index.bin covers more than there is");
  }
  if (coverage.entries_bytes > 0) {
    // The last covered line, and that the covered part ends with a line.
    std::string line(coverage.last_line_length, '\0');
    char last = '\0';  // and stays when there is none
    const uint64_t generation = view.tail.generation;
    VARVE_TRY_ASSIGN(const size_t got, storage->read(log::Stream::kEntries, generation,
                                                     coverage.last_line_offset, line));
    VARVE_TRY(storage->read(log::Stream::kEntries, generation, coverage.entries_bytes - 1,
                            std::span<char>(&last, 1)));
    if (got != line.size() || hash64(line) != coverage.last_line_hash || last != '\n') {
      return Status(Code::kCorruption, "index.bin is of another log");
    }
  }
  return loaded;
}

Status Core::load_snapshot() {
  VARVE_TRY_ASSIGN(index::Index loaded, open_snapshot_of_log());
  snapshot_covered_bytes = loaded.coverage.entries_bytes;
  snapshot_text_rows = loaded.text_row_count();
  index = std::move(loaded);
  index_epoch += 1;
  index_from_log = false;
  index_is_whole_ = true;
  return {};
}

// Whatever is wrong with index.bin costs a rebuild: what is read next is all of the log.
void Core::give_up_snapshot(const Status& why) {
  forget_index();
  rebuild_reason = why.message();
  rebuild_count += 1;
  context.counters->index_rebuilds += 1;
  snapshot_covered_bytes = 0;  // it is to be written anew
  snapshot_was_loaded = false;
  post(Level::kWarn, "index rebuilt from the log: " + rebuild_reason);
}

void Core::forget_index() {
  index = index::Index(settings.text);
  note_new_index();
}

// Made from the log alone.
void Core::note_new_index() {
  // Where a torn tail begins is where the index ends: a writer would cut off all before it.
  view.torn_entries.clear();
  view.torn_tombstones.clear();
  index_epoch += 1;
  snapshot_text_rows = 0;
  index_from_log = true;
  index_is_whole_ = true;
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
    // The index is made anew by who needs it next.
  }
}

Status Core::catch_up_to(const log::Tail& tail) {
  {
    const std::shared_lock lock(index_mutex);
    if (is_current(tail)) return {};
  }
  const std::unique_lock lock(index_mutex);
  // Since `tail` was seen others may have gone further; going back to it would cost the index.
  VARVE_TRY_ASSIGN(const log::Tail now, storage->tail());
  return is_current(now) ? Status() : read_changes(now);
}

Status Core::read_changes(log::Tail tail) {
  for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
    Status status = read_changes_once(tail);
    if (status.code() != Code::kGone) return status;
    VARVE_TRY_ASSIGN(tail, storage->tail());
  }
  return {Code::kBusy, "the log is being replaced over and over; try again"};
}

Status Core::set_tail(const log::Tail& tail) {
  if (tail.generation != view.tail.generation) {
    // Whoever replaced the log wrote down first which gaps in seq that makes legal.
    auto fresh = read_metadata();
    if (!fresh.ok() && fresh.code() != Code::kCorruption) return std::move(fresh).status();
    if (fresh.ok()) set_metadata(*std::move(fresh));
    cache_.clear();
  }
  view.tail = tail;
  return {};
}

Status Core::read_changes_once(const log::Tail& tail) {
  if (!index_is_whole_ || tail.generation != view.tail.generation ||
      tail.entries_bytes < index.coverage.entries_bytes ||
      tail.tombstones_bytes < index.coverage.tombstones_bytes) {
    forget_index();
  }
  if (tail.entries_bytes != index.coverage.entries_bytes) {
    // New rows come behind those of index.bin.
    index_is_whole_ = false;  // memory may end while they are opened
    Status loaded = load_pending(Part::kOpenRows);
    if (!loaded.ok()) give_up_snapshot(loaded);
  }
  index_is_whole_ = false;
  VARVE_TRY(set_tail(tail));
  VARVE_TRY_ASSIGN(const Reading reading,
                   read_log_into(&index, tail, log_marks(), [](std::string_view) {}));
  note(reading);
  index_is_whole_ = true;
  return {};
}

Core::LogMarks Core::log_marks() {
  durable_seq_seen = std::max(durable_seq_seen, storage->durable_mark().last_seq);
  const uint64_t gaps_legal_to = metadata.compacted_through_seq();
  return {gaps_legal_to, std::max(gaps_legal_to, durable_seq_seen)};
}

// A torn tail that was seen may be cut off before it is read: what is as long again is another one.
Result<Core::Reading> Core::read_log_into(index::Index* into, const log::Tail& tail,
                                          const LogMarks& marks,
                                          const std::function<void(std::string_view line)>& added) {
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
  VARVE_TRY_ASSIGN(log::ScanReport report,
                   log::scan_tombstones(*storage, tail.generation, covered, tail.tombstones_bytes,
                                        [&](const log::ScannedTombstone& line) {
                                          into->add_tombstone(line.tombstone->id);
                                          return Status();
                                        }));
  covered = report.committed_end;
  return report;
}

Result<log::ScanReport> Core::read_entries_into(
    index::Index* into, const log::Tail& tail, const LogMarks& marks,
    const std::function<void(std::string_view line)>& added) {
  index::Coverage& coverage = into->coverage;
  VARVE_TRY_ASSIGN(
      log::ScanReport report,
      log::scan_entries(
          *storage, tail.generation, coverage.entries_bytes, tail.entries_bytes, marks.settled_seq,
          [&](const log::ScannedEntry& line) {
            const index::Location location{line.offset, line.length, hash64(line.bytes)};
            if (into->add(*line.facts, location, marks.gaps_legal_to) ==
                index::Index::Added::kIdTaken) {
              coverage.skipped_count += 1;
              context.counters->lines_skipped += 1;
              context.counters->corruption_errors += 1;
              post(Level::kError, "an id stands twice in the log: '" + line.facts->id + "'");
            } else {
              added(line.bytes);
            }
            coverage.entries_bytes = line.offset + line.length + 1;
            return Status();
          },
          unfinished_batch(tail)));
  coverage.entries_bytes = report.committed_end;
  return report;
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
  context.counters->lines_skipped += report.damaged_count;
  context.counters->corruption_errors += report.damaged_count;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(storage->name_of(stream)));
  details.set("lines", json::Tree::integer_unsigned(report.damaged_count));
  details.set("offset", json::Tree::integer_unsigned(report.damaged.front().offset));
  details.set("reason", json::Tree::string(report.damaged.front().reason));
  post(Level::kError, "damaged lines passed over", std::move(details));
}

log::UnfinishedBatch Core::unfinished_batch(const log::Tail& tail) {
  using log::UnfinishedBatch;
  if (settings.recovery != Recovery::kSalvage) return UnfinishedBatch::kNotThere;
  // Free, and then the end where it was: nobody was in the middle of a write when `tail` was seen.
  const bool is_free = is_ours_to_read_.load() || !storage->lock_holder().is_held;
  const auto now = storage->tail();
  const bool is_still = now.ok() && *now == tail;
  return is_free && is_still ? UnfinishedBatch::kKept : UnfinishedBatch::kNotThere;
}

void Core::note_salvage(const log::ScanReport& report) {
  if (report.salvaged_count == 0) return;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(storage->name_of(log::Stream::kEntries)));
  details.set("lines", json::Tree::integer_unsigned(report.salvaged_count));
  post(Level::kWarn, "lines of an unfinished batch were kept", std::move(details));
}

Status Core::catch_up_as_writer(bool conflict) {
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
  return catch_up();
}

Status Core::cut_torn_tail(log::Stream stream, std::string_view reason, uint64_t covered_bytes,
                           uint64_t tail_bytes) {
  const bool entries = stream == log::Stream::kEntries;
  const std::string why = "torn tail: " + std::string(reason);
  uint64_t generation = 0;
  {
    const std::shared_lock lock(index_mutex);
    generation = view.tail.generation;
  }
  // Bytes first, cut after: a crash in between leaves them in both places, never in neither.
  VARVE_TRY(log::quarantine_range(
      *storage, stream, generation, covered_bytes, tail_bytes - covered_bytes,
      {entries ? "memory.jsonl" : "tombstones.jsonl", why, context.clock->now_ms()}));
  VARVE_TRY(storage->truncate(stream, covered_bytes));
  const bool was_durable = entries && covered_bytes < storage->durable_mark().entries_bytes;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(storage->name_of(stream)));
  details.set("offset", json::Tree::integer_unsigned(covered_bytes));
  details.set("bytes", json::Tree::integer_unsigned(tail_bytes - covered_bytes));
  details.set("reason", json::Tree::string(reason));
  post(was_durable ? Level::kError : Level::kWarn, "torn tail moved to quarantine",
       std::move(details));
  context.counters->torn_tails += 1;
  const std::unique_lock lock(index_mutex);
  torn_tail_count += 1;
  (entries ? view.torn_entries : view.torn_tombstones).clear();
  (entries ? view.tail.entries_bytes : view.tail.tombstones_bytes) = covered_bytes;
  return {};
}

Status Core::rebuild() {
  {
    const std::unique_lock lock(index_mutex);
    VARVE_TRY_ASSIGN(const log::Tail tail, storage->tail());
    forget_index();
    VARVE_TRY(read_changes(tail));
    rebuild_count += 1;
    snapshot_covered_bytes = 0;  // index.bin may be what was wrong: it is to be written anew
  }
  context.counters->index_rebuilds += 1;
  return {};
}

// --- applying what this process wrote ------------------------------------------------------------

// Memory may end while rows are added: then the index is not whole, and the next reader makes it
// anew. What was appended is answered as appended in either case.
void Core::apply_entries(uint64_t start_bytes, const std::vector<NewRow>& rows,
                         uint64_t end_bytes) noexcept {
  const std::unique_lock lock(index_mutex);
  written_bytes_ += end_bytes - start_bytes;
  // A reader may have caught up with these very lines already.
  if (index.coverage.entries_bytes != start_bytes || !index_is_whole_) return;
  index_is_whole_ = false;
  try {
    for (const NewRow& row : rows)
      index.add(*row.facts, row.location, facts_.compacted_through_seq);
  } catch (const std::bad_alloc&) {
    return;
  }
  index.coverage.entries_bytes = end_bytes;
  view.tail.entries_bytes = end_bytes;  // nothing lies behind what was covered: or no append
  index_is_whole_ = true;
}

void Core::apply_tombstones(uint64_t start_bytes, const std::vector<std::string_view>& ids,
                            uint64_t end_bytes) noexcept {
  const std::unique_lock lock(index_mutex);
  if (index.coverage.tombstones_bytes != start_bytes || !index_is_whole_) return;
  index_is_whole_ = false;
  try {
    for (const auto& deleted : ids) index.add_tombstone(deleted);
  } catch (const std::bad_alloc&) {
    return;
  }
  index.coverage.tombstones_bytes = end_bytes;
  if (view.tail.tombstones_bytes == start_bytes) view.tail.tombstones_bytes = end_bytes;
  index_is_whole_ = true;
}

uint64_t Core::next_seq_of_index() const {
  return std::max({index.coverage.last_seq, durable_seq_seen, facts_.compacted_through_seq}) + 1;
}

uint64_t Core::next_seq() const {
  const std::shared_lock lock(index_mutex);
  return next_seq_of_index();
}

Core::AppendPoint Core::append_point() const {
  const std::shared_lock lock(index_mutex);
  return {index.coverage.entries_bytes, next_seq_of_index(), index_epoch,
          index.coverage.skipped_count > 0};
}

uint64_t Core::rolled_back_count() const {
  const uint64_t present = std::max(index.coverage.last_seq, metadata.compacted_through_seq());
  return durable_seq_seen > present ? durable_seq_seen - present : 0;
}

}  // namespace varve::session
