#include "session/upkeep/compaction.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/beside.h"
#include "base/hash.h"
#include "entry/entry.h"
#include "index/snapshot.h"
#include "log/quarantine.h"
#include "log/scan.h"
#include "query/relevance.h"
#include "session/retries.h"
#include "session/stores/capped_check.h"
#include "session/upkeep/compacted_index.h"
#include "session/upkeep/index_rebuild.h"

namespace varve::session {

namespace {

constexpr uint64_t kChunkBytes = uint64_t{1} << 20;  // read and written at a time

void note_if_failed(Core& core, std::string_view what, const Status& outcome) {
  if (!outcome.ok()) core.events.post(Level::kWarn, std::string(what) + ": " + outcome.message());
}

// A line of the log, with the row that stands for it.
struct KeptLine {
  uint32_t row = 0;
  index::Location location;
};

// A row that goes and was not read from the log.
struct DroppedRow {
  index::Location location;
  std::string id;
  Dropped why = Dropped::kDeleted;
};

// For lines that are only compared.
class NoSink final : public log::Sink {
 public:
  Status append(std::string_view /*bytes*/) override { return {}; }
};

// What is left of the old log after the new one took its name.
struct Replaced {
  std::shared_ptr<const void> log;
  std::shared_ptr<index::Index> index;
};

struct CompactionOutcome {
  CompactionReport report;
  std::optional<Core::Snapshot> snapshot;  // of the new log's index, when made without a rebuild
  Beside<void> releasing;                  // frees what was replaced
};

class Compaction {
 public:
  // `quarantine`: of all attempts at one compaction.
  Compaction(Core& core, const CompactionOptions& options, log::Quarantining& quarantine)
      : core_(core),
        options_(options),
        quarantine_(quarantine),
        rules_(core.decay_rules()),
        now_ms_(core.context.clock->now_ms()),
        compacted_(core) {}

  // Decides what stays and what goes. Only the log can decide, and rows of index.bin were never
  // compared with it. Lines that go by such rows are compared first, the others when they are
  // copied, or would be; kConflict if one does not fit. A purge does not rely on such rows, since
  // what stays may be what was forgotten; nor does an eviction, since many rows decide it, but
  // that keeps the words that are indexed.
  Status plan() {
    if (purges()) {
      if (!core_.is_index_from_log()) VARVE_TRY(core_.rebuild());
    } else if (options_.evict_below > 0) {
      VARVE_TRY(take_rows_from_log(core_));
    }
    VARVE_TRY(judge());
    VARVE_TRY(check_deletions());
    VARVE_TRY(look_between());
    const bool copies = !options_.dry_run && report_.bytes_after != report_.bytes_before;
    if (index_from_log_ || copies) return {};
    // Without a copy nobody would see that a line has changed.
    NoSink nowhere;
    return copy_kept(nowhere);
  }

  Status carry_out() {
    report_.changed = report_.bytes_after != report_.bytes_before;
    VARVE_TRY(choose_vectors());
    if (!report_.changed && !purges()) {
      if (vectors_.drops()) VARVE_TRY(VectorFile::set_aside(vectors_, quarantine_));
      note_if_failed(core_, "vectors.bin was not compacted", write_vectors_anew());
      return {};
    }
    VARVE_TRY(purges() ? clear_other_files() : set_damage_aside());
    // A purge replaces the log even when nothing goes: another process may hold the index that a
    // compaction left it, and might save that.
    VARVE_TRY(write_anew());
    report_.changed = true;
    Status vectors = write_vectors_anew();
    report_.leaves_stray_vectors = !knows_vectors_ || !vectors.ok();
    if (purges()) {
      VARVE_TRY(vectors);
      // Last: what cannot be removed there must not keep what is deleted here.
      StoreServices* const store = core_.context.store;
      if (store != nullptr) VARVE_TRY(store->remove_left_overs());
    }
    note_if_failed(core_, "vectors.bin was not compacted", vectors);
    // The compaction is done. If the index cannot be made here, the next reader makes it.
    note_if_failed(core_, "the index was not rebuilt after a compaction", compacted_.adopt());
    return {};
  }

  CompactionOutcome outcome() && {
    return {report_, compacted_.take_snapshot(), release_replaced()};
  }

 private:
  Status set_damage_aside() {
    VARVE_TRY(quarantine_.add(tail_.generation, damage_));
    return VectorFile::set_aside(vectors_, quarantine_);
  }

  // What may have bytes of forgotten entries besides the log and the vectors. Saving sets a damaged
  // metadata.json aside, which must happen before what was set aside is removed.
  Status clear_other_files() {
    VARVE_TRY(core_.metadata_file.save(log::DocumentDurability::kContent));
    VARVE_TRY(tidy_stores(core_, Remains::kDropped));
    VARVE_TRY(core_.storage->remove_residue(std::array{index::kSnapshotFile}));
    core_.note_snapshot_removed();
    return {};
  }

  // Freeing a large file takes as long as copying a third of it.
  Beside<void> release_replaced() {
    if (!has_threads()) return {};
    const auto replaced =
        std::make_shared<Replaced>(Replaced{std::move(old_log_), compacted_.take_old()});
    return start_beside(true, [replaced] { *replaced = Replaced(); });
  }

  // A renumbered index may keep forms of words that only forgotten entries had. So a purge rebuilds
  // it.
  void plan_index() {
    if (purges()) return;
    std::vector<uint32_t> rows;
    rows.reserve(kept_.size());
    for (const KeptLine& line : kept_) rows.push_back(line.row);
    compacted_.plan(std::move(rows), row_count_, epoch_);
  }

  [[nodiscard]] bool purges() const { return options_.cause == CompactionCause::kPurge; }
  [[nodiscard]] bool has_threads() const { return core_.settings.threads > 1; }

  // Runs before the log is replaced, while the rows are those of the plan. A file of which nothing
  // can be read stays as it is, except in a purge.
  Status choose_vectors() {
    bool knows_rows = true;
    auto chosen = core_.vectors.file().select([&](std::string_view id) {
      const std::shared_lock lock(core_.index_mutex);
      knows_rows = knows_rows && core_.has_rows_of(epoch_);
      const auto row = core_.index.find(id);
      const auto is_below = [](const KeptLine& line, uint32_t value) { return line.row < value; };
      const auto found =
          std::lower_bound(kept_.begin(), kept_.end(), row.value_or(index::kNoRow), is_below);
      return row && found != kept_.end() && found->row == *row;
    });
    if (chosen.code() == Code::kCorruption) {
      removes_vectors_ = purges();
      knows_vectors_ = purges();  // a purge removes the whole file
      return {};
    }
    if (chosen.code() == Code::kFormatVersion && !purges()) return {};
    VARVE_TRY_ASSIGN(vectors_, std::move(chosen));
    knows_vectors_ = true;
    if (vectors_.dimension == 0) return {};
    if (vectors_.drops() && !(index_from_log_ && knows_rows)) {
      return {Code::kConflict, "rows of index.bin, or of another index, do not decide what goes"};
    }
    report_.vectors_before = vectors_.record_count;
    report_.vectors_after = vectors_.kept.size();
    return {};
  }

  Status write_vectors_anew() {
    Status status;
    if (removes_vectors_) {
      status = core_.storage->remove_vectors();
    } else if (vectors_.drops()) {
      status = core_.vectors.file().rewrite(vectors_);
    }
    if (purges()) core_.vectors.forget();
    core_.vectors.look();
    return status;
  }

  // An index that is not whole cannot judge: missing rows would be taken for damage.
  Status judge() {
    for (;;) {
      VARVE_TRY(core_.load_sections());
      VARVE_TRY_ASSIGN(tail_, core_.storage->tail());
      const std::shared_lock lock(core_.index_mutex);
      epoch_ = core_.index_epoch;
      if (!core_.has_rows_of(epoch_)) continue;
      // Possible in a dry run, which keeps nobody out.
      if (core_.view.tail.generation != tail_.generation) return log::replaced();
      index_from_log_ = core_.index_from_log;
      judge_rows();
      return {};
    }
  }

  // Index lock held.
  void judge_rows() {
    const index::Index& index = core_.index;
    const query::Relevance relevance(index, *rules_, now_ms_);
    last_seq_ = core_.last_seq();
    tombstones_bytes_ = index.coverage.tombstones_bytes;
    row_count_ = index.size();
    gaps_ = core_.index.gaps();
    report_.entries_before = index.size();
    report_.bytes_before = index.coverage.entries_bytes;
    kept_.reserve(index.size());
    for (uint32_t row = 0; row < index.size(); ++row) {
      if (index.is_deleted(row)) {
        drop_row(row, Dropped::kDeleted);
      } else if (index.is_expired(row, now_ms_)) {
        drop_row(row, Dropped::kExpired);
      } else if (is_evicted(row, relevance)) {
        drop_row(row, Dropped::kEvicted);
        report_.evicted_bytes += index.location(row).length + 1;
      } else {
        kept_.push_back({row, index.location(row)});
        report_.bytes_after += index.location(row).length + 1;
      }
    }
    report_.entries_after = kept_.size();
  }

  [[nodiscard]] bool is_evicted(uint32_t row, const query::Relevance& relevance) const {
    return options_.evict_below > 0 && relevance.of(row) < options_.evict_below &&
           !is_protected(row, relevance);
  }

  void drop_row(uint32_t row, Dropped why) {
    report_.dropped[static_cast<size_t>(why)] += 1;
    if (index_from_log_) return;
    const index::Index& index = core_.index;
    dropped_.push_back({index.location(row), index.id(row), why});
  }

  // What is deleted was read once, when it was new. If the disk then did not take it, others have
  // cut it off, and a later deletion may stand in its place that this process never read. So no
  // entry goes unless each line, as it stands now, is one that was read.
  Status check_deletions() {
    bool are_known = true;
    const auto look = [&](const log::ScannedTombstone& line) {
      const std::shared_lock lock(core_.index_mutex);
      are_known = are_known && core_.index.was_deleted(line.tombstone->id);
      return Status();
    };
    const log::Stretch read{tail_.generation, 0, tombstones_bytes_};
    VARVE_TRY(log::scan_tombstones(*core_.storage, read, look));
    if (are_known) return {};
    return {Code::kConflict, "tombstones.jsonl has other lines than were read of it"};
  }

  // Entries dropped by rows of index.bin must say themselves what those rows said. Which ids are
  // deleted is not in index.bin: every process reads that from the tombstones.
  Status check_dropped() {
    json::Document scratch;
    for (const DroppedRow& dropped : dropped_) {
      read_.resize(dropped.location.length);
      VARVE_TRY_ASSIGN(const size_t got,
                       core_.storage->read(log::Stream::kEntries, tail_.generation,
                                           dropped.location.offset, read_));
      read_.resize(got);
      const bool is_same = hash64(read_) == dropped.location.line_hash;
      const auto found = entry::read_identity(read_, scratch);
      if (!is_same || !found.ok() || found->id != dropped.id) {
        return doubt(dropped.location.offset);
      }
      const bool goes = dropped.why == Dropped::kDeleted || found->expires_at_ms <= now_ms_;
      if (!goes) return doubt(dropped.location.offset);
    }
    return {};
  }

  [[nodiscard]] Status doubt(uint64_t offset) const {
    Place where;
    where.path = core_.storage->name_of(log::Stream::kEntries);
    where.offset = offset;
    if (!index_from_log_)
      return {Code::kConflict, "index.bin belongs to another log", std::move(where)};
    return {Code::kCorruption, "a line changed after it was indexed: run verify, then repair",
            std::move(where)};
  }

  // Live entries refer to it, its type does not decay, or it is pinned.
  [[nodiscard]] bool is_protected(uint32_t row, const query::Relevance& relevance) const {
    const index::Index& index = core_.index;
    if (relevance.rule(index.type_number(row)).curve == decay::Curve::kNone) return true;
    index::PostingCursor pinned(index.facets().tag(kPinnedTag));
    if (pinned.contains(row)) return true;
    index::PostingCursor referring(index.facets().referring(index.id(row)));
    for (uint32_t from = referring.seek(0); from != index::kNoRow; from = referring.next()) {
      if (index.is_live(from, now_ms_)) return true;
    }
    return false;
  }

  // Finds damage: what no row stands for and is not blank.
  Status look_between() {
    for (const auto& [from, to] : gaps_) {
      VARVE_TRY(log::list_damaged_lines(*core_.storage, log::Stream::kEntries,
                                        {tail_.generation, from, to}, &damage_));
      const bool may_be_entries = !damage_.empty() && !index_from_log_;
      if (may_be_entries) return doubt(damage_.front().offset);
    }
    report_.dropped[static_cast<size_t>(Dropped::kDamaged)] = damage_.size();
    return {};
  }

  // Writes the number that makes the gaps legal; after a crash behind it the old log is still
  // right. It is durable before the new log takes the name. So is the note that vectors are to go:
  // from then on the ids of dropped entries are free while their vectors are still there.
  Status make_gaps_legal() {
    return core_.metadata_file.save(log::DocumentDurability::kContent, [&](Metadata& metadata) {
      metadata.note_new_log(last_seq_);
      if (vectors_.drops()) metadata.tree().set(kStrayVectors, json::Tree::boolean(true));
      return Status();
    });
  }

  // With threads, another one copies the lines while the caller makes most of the index. The caller
  // does what needs much memory: there the process has some at hand.
  Status write_anew() {
    if (has_threads()) old_log_ = core_.storage->keep_open(log::Stream::kEntries);
    plan_index();
    const uint64_t end_bytes = report_.bytes_before;
    return core_.storage->replace(log::Stream::kEntries, end_bytes, [&](log::Sink& sink) {
      auto copying = start_beside(has_threads(), [&] {
        compacted_.make_facets();
        return copy_kept(sink);
      });
      // Without threads, the copy comes first, so that the disk writes while the index is made.
      if (!has_threads()) VARVE_TRY(copying.get());
      compacted_.make_rows_and_words();
      if (has_threads()) VARVE_TRY(copying.get());
      compacted_.encode();
      return make_gaps_legal();
    });
  }

  Status copy_kept(log::Sink& sink) {
    if (!index_from_log_) VARVE_TRY(check_dropped());
    for (size_t first = 0; first < kept_.size();) {
      size_t end = first + 1;
      const uint64_t from = kept_[first].location.offset;
      while (end < kept_.size() &&
             kept_[end].location.offset + kept_[end].location.length + 1 - from <= kChunkBytes) {
        ++end;
      }
      VARVE_TRY(copy(first, end, sink));
      first = end;
    }
    return {};
  }

  // Copies the kept lines [first, end), which lie in one stretch of the old log.
  Status copy(size_t first, size_t end, log::Sink& sink) {
    const uint64_t from = kept_[first].location.offset;
    const index::Location& last = kept_[end - 1].location;
    read_.resize(last.offset + last.length + 1 - from);
    VARVE_TRY_ASSIGN(const size_t got,
                     core_.storage->read(log::Stream::kEntries, tail_.generation, from, read_));
    const std::string_view read = std::string_view(read_).substr(0, got);
    uint64_t stretch = 0;  // [bytes] in `read`, of adjacent lines, up to `stretch_end`
    uint64_t stretch_end = 0;
    for (size_t i = first; i < end; ++i) {
      const index::Location& place = kept_[i].location;
      const uint64_t at = place.offset - from;
      const uint64_t line_end = at + place.length;
      if (line_end >= got || read[line_end] != '\n' ||
          hash64(read.substr(at, place.length)) != place.line_hash) {
        return doubt(place.offset);
      }
      if (at != stretch_end) {
        VARVE_TRY(sink.append(read.substr(stretch, stretch_end - stretch)));
        stretch = at;
      }
      stretch_end = line_end + 1;
    }
    return sink.append(read.substr(stretch, stretch_end - stretch));
  }

  Core& core_;
  const CompactionOptions options_;
  log::Quarantining& quarantine_;
  std::shared_ptr<const decay::Rules> rules_;
  int64_t now_ms_;
  log::Tail tail_;
  uint64_t last_seq_ = 0;
  uint64_t tombstones_bytes_ = 0;  // that the index knows
  uint32_t row_count_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> gaps_;  // that no row stands for
  std::vector<KeptLine> kept_;
  bool index_from_log_ = false;
  uint64_t epoch_ = 0;               // of the index whose rows were judged
  std::vector<DroppedRow> dropped_;  // rows that go, when the index is not from the log
  std::vector<log::Damage> damage_;
  VectorFile::Selection vectors_;
  bool removes_vectors_ = false;  // what the file holds is unknown
  bool knows_vectors_ = false;
  CompactionReport report_;
  std::string read_;                     // scratch
  std::shared_ptr<const void> old_log_;  // keeps the file open
  CompactedIndex compacted_;
};

Result<CompactionOutcome> attempt(Core& core, const CompactionOptions& options,
                                  log::Quarantining& quarantine) {
  Compaction compaction(core, options, quarantine);
  VARVE_TRY(compaction.plan());
  if (!options.dry_run) VARVE_TRY(compaction.carry_out());
  return std::move(compaction).outcome();
}

// Saves the index that the core rebuilt from the log.
void put_own_snapshot(Core& core) {
  const auto made = core.prepare_snapshot(Saving::kAlways);
  if (made) core.put_snapshot(*made);
}

// From the log. Words of index.bin stay where its rows prove right: what was in doubt may be only
// that nobody had compared them, and to index the words of a large log takes longest.
Status make_index_anew(Core& core) {
  return core.is_index_from_log() ? core.rebuild() : take_rows_from_log(core);
}

// Plans, and carries out unless it is a dry run. When index.bin proves wrong, or somebody rebuilt
// the index in between or appended without the lock, tries again with an index made from the log.
Result<CompactionOutcome> plan_and_carry_out(Core& core, const CompactionOptions& options) {
  log::Quarantining quarantine(*core.storage, core.context.clock->now_ms());
  for (int i = 0; i < kReplacedMax; ++i) {
    auto outcome = attempt(core, options, quarantine);
    if (outcome.code() != Code::kConflict) return outcome;
    VARVE_TRY(make_index_anew(core));
    // The log may end in a torn tail that the old index took for lines.
    if (!options.dry_run) VARVE_TRY(core.catch_up_as_writer(true));
  }
  return Status(
      Code::kBusy,
      "the log is being appended to without its lock, or its index rebuilt, over and over; try "
      "again");
}

}  // namespace

Result<CompactionReport> compact_as_writer(Core& core, const CompactionOptions& options) {
  const int64_t start_us = core.context.clock->monotonic_us();
  const uint64_t size_before = core.size.bytes();
  core.events.post(Level::kInfo, "session compaction started");
  // Synced before anything is planned: if the disk refuses, the log moves into a new file.
  VARVE_TRY(core.storage->sync(core.next_seq() - 1));
  VARVE_TRY(core.catch_up());
  VARVE_TRY_ASSIGN(CompactionOutcome outcome, plan_and_carry_out(core, options));
  if (!outcome.snapshot) put_own_snapshot(core);
  // Written while the disk takes metadata.json.
  auto saving = start_beside(core.settings.threads > 1 && outcome.snapshot, [&] {
    if (outcome.snapshot) core.put_snapshot(*outcome.snapshot);
  });
  CompactionReport& report = outcome.report;
  const int64_t end_us = core.context.clock->monotonic_us();
  core.context.counters->compaction_us.record_duration(start_us, end_us);
  report.duration_ms = static_cast<double>(end_us - start_us) / 1000.0;
  const Status recorded = report.changed ? save_history(core, options.cause, report) : Status();
  saving.get();
  core.size.note_growth(static_cast<int64_t>(core.size.bytes()) -
                        static_cast<int64_t>(size_before));
  core.size.watch();
  // Until then metadata.json counts, by its type, what has expired.
  if (options.cause == CompactionCause::kPurge && !recorded.ok()) return recorded;
  note_if_failed(core, "a compaction was not recorded in metadata.json", recorded);
  count_up(*core.context.counters, options.cause, report);
  post_end(core, options.cause, report);
  return report;
}

Result<CompactionReport> plan_compaction(Core& core, CompactionOptions options) {
  options.dry_run = true;
  VARVE_TRY(core.catch_up());
  VARVE_TRY_ASSIGN(const CompactionOutcome planned, plan_and_carry_out(core, options));
  return planned.report;
}

Result<json::Tree> compact(Core& core, Writer& writer, const CompactionOptions& options) {
  if (options.dry_run) {
    return while_replaced([&]() -> Result<json::Tree> {
      VARVE_TRY_ASSIGN(const CompactionReport planned, plan_compaction(core, options));
      return planned.tree();
    });
  }
  CompactionReport report;
  VARVE_TRY(writer.run(options.cause == CompactionCause::kPurge ? "purge" : "compact", [&] {
    VARVE_TRY_ASSIGN(report, compact_as_writer(core, options));
    return Status();
  }));
  return report.tree();
}

}  // namespace varve::session
