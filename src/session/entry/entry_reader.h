// EntryReader: the lines of a session's entries, read from where the index says they are. Each is
// checked, and those read lately are kept in memory.
//
// Threads: any. Locks: those named with each member; hold none for the others.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "index/index.h"
#include "log/storage.h"
#include "session/entry/entry_cache.h"
#include "session/entry/entry_line.h"

namespace varve::session {

class Core;

// Where the line of a row is, to be read after the index lock is released.
struct RowPlace {
  uint32_t row;
  index::Location location;
  uint64_t generation;
  bool verified;
};

// Rows as of one moment, whose lines are read afterwards.
struct LiveRows {
  std::vector<uint32_t> rows;  // ascending
  uint64_t bytes = 0;          // of all the lines
  uint64_t epoch = 0;
  uint64_t generation = 0;
  void add(const index::Index& from, uint32_t row) {
    rows.push_back(row);
    bytes += from.location(row).length;
  }
};

class EntryReader {
 public:
  EntryReader(Core& core, uint64_t cached_entries_max) : core_(core), cache_(cached_entries_max) {}

  // The line of one live entry. errors: kNotFound, kCorruption.
  Result<EntryLine> read(std::string_view id);
  // Why there is no live entry of this id: kNotFound. `is_indexed`: a row has the id.
  [[nodiscard]] static Status not_found(std::string_view id, bool was_deleted, bool is_indexed);

  // The line of a row. kGone when the log was replaced, kCorruption when the line has changed.
  Result<EntryLine> read_row(std::string_view id, const RowPlace& place);
  // The kept line, or null: then read_row() would read the log. Any lock may be held.
  [[nodiscard]] EntryLine kept_line(const RowPlace& place) const {
    return cache_.find(place.generation, place.row, place.location);
  }
  // Prefetches the memory for a row, before several calls of kept_line().
  void prefetch_row(uint32_t row) const noexcept { cache_.prefetch(row); }
  // As read_row(), but without kept lines: for callers that read every line once.
  Result<std::string> read_from_log(std::string_view id, const RowPlace& place);

  // All rows that are neither deleted nor expired.
  Result<LiveRows> live_rows();
  // Calls `visit` with the line of each row, checked, in order, under no lock. kGone when the log
  // was replaced or a wrong index was rebuilt meanwhile: start over.
  using Visit = std::function<Status(std::string_view line)>;
  Status for_each_line(const LiveRows& live, const Visit& visit);

  // Forgets the kept lines: after a purge none may stay. Any lock may be held.
  void forget() noexcept { cache_.clear(); }
  [[nodiscard]] uint64_t memory_bytes() const { return cache_.memory_bytes(); }

 private:
  [[nodiscard]] bool is_over(int64_t expires_at_ms) const;
  [[nodiscard]] Result<RowPlace> find_row(std::string_view id) const;
  [[nodiscard]] std::optional<Result<RowPlace>> find_at_once(std::string_view id,
                                                             const log::Tail& tail) const;
  Result<RowPlace> find(std::string_view id);
  [[nodiscard]] bool is_opening_due();
  Status visit_lines(const std::vector<std::pair<std::string, RowPlace>>& rows, const Visit& visit);
  Status check_line(std::string_view id, const RowPlace& place, std::string_view line);

  Core& core_;
  EntryCache cache_;
  std::atomic<uint64_t> unread_lookups_{0};  // of entries whose rows were in index.bin only
};

}  // namespace varve::session
