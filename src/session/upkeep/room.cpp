#include "session/upkeep/room.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "session/core.h"
#include "session/upkeep/compaction.h"

namespace varve::session {
namespace {

// [relevance] Live entries below it may go.
// source: the persistence layer's §5.1.
constexpr double kEvictBelow = 0.05;

constexpr uint64_t kTriesPerLimit = 50;          // while a session fills up
constexpr int64_t kTryAgainAfterMs = 3'600'000;  // in a session that is full

}  // namespace

Status Room::make(uint64_t new_bytes, Evicts evicts) {
  if (core_.settings.session_bytes_max == 0) return {};
  const int64_t now_ms = core_.context.clock->now_ms();
  if (!is_worth_a_try(new_bytes, evicts, now_ms)) return {};
  if (!is_above_threshold(core_.size.bytes() + new_bytes)) return {};
  if (core_.compaction_policy().automatic) {
    const Status compacted = compact(new_bytes, evicts);
    if (!compacted.ok()) {
      core_.events.post(Level::kWarn, "the automatic compaction failed: " + compacted.message());
    }
  }
  note_try(new_bytes, evicts, now_ms);
  return core_.catch_up();  // checks of ids need what a compaction could not read back
}

Status Room::compact(uint64_t new_bytes, Evicts evicts) {
  CompactionOptions options;
  options.cause = CompactionCause::kAutomatic;
  if (evicts == Evicts::kNever) return compact_with(options);
  hopeless_bytes_ = 0;
  // How many vectors were put anew shows only once they are gone.
  if (core_.vectors.size_bytes() == 0) {
    VARVE_TRY_ASSIGN(options.evict_below, eviction_for(new_bytes));
  }
  VARVE_TRY(compact_with(options));
  if (options.evict_below > 0 || !is_above_threshold(core_.size.bytes() + new_bytes)) return {};
  // Also where the new index.bin is larger than the old one, by words that were not in it yet.
  VARVE_TRY_ASSIGN(options.evict_below, eviction_for(new_bytes));
  return options.evict_below > 0 ? compact_with(options) : Status();
}

Status Room::compact_with(const CompactionOptions& options) {
  VARVE_TRY_ASSIGN(const CompactionReport report, compact_as_writer(core_, options));
  evicted_count_ += report.dropped_as(Dropped::kEvicted);
  return {};
}

// Live entries go only where what nobody may read any more is not enough, and where the write can
// fit when all of them are gone.
Result<double> Room::eviction_for(uint64_t new_bytes) {
  CompactionOptions options;
  options.cause = CompactionCause::kAutomatic;
  options.evict_below = kEvictBelow;
  VARVE_TRY_ASSIGN(const CompactionReport planned, plan_compaction(core_, options));
  const uint64_t size = core_.size.bytes() + new_bytes;
  const uint64_t all_bytes = planned.bytes_before - planned.bytes_after;
  const uint64_t dead_bytes = all_bytes - planned.evicted_bytes;
  // What index.bin and the vectors will take shows afterwards.
  const uint64_t least = size - std::min(size, all_bytes + core_.size.derived_bytes());
  const bool can_fit = least <= core_.settings.session_bytes_max;
  hopeless_bytes_ = can_fit ? 0 : new_bytes;
  const bool has_to = is_above_threshold(size - std::min(size, dead_bytes));
  return can_fit && has_to && !has_outgrown(dead_bytes) ? options.evict_below : 0.0;
}

// Whether what lives is more than the limit ever let in: it came under another one, that of another
// program or an earlier one, and none of it goes to come below this.
bool Room::has_outgrown(uint64_t dead_bytes) const {
  const uint64_t size = core_.size.bytes();
  const uint64_t living_bytes = size - std::min(size, dead_bytes + core_.size.derived_bytes());
  return living_bytes > core_.settings.session_bytes_max;
}

// Again only when the session has grown by a share of its limit, or when the write would be refused
// and, since the last try, something was deleted or so much time has passed that entries may have
// expired or decayed; or when the write is smaller than the one for which nothing was evicted.
bool Room::is_worth_a_try(uint64_t new_bytes, Evicts evicts, int64_t now_ms) const {
  const Tried& last = evicts == Evicts::kNever ? tried_ : tried_evicting_;
  const uint64_t present = core_.size.bytes();
  const uint64_t size = present + new_bytes;
  if (size <= core_.settings.session_bytes_max) return size >= last.again_above_bytes;
  // The write is refused, so the session does not grow by it.
  return present >= last.again_above_bytes || core_.deleted_count() != last.deleted_count ||
         now_ms >= last.again_ms || (evicts != Evicts::kNever && new_bytes < hopeless_bytes_);
}

void Room::note_try(uint64_t new_bytes, Evicts evicts, int64_t now_ms) {
  const uint64_t limit = core_.settings.session_bytes_max;
  const uint64_t left = core_.size.bytes();
  const uint64_t grown = left + new_bytes <= limit ? left + new_bytes : left;
  tried_.deleted_count = core_.deleted_count();
  tried_.again_ms = now_ms + kTryAgainAfterMs;
  tried_.again_above_bytes = grown + limit / kTriesPerLimit;
  if (evicts != Evicts::kNever) tried_evicting_ = tried_;
}

bool Room::is_above_threshold(uint64_t size_bytes) const {
  return static_cast<double>(size_bytes) >
         core_.compaction_policy().threshold *
             static_cast<double>(core_.settings.session_bytes_max);
}

Status Room::check(uint64_t new_bytes) const {
  if (core_.context.quota != nullptr) {
    VARVE_TRY(core_.context.quota->check(core_.user_id(), new_bytes));
  }
  const uint64_t limit = core_.settings.session_bytes_max;
  if (limit == 0) return {};
  const uint64_t size = core_.size.bytes() + new_bytes;
  if (size <= limit) return {};
  const std::string_view advice =
      has_outgrown(0) ? "raise it in config.json to that of the program which let it grow so far, "
                        "or delete what is not needed and compact"
                      : "delete what is not needed and compact, or raise the limit";
  return {Code::kSizeLimit,
          "the session would be " + std::to_string(size) + " bytes; its limit is " +
              std::to_string(limit) + " (storage.max_session_size_mb): " + std::string(advice),
          {.size = size, .limit = limit}};
}

bool Room::has(uint64_t new_bytes) const {
  if (!check(new_bytes).ok()) return false;
  if (core_.settings.session_bytes_max == 0 || !core_.compaction_policy().automatic) return true;
  return !is_above_threshold(core_.size.bytes() + new_bytes);
}

}  // namespace varve::session
