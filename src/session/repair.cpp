// repair: what is damaged moves to quarantine, what is whole stays byte for byte.
#include <algorithm>
#include <utility>
#include <vector>

#include "log/quarantine.h"
#include "session/maintenance.h"

namespace varve::session {

namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;

std::string_view short_name(log::Stream stream) {
  return stream == log::Stream::kEntries ? "memory.jsonl" : "tombstones.jsonl";
}

// What a scan of one stream found that does not belong there.
struct StreamDamage {
  log::Stream stream = log::Stream::kEntries;
  uint64_t stream_bytes = 0;
  std::vector<log::Damage> ranges;  // in order
  uint64_t torn_bytes = 0;

  [[nodiscard]] uint64_t range_bytes() const {
    uint64_t bytes = 0;
    for (const auto& range : ranges) bytes += range.length;
    return bytes;
  }
};

Status copy_range(log::SessionStorage& storage, log::Stream stream, uint64_t generation,
                  uint64_t from, uint64_t to, log::Sink& sink) {
  std::string buffer;
  for (uint64_t at = from; at < to;) {
    buffer.resize(static_cast<size_t>(std::min<uint64_t>(kCopyBytes, to - at)));
    VARVE_TRY_ASSIGN(const size_t got, storage.read(stream, generation, at, buffer));
    if (got == 0) return {Code::kIo, "the log is shorter than it was"};
    VARVE_TRY(sink.append(std::string_view(buffer).substr(0, got)));
    at += got;
  }
  return {};
}

class Repair {
 public:
  explicit Repair(Core& core) : core_(core) {}

  Status look() {
    VARVE_TRY_ASSIGN(tail_, core_.storage->tail());
    {
      const std::shared_lock lock(core_.index_mutex);
      legal_to_ = core_.metadata.compacted_through_seq();
      last_seq_ = std::max({core_.index.coverage.last_seq, core_.durable_seq_seen, legal_to_});
      missing_ = core_.index.coverage.missing_count + core_.rolled_back_count();
      entries_ = core_.index.size() - core_.index.deleted_count();
    }
    VARVE_TRY(look_at_tombstones());
    return look_at_entries();
  }

  [[nodiscard]] bool is_needed() const {
    return !damage_of_entries_.ranges.empty() || !damage_of_tombstones_.ranges.empty() ||
           missing_ > 0 || core_.metadata_was_damaged;
  }

  Status mend() {
    // First the number that makes the gaps legal: a crash between the two steps leaves a log with
    // damage, as before, and no new alarm.
    VARVE_TRY(core_.save_metadata(true, [&](Metadata& metadata) {
      metadata.tree().set("compacted_through_seq", json::Tree::integer_unsigned(last_seq_));
      metadata.tree().set("durable_seq", json::Tree::integer_unsigned(last_seq_));
      metadata.tree().set("generation", json::Tree::integer_unsigned(metadata.generation() + 1));
      return Status();
    }));
    core_.metadata_was_damaged = false;
    VARVE_TRY(mend_stream(damage_of_entries_));
    VARVE_TRY(mend_stream(damage_of_tombstones_));
    return core_.rebuild();
  }

  json::Tree report(bool changed) const {
    const uint64_t before = tail_.entries_bytes + tail_.tombstones_bytes;
    const uint64_t dropped = damage_of_entries_.range_bytes() +
                             damage_of_tombstones_.range_bytes() + damage_of_entries_.torn_bytes +
                             damage_of_tombstones_.torn_bytes;
    const uint64_t quarantined = damage_of_entries_.ranges.size() +
                                 damage_of_tombstones_.ranges.size() +
                                 (damage_of_entries_.torn_bytes > 0 ? 1 : 0) +
                                 (damage_of_tombstones_.torn_bytes > 0 ? 1 : 0);
    json::Tree tree = json::Tree::object();
    tree.set("entries", json::Tree::integer_unsigned(entries_));
    tree.set("quarantined", json::Tree::integer_unsigned(quarantined));
    tree.set("missing", json::Tree::integer_unsigned(missing_));
    tree.set("bytes_before", json::Tree::integer_unsigned(before));
    tree.set("bytes_after", json::Tree::integer_unsigned(before - dropped));
    tree.set("changed", json::Tree::boolean(changed));
    return tree;
  }

 private:
  Status look_at_tombstones() {
    VARVE_TRY_ASSIGN(
        log::ScanReport scan,
        log::scan_tombstones(*core_.storage, tail_.generation, 0, tail_.tombstones_bytes,
                             [](const log::ScannedTombstone&) { return Status(); }));
    damage_of_tombstones_ = {log::Stream::kTombstones, tail_.tombstones_bytes,
                             std::move(scan.damaged), scan.scanned_end - scan.committed_end};
    return {};
  }

  Status look_at_entries() {
    uint64_t settled_seq = std::max(legal_to_, last_seq_);
    std::vector<log::Damage> repeated;
    VARVE_TRY_ASSIGN(
        log::ScanReport scan,
        log::scan_entries(*core_.storage, tail_.generation, 0, tail_.entries_bytes, settled_seq,
                          [&](const log::ScannedEntry& line) {
                            const std::shared_lock lock(core_.index_mutex);
                            const auto row = core_.index.find(line.facts->id);
                            if (row && core_.index.location(*row).offset != line.offset) {
                              repeated.push_back({log::Stream::kEntries, line.offset,
                                                  line.length + 1, "the id stands before it"});
                            }
                            return Status();
                          }));
    auto& ranges = scan.damaged;
    ranges.insert(ranges.end(), std::make_move_iterator(repeated.begin()),
                  std::make_move_iterator(repeated.end()));
    std::sort(ranges.begin(), ranges.end(),
              [](const log::Damage& a, const log::Damage& b) { return a.offset < b.offset; });
    damage_of_entries_ = {log::Stream::kEntries, tail_.entries_bytes, std::move(ranges),
                          scan.scanned_end - scan.committed_end};
    return {};
  }

  Status mend_stream(const StreamDamage& damage) {
    if (damage.ranges.empty()) return {};
    for (const auto& range : damage.ranges) {
      VARVE_TRY(log::quarantine_range(
          *core_.storage, damage.stream, tail_.generation, range.offset, range.length,
          {short_name(damage.stream), range.reason, core_.context.clock->now_ms()}));
    }
    VARVE_TRY(core_.storage->replace(damage.stream, [&](log::Sink& sink) {
      uint64_t at = 0;
      for (const auto& range : damage.ranges) {
        VARVE_TRY(
            copy_range(*core_.storage, damage.stream, tail_.generation, at, range.offset, sink));
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
  log::Tail tail_;
  StreamDamage damage_of_entries_;
  StreamDamage damage_of_tombstones_;
  uint64_t legal_to_ = 0;
  uint64_t last_seq_ = 0;
  uint64_t missing_ = 0;
  uint64_t entries_ = 0;
};

}  // namespace

Result<json::Tree> repair(Core& core, Writer& writer, bool dry_run) {
  json::Tree report;
  // In both cases from the log anew: rows of a snapshot were never compared with their lines.
  if (dry_run) {
    VARVE_TRY(core.rebuild());
    Repair repair(core);
    VARVE_TRY(repair.look());
    return repair.report(false);
  }
  VARVE_TRY(writer.run_as_is("repair", [&] {
    VARVE_TRY(core.rebuild());
    Repair repair(core);
    VARVE_TRY(repair.look());  // before the torn tail goes, so that it is in the report
    const uint64_t torn_before = core.torn_tail_count;
    VARVE_TRY(core.catch_up_as_writer());
    const bool cut = core.torn_tail_count > torn_before;
    report = repair.report(repair.is_needed() || cut);
    if (!repair.is_needed()) return Status();
    Repair mending(core);
    VARVE_TRY(mending.look());
    return mending.mend();
  }));
  core.save_snapshot(true);
  return report;
}

}  // namespace varve::session
