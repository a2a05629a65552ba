#include "session/entry/entry_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "entry/entry.h"
#include "index/row_lookup.h"
#include "session/core.h"
#include "session/retries.h"

namespace varve::session {

namespace {

// Finding one entry in index.bin costs as much as reading this many rows page by page, which is
// what gets do once rows are open: 22 us, and 90 ms for a million rows.
constexpr uint64_t kRowsALookup = 256;

}  // namespace

Status EntryReader::not_found(std::string_view id, bool was_deleted, bool is_indexed) {
  const std::string why = was_deleted  ? "was deleted"
                          : is_indexed ? "has expired"
                                       : "does not exist";
  return {Code::kNotFound, "entry '" + std::string(id) + "' " + why};
}

// Few entries and sessions expire: the clock is asked only for those.
bool EntryReader::is_over(int64_t expires_at_ms) const {
  return expires_at_ms != entry::kNeverExpires && expires_at_ms <= core_.context.clock->now_ms();
}

// With the index lock held and core_.index.has_rows().
Result<RowPlace> EntryReader::find_row(std::string_view id) const {
  const auto row = core_.index.find(id, [this](uint32_t expected) {
    core_.index.prefetch(expected);
    cache_.prefetch(expected);
  });
  std::optional<RowPlace> found;
  if (row && !core_.index.is_deleted(*row) && !is_over(core_.index.expires_at_ms(*row))) {
    found = core_.place_of(*row);
  }
  // Checked last: a part of index.bin that cannot be read reads as zeros.
  if (core_.index.is_damaged()) return index::wrong_snapshot("found damaged by a look-up");
  if (!found) return not_found(id, core_.index.was_deleted(id), row.has_value());
  return *found;
}

// The usual case: the index is up to date with the log and has its rows open.
std::optional<Result<RowPlace>> EntryReader::find_at_once(std::string_view id,
                                                          const log::Tail& tail) const {
  const std::shared_lock lock(core_.index_mutex);
  if (!core_.is_current(tail) || !core_.index.has_rows()) return std::nullopt;
  return find_row(id);
}

Result<RowPlace> EntryReader::find(std::string_view id) {
  std::shared_ptr<index::SnapshotFile> unread;
  RowPlace found{};
  bool was_deleted = false;
  {
    const std::shared_lock lock(core_.index_mutex);
    VARVE_TRY(core_.check_whole());
    if (core_.index.has_rows()) return find_row(id);
    unread = core_.index.pending().file;
    found.generation = core_.view.tail.generation;
    was_deleted = core_.index.was_deleted(id);
  }
  unread_lookups_ += 1;
  VARVE_TRY_ASSIGN(const auto stored, index::find_row(*unread, id));
  const bool has_expired = stored && is_over(stored->expires_at_ms);
  if (!stored || was_deleted || has_expired) return not_found(id, was_deleted, has_expired);
  found.row = stored->row;
  found.location = stored->location;
  return found;
}

// Whether so many entries were looked up in index.bin that opening the rows would have cost less.
bool EntryReader::is_opening_due() {
  const uint64_t lookups = unread_lookups_.load();
  if (lookups == 0) return false;
  const std::shared_lock lock(core_.index_mutex);
  return !core_.index.has_rows() &&
         lookups * kRowsALookup > core_.index.pending().file->header().row_count;
}

Result<EntryLine> EntryReader::read_row(std::string_view id, const RowPlace& place) {
  if (EntryLine kept = kept_line(place)) return kept;
  VARVE_TRY_ASSIGN(const std::string read, read_from_log(id, place));
  EntryLine line = cache_.line_of(read);
  cache_.keep(place.generation, place.row, place.location, line);
  return line;
}

Result<std::string> EntryReader::read_from_log(std::string_view id, const RowPlace& place) {
  std::string line(place.location.length, '\0');
  VARVE_TRY_ASSIGN(const size_t got, core_.storage->read(log::Stream::kEntries, place.generation,
                                                         place.location.offset, line));
  line.resize(got);
  VARVE_TRY(check_line(id, place, line));
  return line;
}

Result<EntryLine> EntryReader::read(std::string_view id) {
  Status damage;  // found at the place that the snapshot gave
  for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
    VARVE_TRY_ASSIGN(const log::Tail tail, core_.storage->tail());
    auto at_once = find_at_once(id, tail);
    if (!at_once) {
      VARVE_TRY(core_.catch_up_to(tail));
      if (is_opening_due()) VARVE_TRY(core_.open_rows());
    }
    auto looked_up = at_once ? *std::move(at_once) : find(id);
    if (looked_up.code() == Code::kGone) continue;
    if (!looked_up.ok() && looked_up.code() != Code::kNotFound) {
      VARVE_TRY(core_.load_rows());  // index.bin is unreadable or wrong: this finds it out
      looked_up = find(id);
    }
    if (!looked_up.ok() && !damage.ok()) return damage;
    if (!looked_up.ok()) {
      Status why = core_.damaged_lines.explain(id, std::move(looked_up).status());
      if (why.code() == Code::kGone) continue;
      return why;
    }
    auto line = read_row(id, *looked_up);
    if (line.ok() || (line.code() != Code::kGone && line.code() != Code::kCorruption)) return line;
    if (line.code() == Code::kGone) continue;
    if (core_.is_index_from_log())
      return line;               // it was right when it was indexed: the disk changed
    VARVE_TRY(core_.rebuild());  // the snapshot may be the one that is wrong
    const std::shared_lock lock(core_.index_mutex);
    if (core_.index.coverage.skipped_count > 0) damage = std::move(line).status();
  }
  return replaced_too_often();
}

Status EntryReader::check_line(std::string_view id, const RowPlace& place, std::string_view line) {
  const auto damaged = [&](std::string message) {
    return Status(
        Code::kCorruption, std::move(message),
        {.path = core_.storage->name_of(log::Stream::kEntries), .offset = place.location.offset});
  };
  if (line.size() != place.location.length || hash64(line) != place.location.line_hash) {
    return damaged("the line of entry '" + std::string(id) +
                   "' changed after it was indexed: run verify, then repair");
  }
  if (place.verified) return {};
  json::Document scratch;
  entry::EntryFacts facts;
  Status read = entry::read_line(line, scratch, &facts);
  if (!read.ok()) return damaged(read.message());
  if (facts.id != id) return damaged("the index points to the line of another entry");
  // Saves a later check, no more: if the lock is taken now, the next reader does it.
  const std::unique_lock lock(core_.index_mutex, std::try_to_lock);
  if (lock.owns_lock() && core_.view.tail.generation == place.generation &&
      place.row < core_.index.size() && core_.index.id(place.row) == id) {
    core_.index.set_verified(place.row);
  }
  return {};
}

Result<LiveRows> EntryReader::live_rows() {
  VARVE_TRY(core_.catch_up());
  const int64_t now_ms = core_.context.clock->now_ms();
  LiveRows live;
  const std::shared_lock lock(core_.index_mutex);
  VARVE_TRY(core_.check_whole());
  live.epoch = core_.index_epoch;
  live.generation = core_.view.tail.generation;
  for (uint32_t row = 0; row < core_.index.size(); ++row) {
    if (core_.index.is_live(row, now_ms)) live.add(core_.index, row);
  }
  return live;
}

// Ids and places are looked up a few rows at a time: those of all rows would take more memory than
// the lines that are read at any one moment.
Status EntryReader::for_each_line(const LiveRows& live, const Visit& visit) {
  constexpr size_t kRowsAtATime = 256;
  std::vector<std::pair<std::string, RowPlace>> rows;
  for (size_t first = 0; first < live.rows.size(); first += kRowsAtATime) {
    rows.clear();
    {
      const std::shared_lock lock(core_.index_mutex);
      if (core_.index_epoch != live.epoch || core_.view.tail.generation != live.generation) {
        return index_made_anew();
      }
      const size_t end = std::min(live.rows.size(), first + kRowsAtATime);
      for (size_t i = first; i < end; ++i) {
        rows.emplace_back(core_.index.id(live.rows[i]), core_.place_of(live.rows[i]));
      }
    }
    VARVE_TRY(visit_lines(rows, visit));
  }
  return {};
}

Status EntryReader::visit_lines(const std::vector<std::pair<std::string, RowPlace>>& rows,
                                const Visit& visit) {
  const bool from_log = core_.is_index_from_log();
  for (const auto& [row_id, found] : rows) {
    auto line = read_from_log(row_id, found);
    if (line.code() == Code::kCorruption && !from_log) return core_.rebuild_and_start_over();
    VARVE_TRY(line);
    VARVE_TRY(visit(*line));
  }
  return {};
}

}  // namespace varve::session
