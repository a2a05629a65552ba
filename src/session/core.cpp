#include "session/core.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/time.h"
#include "entry/entry.h"
#include "index/snapshot.h"
#include "log/quarantine.h"
#include "session/decay_config.h"

namespace varve::session {

namespace {

constexpr int kReplacedMax = 8;  // generations that may pass by during one read

}  // namespace

Core::Core(std::string session_id, std::unique_ptr<log::SessionStorage> session_storage,
           const Session::Context& session_context)
    : id(std::move(session_id)),
      storage(std::move(session_storage)),
      context(session_context),
      settings(session_context.settings),
      index(session_context.settings.text) {
  analyzers_.reserve(kIdleAnalyzersMax);  // giving one back must not fail
}

void Core::post(Level level, std::string_view message, json::Tree details) {
  context.events->post(level, "session", id, message, std::move(details));
}

// --- loading -------------------------------------------------------------------------------------

Status Core::load() {
  VARVE_TRY(load_metadata());
  VARVE_TRY_ASSIGN(const log::Tail tail, storage->tail());
  const std::unique_lock lock(index_mutex);
  view.tail = tail;
  const Status loaded = load_snapshot();
  if (loaded.ok()) {
    snapshot_was_loaded = true;
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
    json::Tree details = json::Tree::object();
    details.set("missing", json::Tree::integer_unsigned(rolled_back_count()));
    details.set("last_seq", json::Tree::integer_unsigned(index.coverage.last_seq));
    post(Level::kError, "the log ends before entries that were durable", std::move(details));
  }
  return {};
}

Result<Metadata> Core::read_metadata() {
  auto text = storage->get_document("metadata.json");
  if (text.code() == Code::kNotFound) return Status(Code::kCorruption, "it is missing");
  if (!text.ok()) return std::move(text).status();
  auto parsed = Metadata::parse(*text, id);
  if (!parsed.ok() && parsed.code() != Code::kFormatVersion) {
    return Status(Code::kCorruption, parsed.status().message());
  }
  return parsed;
}

Status Core::load_metadata() {
  const int64_t now_ms = context.clock->now_ms();
  Result<Metadata> parsed = read_metadata();
  if (!parsed.ok() && parsed.code() != Code::kCorruption) return std::move(parsed).status();
  const std::unique_lock lock(index_mutex);
  if (parsed.ok()) {
    metadata = *std::move(parsed);
    if (metadata.edited_outside()) post(Level::kWarn, "metadata.json was edited outside varve");
  } else {
    // The log is the truth; a session is not refused for what only describes it.
    metadata = Metadata::recovered(id, now_ms);
    metadata_was_damaged = true;
    post(Level::kError, "metadata.json cannot be read: " + parsed.status().message());
  }
  durable_seq_seen = std::max(metadata.durable_seq(), storage->durable_mark().last_seq);
  return {};
}

Status Core::load_snapshot() {
  VARVE_TRY_ASSIGN(index::Index loaded, read_snapshot_rows());
  const index::Coverage& coverage = loaded.coverage;
  if (coverage.entries_bytes > view.tail.entries_bytes) {
    return {Code::kCorruption, "index.bin covers more than there is"};
  }
  if (coverage.entries_bytes > 0) {
    // The last covered line, and that the covered part ends with a line.
    std::string line(coverage.last_line_length, '\0');
    char last = '\0';
    const uint64_t generation = view.tail.generation;
    VARVE_TRY_ASSIGN(const size_t got, storage->read(log::Stream::kEntries, generation,
                                                     coverage.last_line_offset, line));
    VARVE_TRY_ASSIGN(const size_t one,
                     storage->read(log::Stream::kEntries, generation, coverage.entries_bytes - 1,
                                   std::span<char>(&last, 1)));
    if (got != line.size() || hash64(line) != coverage.last_line_hash || one != 1 || last != '\n') {
      return {Code::kCorruption, "index.bin is of another log"};
    }
  }
  snapshot_covered_bytes = coverage.entries_bytes;
  snapshot_text_rows = loaded.text_row_count();
  index = std::move(loaded);
  index_epoch += 1;
  index_from_log = false;
  index_is_whole_ = true;
  return {};
}

void Core::forget_index() {
  index = index::Index(settings.text);
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
  VARVE_TRY_ASSIGN(const log::Tail tail, storage->tail());
  return catch_up_to(tail);
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

Status Core::read_changes_once(const log::Tail& tail) {
  if (tail.generation != view.tail.generation) {
    // Whoever replaced the log wrote down first which gaps in seq that makes legal.
    auto fresh = read_metadata();
    if (fresh.ok()) metadata = *std::move(fresh);
  }
  if (!index_is_whole_ || tail.generation != view.tail.generation ||
      tail.entries_bytes < index.coverage.entries_bytes ||
      tail.tombstones_bytes < index.coverage.tombstones_bytes) {
    forget_index();
  }
  view.tail = tail;
  index_is_whole_ = false;
  VARVE_TRY(read_new_tombstones(tail));
  VARVE_TRY(read_new_entries(tail));
  index_is_whole_ = true;
  return {};
}

Status Core::read_new_tombstones(const log::Tail& tail) {
  uint64_t& covered = index.coverage.tombstones_bytes;
  view.torn_tombstones.clear();
  if (covered == tail.tombstones_bytes) return {};
  VARVE_TRY_ASSIGN(const log::ScanReport report,
                   log::scan_tombstones(*storage, tail.generation, covered, tail.tombstones_bytes,
                                        [&](const log::ScannedTombstone& line) {
                                          index.add_tombstone(line.tombstone->id);
                                          return Status();
                                        }));
  covered = report.committed_end;
  view.torn_tombstones = report.tail_reason;
  note_damage(report, log::Stream::kTombstones);
  return {};
}

Status Core::read_new_entries(const log::Tail& tail) {
  index::Coverage& coverage = index.coverage;
  view.torn_entries.clear();
  if (coverage.entries_bytes == tail.entries_bytes) return {};
  const uint64_t gaps_legal_to = metadata.compacted_through_seq();
  durable_seq_seen = std::max(durable_seq_seen, storage->durable_mark().last_seq);
  const uint64_t settled_seq = std::max(gaps_legal_to, durable_seq_seen);
  VARVE_TRY_ASSIGN(
      const log::ScanReport report,
      log::scan_entries(
          *storage, tail.generation, coverage.entries_bytes, tail.entries_bytes, settled_seq,
          [&](const log::ScannedEntry& line) {
            const index::Location location{line.offset, line.length, hash64(line.bytes)};
            if (index.add(*line.facts, location, gaps_legal_to) == index::Index::Added::kIdTaken) {
              coverage.skipped_count += 1;
              context.counters->lines_skipped += 1;
              post(Level::kError, "an id stands twice in the log: '" + line.facts->id + "'");
            }
            coverage.entries_bytes = line.offset + line.length + 1;
            return Status();
          }));
  coverage.entries_bytes = report.committed_end;
  view.torn_entries = report.tail_reason;
  note_damage(report, log::Stream::kEntries);
  return {};
}

void Core::note_damage(const log::ScanReport& report, log::Stream stream) {
  if (report.damaged_count == 0) return;
  index.coverage.skipped_count += report.damaged_count;
  context.counters->lines_skipped += report.damaged_count;
  json::Tree details = json::Tree::object();
  details.set("file", json::Tree::string(storage->name_of(stream)));
  details.set("lines", json::Tree::integer_unsigned(report.damaged_count));
  details.set("offset", json::Tree::integer_unsigned(report.damaged.front().offset));
  details.set("reason", json::Tree::string(report.damaged.front().reason));
  post(Level::kError, "damaged lines passed over", std::move(details));
}

Status Core::catch_up_as_writer(bool conflict) {
  VARVE_TRY_ASSIGN(const log::Tail seen, conflict ? storage->tail() : storage->locked_tail());
  VARVE_TRY(catch_up_to(seen));
  std::string torn_entries;
  std::string torn_tombstones;
  log::Tail tail;
  index::Coverage coverage;
  {
    const std::shared_lock lock(index_mutex);
    torn_entries = view.torn_entries;
    torn_tombstones = view.torn_tombstones;
    tail = view.tail;
    coverage = index.coverage;
  }
  if (torn_entries.empty() && torn_tombstones.empty()) return {};
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

void Core::apply_entries(uint64_t start_bytes, const std::vector<NewRow>& rows,
                         uint64_t end_bytes) {
  const std::unique_lock lock(index_mutex);
  // A reader may have caught up with these very lines already.
  if (index.coverage.entries_bytes != start_bytes || !index_is_whole_) return;
  index_is_whole_ = false;
  for (const NewRow& row : rows) {
    index.add(*row.facts, row.location, metadata.compacted_through_seq());
  }
  index.coverage.entries_bytes = end_bytes;
  if (view.tail.entries_bytes == start_bytes) view.tail.entries_bytes = end_bytes;
  index_is_whole_ = true;
}

void Core::apply_tombstones(uint64_t start_bytes, const std::vector<std::string_view>& ids,
                            uint64_t end_bytes) {
  const std::unique_lock lock(index_mutex);
  if (index.coverage.tombstones_bytes != start_bytes || !index_is_whole_) return;
  index_is_whole_ = false;
  for (const auto& deleted : ids) index.add_tombstone(deleted);
  index.coverage.tombstones_bytes = end_bytes;
  if (view.tail.tombstones_bytes == start_bytes) view.tail.tombstones_bytes = end_bytes;
  index_is_whole_ = true;
}

uint64_t Core::next_seq() const {
  const std::shared_lock lock(index_mutex);
  return std::max({index.coverage.last_seq, durable_seq_seen, metadata.compacted_through_seq()}) +
         1;
}

uint64_t Core::rolled_back_count() const {
  const uint64_t present = std::max(index.coverage.last_seq, metadata.compacted_through_seq());
  return durable_seq_seen > present ? durable_seq_seen - present : 0;
}

// --- reading entries -----------------------------------------------------------------------------

Result<Core::Found> Core::find(std::string_view wanted) {
  const int64_t now_ms = context.clock->now_ms();
  const std::shared_lock lock(index_mutex);
  const auto row = index.find(wanted);
  if (!row || index.is_deleted(*row) || index.is_expired(*row, now_ms)) {
    const std::string why = index.was_deleted(wanted) ? "was deleted"
                            : row                     ? "has expired"
                                                      : "does not exist";
    return Status(Code::kNotFound, "entry '" + std::string(wanted) + "' " + why);
  }
  return Found{*row, index.location(*row), view.tail.generation, index.is_verified(*row)};
}

Result<std::string> Core::read_row(std::string_view wanted, const Found& found) {
  std::string line(found.location.length, '\0');
  VARVE_TRY_ASSIGN(const size_t got, storage->read(log::Stream::kEntries, found.generation,
                                                   found.location.offset, line));
  line.resize(got);
  VARVE_TRY(check_line(wanted, found, line));
  return line;
}

Result<std::string> Core::read_entry(std::string_view wanted) {
  Status damage;  // found where the snapshot said the entry is
  for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
    VARVE_TRY(catch_up());
    auto looked_up = find(wanted);
    if (!looked_up.ok()) return damage.ok() ? std::move(looked_up).status() : std::move(damage);
    auto line = read_row(wanted, *looked_up);
    if (line.ok() || (line.code() != Code::kGone && line.code() != Code::kCorruption)) return line;
    if (line.code() == Code::kGone) continue;
    bool from_log = false;
    {
      const std::shared_lock lock(index_mutex);
      from_log = index_from_log;
    }
    if (from_log) return line;  // it was right when it was indexed: the disk changed since
    VARVE_TRY(rebuild());       // the snapshot may be the one that is wrong
    const std::shared_lock lock(index_mutex);
    if (index.coverage.skipped_count > 0) damage = std::move(line).status();
  }
  return Status(Code::kBusy, "the log is being replaced over and over; try again");
}

decay::Rules Core::decay_rules() const {
  const std::shared_lock lock(index_mutex);
  auto own = own_decay_rules(metadata.tree(), settings.decay);
  return own ? *std::move(own) : settings.decay;
}

Status Core::check_line(std::string_view wanted, const Found& found, std::string_view line) {
  Place place;
  place.path = storage->name_of(log::Stream::kEntries);
  place.offset = found.location.offset;
  if (hash64(line) != found.location.line_hash || line.size() != found.location.length) {
    return {Code::kCorruption,
            "the line of entry '" + std::string(wanted) + "' is not what was indexed",
            std::move(place)};
  }
  if (found.verified) return {};
  json::Document scratch;
  entry::EntryFacts facts;
  Status read = entry::read_line(line, scratch, &facts);
  if (!read.ok()) return {Code::kCorruption, read.message(), std::move(place)};
  if (facts.id != wanted) {
    return {Code::kCorruption, "the index points to another entry's line", std::move(place)};
  }
  // Only a saving: whoever cannot have the lock now leaves it to the next reader.
  const std::unique_lock lock(index_mutex, std::try_to_lock);
  if (lock.owns_lock() && view.tail.generation == found.generation && found.row < index.size() &&
      index.id(found.row) == wanted) {
    index.set_verified(found.row);
  }
  return {};
}

Status Core::for_each_live_line(const std::function<Status(std::string_view)>& visit) {
  VARVE_TRY(catch_up());
  std::vector<std::pair<std::string, Found>> rows;
  bool from_log = false;
  {
    const int64_t now_ms = context.clock->now_ms();
    const std::shared_lock lock(index_mutex);
    from_log = index_from_log;
    for (uint32_t row = 0; row < index.size(); ++row) {
      if (!index.is_live(row, now_ms)) continue;
      rows.emplace_back(index.id(row), Found{row, index.location(row), view.tail.generation,
                                             index.is_verified(row)});
    }
  }
  std::string line;
  for (const auto& [row_id, found] : rows) {
    line.resize(found.location.length);
    VARVE_TRY_ASSIGN(const size_t got, storage->read(log::Stream::kEntries, found.generation,
                                                     found.location.offset, line));
    line.resize(got);
    Status right = check_line(row_id, found, line);
    if (!right.ok() && !from_log) {
      VARVE_TRY(rebuild());  // the snapshot may be the one that is wrong
      return {Code::kGone, "the index was made anew"};
    }
    VARVE_TRY(std::move(right));
    VARVE_TRY(visit(line));
  }
  return {};
}

}  // namespace varve::session
