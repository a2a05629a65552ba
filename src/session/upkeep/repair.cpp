#include "session/upkeep/repair.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "entry/reseal.h"
#include "log/line_reader.h"
#include "log/quarantine.h"
#include "session/retries.h"
#include "session/stores/capped_check.h"
#include "session/vectors/vector_check.h"

namespace varve::session {

namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;

// A stretch that cannot stay: it goes to quarantine, or an edited line replaces it.
struct DamagedRange : log::Damage {
  std::string replacement;  // with its line end; empty: quarantine
};

// What a scan of one stream found that does not belong there.
struct StreamDamage {
  log::Stream stream = log::Stream::kEntries;
  uint64_t stream_bytes = 0;
  std::vector<DamagedRange> ranges;  // in order
  uint64_t torn_bytes = 0;

  // How many stretches go to quarantine, the torn tail among them.
  [[nodiscard]] uint64_t quarantined_count() const {
    uint64_t count = torn_bytes > 0 ? 1 : 0;
    for (const auto& range : ranges) count += range.replacement.empty() ? 1U : 0U;
    return count;
  }
  // How long the stream is when it is mended.
  [[nodiscard]] uint64_t mended_bytes() const {
    uint64_t bytes = stream_bytes - torn_bytes;
    for (const auto& range : ranges) bytes = bytes - range.length + range.replacement.size();
    return bytes;
  }
};

Status copy_range(log::SessionStorage& storage, log::Stream stream, uint64_t generation,
                  uint64_t from, uint64_t to, log::Sink& sink) {
  std::string buffer;
  for (uint64_t at = from; at < to;) {
    buffer.resize(static_cast<size_t>(std::min<uint64_t>(kCopyBytes, to - at)));
    VARVE_TRY_ASSIGN(const size_t got, storage.read(stream, generation, at, buffer));
    if (got == 0) return {Code::kIo, "the log became shorter while it was copied"};
    VARVE_TRY(sink.append(std::string_view(buffer).substr(0, got)));
    at += got;
  }
  return {};
}

std::vector<DamagedRange> ranges_of(std::vector<log::Damage> damaged) {
  std::vector<DamagedRange> ranges;
  ranges.reserve(damaged.size());
  for (auto& damage : damaged) ranges.push_back({std::move(damage), {}});
  return ranges;
}

// Collects what a scan did not visit: blank lines and damage. The scan lists only the first damage.
class Unvisited {
 public:
  void saw(uint64_t offset, uint64_t length) {
    note_to(offset);
    at_ = offset + length + 1;
  }

  // Each damaged line, with the reasons that the scan gave.
  Result<std::vector<DamagedRange>> damage(log::SessionStorage& storage, log::Stream stream,
                                           uint64_t generation, log::ScanReport scan) {
    note_to(scan.committed_end);
    std::vector<log::Damage> damaged = std::move(scan.damaged);
    if (damaged.size() == scan.damaged_count) return ranges_of(std::move(damaged));
    const uint64_t listed_end = damaged.back().offset + damaged.back().length;
    for (const auto& [from, to] : gaps_) {
      if (to <= listed_end) continue;
      VARVE_TRY(log::list_damaged_lines(storage, stream,
                                        {generation, std::max(from, listed_end), to}, &damaged));
    }
    return ranges_of(std::move(damaged));
  }

 private:
  void note_to(uint64_t offset) {
    if (offset > at_) gaps_.emplace_back(at_, offset);
  }

  uint64_t at_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> gaps_;  // [from, to)
};

// Finds the damaged lines that are entries somebody edited, and gives them a new checksum. A line
// whose id is taken, or whose seq does not fit between its neighbours', does not count as edited.
class EditedLines {
 public:
  explicit EditedLines(Core& core, uint64_t generation) : core_(core), generation_(generation) {}

  // Call it for every whole line, in order.
  void saw(uint64_t offset, uint64_t seq) { lines_.emplace_back(offset, seq); }

  Status accept(DamagedRange* range) {
    if (range->length > log::kLineBytesMax) return {};  // no entry: a hole in the file, perhaps
    std::string line(range->length, '\0');
    VARVE_TRY_ASSIGN(const size_t got,
                     core_.storage->read(log::Stream::kEntries, generation_, range->offset, line));
    line.resize(got);
    if (!line.ends_with('\n')) return {};
    line.pop_back();
    json::Document scratch;
    entry::EntryFacts facts;
    auto sealed = entry::reseal(line, scratch, &facts);
    if (!sealed.ok() || !fits(range->offset, facts)) return {};
    range->replacement = *std::move(sealed) + "\n";
    ids_.insert(facts.id);
    last_seq_ = facts.seq;
    last_offset_ = range->offset;
    count_ += 1;
    const std::shared_lock lock(core_.index_mutex);
    if (!core_.index.was_deleted(facts.id)) live_count_ += 1;
    return {};
  }

  [[nodiscard]] uint64_t count() const { return count_; }
  [[nodiscard]] uint64_t live_count() const { return live_count_; }
  [[nodiscard]] uint64_t last_seq() const { return last_seq_; }

 private:
  [[nodiscard]] bool fits(uint64_t offset, const entry::EntryFacts& facts) const {
    if (facts.seq == entry::kNoSeq || ids_.contains(facts.id)) return false;
    {
      const std::shared_lock lock(core_.index_mutex);
      if (core_.index.find(facts.id)) return false;
    }
    const auto next =
        std::lower_bound(lines_.begin(), lines_.end(), std::pair(offset, uint64_t{0}));
    if (next != lines_.end() && facts.seq >= next->second) return false;
    const bool edited_is_nearer =
        count_ > 0 && (next == lines_.begin() || std::prev(next)->first < last_offset_);
    if (edited_is_nearer) return facts.seq > last_seq_;
    return next == lines_.begin() || facts.seq > std::prev(next)->second;
  }

  Core& core_;
  uint64_t generation_;
  std::vector<std::pair<uint64_t, uint64_t>> lines_;  // offset and seq of the whole lines
  std::set<std::string, std::less<>> ids_;
  uint64_t last_seq_ = 0;
  uint64_t last_offset_ = 0;
  uint64_t count_ = 0;
  uint64_t live_count_ = 0;
};

class Repair {
 public:
  Repair(Core& core, bool accept_edits) : core_(core), accept_edits_(accept_edits) {}

  Status look() {
    VARVE_TRY_ASSIGN(tail_, core_.storage->tail());
    VARVE_TRY_ASSIGN(const auto store_damage, find_store_damage(core_));
    store_damage_count_ = static_cast<uint64_t>(
        std::count_if(store_damage.begin(), store_damage.end(),
                      [](const StoreDamage& damage) { return damage.is_readable; }));
    VARVE_TRY_ASSIGN(vector_damage_count_, count_vector_damage(core_));
    {
      const std::shared_lock lock(core_.index_mutex);
      epoch_ = core_.index_epoch;
      VARVE_TRY(check_index());
      metadata_lost_ = !core_.metadata.damage().empty();
      marks_ = core_.log_marks();
      last_seq_ = core_.last_seq();
      missing_ = core_.index.coverage.missing_count + core_.rolled_back_count();
      lost_deletions_ = core_.lost_deletion_count();
      tombstone_count_ = core_.index.tombstone_count();
      entries_ = core_.index.undeleted_count();
    }
    VARVE_TRY(look_at_tombstones());
    return look_at_entries();
  }

  [[nodiscard]] bool is_needed() const {
    return !damage_of_entries_.ranges.empty() || !damage_of_tombstones_.ranges.empty() ||
           missing_ > 0 || lost_deletions_ > 0 || is_out_of_order_ || metadata_lost_;
  }

  // Damage in kv.json and transcript.md.
  [[nodiscard]] uint64_t store_damage_count() const { return store_damage_count_; }

  // kConflict when somebody appended meanwhile without the lock. `quarantine`: of all attempts.
  Status mend(log::Quarantining& quarantine) {
    // First the number that makes the gaps legal: a crash between the two steps leaves the log with
    // its damage, as before, and raises no new alarm.
    core_.vectors.look();
    VARVE_TRY(core_.metadata_file.save(log::DocumentDurability::kNamed, [&](Metadata& metadata) {
      metadata.note_new_log(last_seq_);
      metadata.accept_tombstones(tombstone_count_);
      // The ids of what is set aside, and of what is missing, are free from then on.
      const bool has_vectors = core_.vectors.size_bytes() > 0;
      if (has_vectors) metadata.tree().set(kStrayVectors, json::Tree::boolean(true));
      return Status();
    }));
    core_.note_tombstones_accepted();
    VARVE_TRY(mend_stream(damage_of_entries_, quarantine));
    VARVE_TRY(mend_stream(damage_of_tombstones_, quarantine));
    return core_.rebuild();
  }

  json::Tree report(bool changed) const {
    const uint64_t before = damage_of_entries_.stream_bytes + damage_of_tombstones_.stream_bytes;
    const uint64_t after = damage_of_entries_.mended_bytes() + damage_of_tombstones_.mended_bytes();
    const uint64_t quarantined = damage_of_entries_.quarantined_count() +
                                 damage_of_tombstones_.quarantined_count() + store_damage_count_ +
                                 vector_damage_count_;
    json::Tree tree = json::Tree::object();
    tree.set("entries", json::Tree::integer_unsigned(entries_));
    tree.set("quarantined", json::Tree::integer_unsigned(quarantined));
    tree.set("resealed", json::Tree::integer_unsigned(resealed_));
    tree.set("missing", json::Tree::integer_unsigned(missing_ + lost_deletions_));
    tree.set("metadata_lost", json::Tree::boolean(metadata_lost_));
    tree.set("bytes_before", json::Tree::integer_unsigned(before));
    tree.set("bytes_after", json::Tree::integer_unsigned(after));
    tree.set("changed", json::Tree::boolean(changed));
    return tree;
  }

 private:
  // Index lock held. The index tells which ids occur twice: it must have all rows and be of this
  // log. Another log is possible only where nobody is kept out.
  [[nodiscard]] Status check_index() const {
    VARVE_TRY(core_.check_rows(epoch_));
    return core_.view.tail.generation == tail_.generation ? Status() : log::replaced();
  }

  Status look_at_tombstones() {
    Unvisited unvisited;
    VARVE_TRY_ASSIGN(
        log::ScanReport scan,
        log::scan_tombstones(*core_.storage, {tail_.generation, 0, tail_.tombstones_bytes},
                             [&](const log::ScannedTombstone& line) {
                               unvisited.saw(line.offset, line.length);
                               return Status();
                             }));
    const uint64_t torn_bytes = scan.scanned_end - scan.committed_end;
    VARVE_TRY_ASSIGN(auto ranges, unvisited.damage(*core_.storage, log::Stream::kTombstones,
                                                   tail_.generation, std::move(scan)));
    damage_of_tombstones_ = {log::Stream::kTombstones, tail_.tombstones_bytes, std::move(ranges),
                             torn_bytes};
    return {};
  }

  Status look_at_entries() {
    // As the index was made just now, nobody being in the middle of a batch.
    const uint64_t kept_to =
        core_.settings.recovery == Recovery::kSalvage ? log::kAllKept : log::kNoneKept;
    std::vector<log::Damage> repeated;
    EditedLines edited(core_, tail_.generation);
    Unvisited unvisited;
    VARVE_TRY_ASSIGN(
        log::ScanReport scan,
        log::scan_entries(
            *core_.storage, {tail_.generation, 0, tail_.entries_bytes}, marks_.settled_seq,
            [&](const log::ScannedEntry& line) {
              unvisited.saw(line.offset, line.length);
              const std::shared_lock lock(core_.index_mutex);
              VARVE_TRY(check_index());
              const auto row = core_.index.find(line.facts->id);
              if (row && core_.index.location(*row).offset != line.offset) {
                repeated.push_back({log::Stream::kEntries, line.offset, line.length + 1,
                                    "an earlier line has the same id"});
              } else if (line.facts->seq != entry::kNoSeq) {
                note_order(line.facts->seq);
                if (accept_edits_) edited.saw(line.offset, line.facts->seq);
              }
              return Status();
            },
            kept_to));
    const uint64_t torn_bytes = scan.scanned_end - scan.committed_end;
    VARVE_TRY_ASSIGN(auto ranges, unvisited.damage(*core_.storage, log::Stream::kEntries,
                                                   tail_.generation, std::move(scan)));
    if (accept_edits_) {
      for (DamagedRange& range : ranges) VARVE_TRY(edited.accept(&range));
      count_edited(edited);
    }
    for (auto& damage : repeated) ranges.push_back({std::move(damage), {}});
    std::sort(ranges.begin(), ranges.end(),
              [](const DamagedRange& a, const DamagedRange& b) { return a.offset < b.offset; });
    damage_of_entries_ = {log::Stream::kEntries, tail_.entries_bytes, std::move(ranges),
                          torn_bytes};
    return {};
  }

  void note_order(uint64_t seq) {
    is_out_of_order_ = is_out_of_order_ || (seq <= highest_seq_ && seq > marks_.gaps_legal_to);
    highest_seq_ = std::max(highest_seq_, seq);
  }

  void count_edited(const EditedLines& edited) {
    resealed_ = edited.count();
    entries_ += edited.live_count();
    missing_ -= std::min(missing_, edited.count());
    last_seq_ = std::max(last_seq_, edited.last_seq());
  }

  Status mend_stream(const StreamDamage& damage, log::Quarantining& quarantine) {
    if (damage.ranges.empty()) return {};
    std::vector<log::Damage> set_aside;
    for (const auto& range : damage.ranges) {
      if (range.replacement.empty()) set_aside.push_back(static_cast<const log::Damage&>(range));
    }
    VARVE_TRY(quarantine.add(tail_.generation, set_aside));
    VARVE_TRY(core_.storage->replace(damage.stream, damage.stream_bytes, [&](log::Sink& sink) {
      uint64_t at = 0;
      for (const auto& range : damage.ranges) {
        VARVE_TRY(
            copy_range(*core_.storage, damage.stream, tail_.generation, at, range.offset, sink));
        VARVE_TRY(sink.append(range.replacement));
        at = range.offset + range.length;
      }
      return copy_range(*core_.storage, damage.stream, tail_.generation, at, damage.stream_bytes,
                        sink);
    }));
    VARVE_TRY_ASSIGN(const log::Tail now, core_.storage->tail());
    tail_.generation = now.generation;
    return {};
  }

  Core& core_;
  bool accept_edits_;
  uint64_t epoch_ = 0;  // of the index
  log::Tail tail_;
  StreamDamage damage_of_entries_;
  StreamDamage damage_of_tombstones_;
  Core::LogMarks marks_;
  uint64_t last_seq_ = 0;
  uint64_t missing_ = 0;
  uint64_t lost_deletions_ = 0;
  uint64_t tombstone_count_ = 0;
  uint64_t entries_ = 0;
  uint64_t resealed_ = 0;
  uint64_t store_damage_count_ = 0;
  uint64_t vector_damage_count_ = 0;
  uint64_t highest_seq_ = 0;
  bool is_out_of_order_ = false;
  bool metadata_lost_ = false;  // and rebuilt from the store's list
};

}  // namespace

Result<json::Tree> repair(Core& core, Writer& writer, const RepairOptions& options) {
  json::Tree report;
  // Both rebuild the index from the log: rows of a snapshot were never compared with it.
  if (options.dry_run) {
    return while_replaced([&]() -> Result<json::Tree> {
      VARVE_TRY(core.check_metadata());
      VARVE_TRY(core.rebuild());
      Repair repair(core, options.accept_edits);
      VARVE_TRY(repair.look());
      return repair.report(false);
    });
  }
  VARVE_TRY(writer.run_upkeep("repair", [&] {
    VARVE_TRY(core.check_metadata());
    VARVE_TRY(core.rebuild_as_writer());
    Repair repair(core, options.accept_edits);
    VARVE_TRY(repair.look());  // before the torn tail is cut, so that the report has it
    const uint64_t torn_before = core.torn_tail_count;
    VARVE_TRY(core.catch_up_as_writer());
    const bool cut = core.torn_tail_count > torn_before;
    const bool stores_damaged = repair.store_damage_count() > 0;
    VARVE_TRY_ASSIGN(const bool vectors_changed, repair_vectors(core));
    report = repair.report(repair.is_needed() || cut || stores_damaged || vectors_changed);
    if (stores_damaged) VARVE_TRY(tidy_stores(core, Remains::kSetAside));
    if (!repair.is_needed()) return Status();
    VARVE_TRY(writer.note_change());
    log::Quarantining quarantine(*core.storage, core.context.clock->now_ms());
    return while_appended_to("the log", [&](bool again) -> Status {
      if (again) {
        VARVE_TRY(core.rebuild());
        VARVE_TRY(core.catch_up_as_writer(true));
      }
      Repair mending(core, options.accept_edits);
      VARVE_TRY(mending.look());
      VARVE_TRY(mending.mend(quarantine));
      return drop_stray_vectors(core);
    });
  }));
  writer.save_snapshot(Saving::kAlways);
  return report;
}

}  // namespace varve::session
