// Reading entries: from where the index says they are, with every line checked.
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

Status Core::no_entry(std::string_view wanted, bool was_deleted, bool is_indexed) {
  const std::string why = was_deleted  ? "was deleted"
                          : is_indexed ? "has expired"
                                       : "does not exist";
  return {Code::kNotFound, "entry '" + std::string(wanted) + "' " + why};
}

// Few entries and sessions expire: the clock is asked only for those.
bool Core::is_over(int64_t expires_at_ms) const {
  return expires_at_ms != entry::kNeverExpires && expires_at_ms <= context.clock->now_ms();
}

// With the index lock held and index.has_rows().
Result<Core::Found> Core::find_row(std::string_view wanted) const {
  const auto row = index.find(wanted, [this](uint32_t expected) {
    index.prefetch(expected);
    cache_.prefetch(expected);
  });
  std::optional<Found> found;
  if (row && !index.is_deleted(*row) && !is_over(index.expires_at_ms(*row))) {
    found = place_of(*row);
  }
  // Checked last: a part of index.bin that cannot be read reads as zeros.
  if (index.is_damaged()) return index::wrong_snapshot("found damaged by a look-up");
  if (!found) return no_entry(wanted, index.was_deleted(wanted), row.has_value());
  return *found;
}

// The usual case: the index is up to date with the log and has its rows open.
std::optional<Result<Core::Found>> Core::find_at_once(std::string_view wanted,
                                                      const log::Tail& tail) const {
  const std::shared_lock lock(index_mutex);
  if (!is_current(tail) || !index.has_rows()) return std::nullopt;
  return find_row(wanted);
}

Result<Core::Found> Core::find(std::string_view wanted) {
  std::shared_ptr<index::SnapshotFile> unread;
  Found found{};
  bool was_deleted = false;
  {
    const std::shared_lock lock(index_mutex);
    VARVE_TRY(check_whole());
    if (index.has_rows()) return find_row(wanted);
    unread = index.pending().file;
    found.generation = view.tail.generation;
    was_deleted = index.was_deleted(wanted);
  }
  unread_lookups_ += 1;
  VARVE_TRY_ASSIGN(const auto stored, index::find_row(*unread, wanted));
  const bool has_expired = stored && is_over(stored->expires_at_ms);
  if (!stored || was_deleted || has_expired) return no_entry(wanted, was_deleted, has_expired);
  found.row = stored->row;
  found.location = stored->location;
  return found;
}

// Whether so many entries were looked up in index.bin that opening the rows would have cost less.
bool Core::is_rows_load_due() {
  const uint64_t lookups = unread_lookups_.load();
  if (lookups == 0) return false;
  const std::shared_lock lock(index_mutex);
  return !index.has_rows() && lookups * kRowsALookup > index.pending().file->header().row_count;
}

Result<EntryLine> Core::read_row(std::string_view wanted, const Found& found) {
  if (EntryLine cached = cached_line(found)) return cached;
  VARVE_TRY_ASSIGN(const std::string read, read_from_log(wanted, found));
  EntryLine line = cache_.line_of(read);
  cache_.keep(found.generation, found.row, found.location, line);
  return line;
}

Result<std::string> Core::read_from_log(std::string_view wanted, const Found& found) {
  std::string line(found.location.length, '\0');
  VARVE_TRY_ASSIGN(const size_t got, storage->read(log::Stream::kEntries, found.generation,
                                                   found.location.offset, line));
  line.resize(got);
  VARVE_TRY(check_line(wanted, found, line));
  return line;
}

Result<EntryLine> Core::read_entry(std::string_view wanted) {
  Status damage;  // found at the place that the snapshot gave
  for (int attempt = 0; attempt < kReplacedMax; ++attempt) {
    VARVE_TRY_ASSIGN(const log::Tail tail, storage->tail());
    auto at_once = find_at_once(wanted, tail);
    if (!at_once) {
      VARVE_TRY(catch_up_to(tail));
      if (is_rows_load_due()) VARVE_TRY(open_rows());
    }
    auto looked_up = at_once ? *std::move(at_once) : find(wanted);
    if (looked_up.code() == Code::kGone) continue;
    if (!looked_up.ok() && looked_up.code() != Code::kNotFound) {
      VARVE_TRY(load_rows());  // index.bin is unreadable or wrong: this finds it out
      looked_up = find(wanted);
    }
    if (!looked_up.ok() && !damage.ok()) return damage;
    if (!looked_up.ok()) {
      Status why = missing(wanted, std::move(looked_up).status());
      if (why.code() == Code::kGone) continue;
      return why;
    }
    auto line = read_row(wanted, *looked_up);
    if (line.ok() || (line.code() != Code::kGone && line.code() != Code::kCorruption)) return line;
    if (line.code() == Code::kGone) continue;
    if (is_index_from_log()) return line;  // it was right when it was indexed: the disk changed
    VARVE_TRY(rebuild());                  // the snapshot may be the one that is wrong
    const std::shared_lock lock(index_mutex);
    if (index.coverage.skipped_count > 0) damage = std::move(line).status();
  }
  return replaced_too_often();
}

Status Core::check_line(std::string_view wanted, const Found& found, std::string_view line) {
  const auto damaged = [&](std::string message) {
    return Status(
        Code::kCorruption, std::move(message),
        {.path = storage->name_of(log::Stream::kEntries), .offset = found.location.offset});
  };
  if (line.size() != found.location.length || hash64(line) != found.location.line_hash) {
    return damaged("the line of entry '" + std::string(wanted) +
                   "' changed after it was indexed: run verify, then repair");
  }
  if (found.verified) return {};
  json::Document scratch;
  entry::EntryFacts facts;
  Status read = entry::read_line(line, scratch, &facts);
  if (!read.ok()) return damaged(read.message());
  if (facts.id != wanted) return damaged("the index points to the line of another entry");
  // Saves a later check, no more: if the lock is taken now, the next reader does it.
  const std::unique_lock lock(index_mutex, std::try_to_lock);
  if (lock.owns_lock() && view.tail.generation == found.generation && found.row < index.size() &&
      index.id(found.row) == wanted) {
    index.set_verified(found.row);
  }
  return {};
}

bool Core::has_present_log() {
  const auto tail = storage->tail();
  if (!tail.ok()) return tail.code() != Code::kNotFound;
  const std::shared_lock lock(index_mutex);
  return tail->generation == view.tail.generation;
}

bool Core::is_index_from_log() const {
  const std::shared_lock lock(index_mutex);
  return index_from_log;
}

Result<Core::LiveRows> Core::live_rows() {
  VARVE_TRY(catch_up());
  const int64_t now_ms = context.clock->now_ms();
  LiveRows live;
  const std::shared_lock lock(index_mutex);
  VARVE_TRY(check_whole());
  live.epoch = index_epoch;
  live.generation = view.tail.generation;
  for (uint32_t row = 0; row < index.size(); ++row) {
    if (index.is_live(row, now_ms)) live.add(index, row);
  }
  return live;
}

// Ids and places are looked up a few rows at a time: those of all rows would take more memory than
// the lines that are read at any one moment.
Status Core::for_each_line(const LiveRows& live,
                           const std::function<Status(std::string_view)>& visit) {
  constexpr size_t kRowsAtATime = 256;
  std::vector<std::pair<std::string, Found>> rows;
  for (size_t first = 0; first < live.rows.size(); first += kRowsAtATime) {
    rows.clear();
    {
      const std::shared_lock lock(index_mutex);
      if (index_epoch != live.epoch || view.tail.generation != live.generation) {
        return index_made_anew();
      }
      const size_t end = std::min(live.rows.size(), first + kRowsAtATime);
      for (size_t i = first; i < end; ++i) {
        rows.emplace_back(index.id(live.rows[i]), place_of(live.rows[i]));
      }
    }
    VARVE_TRY(visit_lines(rows, visit));
  }
  return {};
}

Status Core::visit_lines(const std::vector<std::pair<std::string, Found>>& rows,
                         const std::function<Status(std::string_view)>& visit) {
  const bool from_log = is_index_from_log();
  for (const auto& [row_id, found] : rows) {
    auto line = read_from_log(row_id, found);
    if (line.code() == Code::kCorruption && !from_log) return rebuild_and_start_over();
    VARVE_TRY(line);
    VARVE_TRY(visit(*line));
  }
  return {};
}

}  // namespace varve::session
