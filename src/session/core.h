// Core: what all parts of a session share: the storage, the index over it, the metadata.
//
// The index lock is held for moments: never while something is written or synced. The storage's
// lock is the writer's (writer.h) and is always taken before the index lock.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "index/index.h"
#include "log/scan.h"
#include "log/storage.h"
#include "session/analyzer_pool.h"
#include "session/current_metadata.h"
#include "session/entry_cache.h"
#include "session/saved_snapshot.h"
#include "session/session.h"
#include "session/session_events.h"
#include "session/vectors.h"
#include "session/word_debt.h"

namespace varve::session {

// What the log looked like when the index was last brought up to it.
struct LogView {
  log::Tail tail;            // as seen; more bytes than covered: a torn tail
  std::string torn_entries;  // why the bytes behind the covered ones are not committed; or empty
  std::string torn_tombstones;
};

// What is known of the file of a capped store (capped_stores.h).
struct CappedFile {
  std::atomic<uint64_t> size_bytes{0};    // as last seen or written
  std::atomic<uint64_t> damage_count{0};  // damage met by this object
  std::atomic<uint64_t> damage_signature{0};
};

// What damaged lines show as the ids of entries, and where the first such line begins.
using DamagedIds = std::unordered_map<std::string, uint64_t>;

class Core {
 public:
  Core(std::string id, std::unique_ptr<log::SessionStorage> storage,
       const Session::Context& context);

  // Loads metadata, the snapshot if it fits, and what the snapshot does not cover.
  Status load();

  // Reads what was added or deleted since, by anybody, and all that index.bin has of the rows. Any
  // thread, without the storage's lock.
  Status catch_up();
  // The same, but rows that are still in index.bin alone stay there (index.has_rows()).
  Status follow();
  // As follow(), unless there is much to read: for a writer that waits for the storage's lock, and
  // would read under it what it did not read before.
  void follow_closely() noexcept;
  // Reads those, all of them.
  Status load_rows();
  // Makes that they can be asked for, which reads what is asked for; is_damaged() is to be looked
  // at then (index/index.h).
  Status open_rows();

  // The same for the holder of the storage's lock, who also moves a torn tail to quarantine: after
  // it the log ends where the index ends.
  // `conflict`: somebody appended without the lock, so what it saw when it was taken is stale.
  Status catch_up_as_writer(bool conflict = false);

  // Makes the index anew from the log, but for the words. Any thread.
  Status rebuild();

  // For who makes an index of this log beside the one in use. What the log has behind what `into`
  // covers, up to `tail`, is read into it; `added` is told the line of each new row.
  struct LogMarks {
    uint64_t gaps_legal_to = 0;  // in seq
    uint64_t settled_seq = 0;    // log/scan.h
  };
  struct Reading {
    log::Tail tail;  // which it was read to
    log::ScanReport tombstones;
    log::ScanReport entries;
  };
  [[nodiscard]] LogMarks log_marks() const;  // index lock held
  // Index lock held exclusively: what is known to be durable, and then the tail, in which all of
  // that is. The other way round what somebody added in between would be taken for lost, and a
  // batch of which the tail has a part for one that the disk lost a part of.
  Result<log::Tail> look();
  Result<Reading> read_log_into(index::Index* into, const log::Tail& tail, const LogMarks& marks,
                                const std::function<void(std::string_view line)>& added);
  // Reads what the log got since into it, takes it, and gives the old one for it, which stays in
  // use where that fails. kGone: not of this log any more.
  Status adopt_rebuilt(index::Index& made, const Reading& reading);

  // What a query needs besides the rows and their facets.
  struct Needs {
    bool words = false;
    bool time = false;       // sorts by time: the log is in that order, or needs the next
    bool relevance = false;  // sorts by what decays: is fast with the order of time
  };
  // Catches up, and brings what queries need up to the rows. Any thread, without the storage's
  // lock.
  Status prepare_query(const Needs& needs);
  // Facets of the rows there are: for who goes on with what a query found, which need not be asked
  // of the files again.
  Status prepare_facets();
  // Indexes words of rows that have none yet when they are many, so that no query waits long for
  // it; with `always` also when they are few. A bounded part of them: the rest is left for the next
  // call, or for the query that needs them. Best effort.
  void index_pending_words(bool always);

  // Reads what index.bin has and nobody asked for yet: afterwards it may be replaced.
  Status load_sections();
  // Index lock held: whether its rows are those of that epoch, and all there. They are not when
  // memory ended while a thread changed it, until load_sections() or the next reader makes it anew.
  [[nodiscard]] bool has_rows_of(uint64_t epoch) const {
    return index_is_whole_ && index_epoch == epoch;
  }
  // The same, as a status: kConflict.
  [[nodiscard]] Status check_rows(uint64_t epoch) const;
  // Index lock held: kGone when the rows are not all there, for whoever goes by any epoch: another
  // thread could not read the log to the end since he caught up, and he is to do that once more.
  [[nodiscard]] Status check_whole() const;

  // One entry's line, checked; kNotFound, kCorruption.
  Result<EntryLine> read_entry(std::string_view id);
  // Null: nothing is damaged. Reads what is, once. kGone when the log was replaced meanwhile. Any
  // thread.
  Result<std::shared_ptr<const DamagedIds>> damaged_ids();

  // Rows as of one moment, to be read after it.
  struct LiveRows {
    std::vector<uint32_t> rows;  // ascending
    uint64_t bytes = 0;          // of their lines
    uint64_t epoch = 0;
    uint64_t generation = 0;
    void add(const index::Index& from, uint32_t row) {
      rows.push_back(row);
      bytes += from.location(row).length;
    }
  };
  // All that are neither deleted nor expired.
  Result<LiveRows> live_rows();
  // Calls `visit` with the line of each, checked, in order, under no lock. kGone when the log or a
  // wrong index was replaced meanwhile: start anew.
  Status for_each_line(const LiveRows& live,
                       const std::function<Status(std::string_view line)>& visit);

  // After an append of `rows` at the covered end: makes them visible.
  struct NewRow {
    const entry::EntryFacts* facts;
    index::Location location;
  };
  void apply_entries(uint64_t start_bytes, const std::vector<NewRow>& rows,
                     uint64_t end_bytes) noexcept;
  void apply_tombstones(uint64_t start_bytes, const std::vector<std::string_view>& ids,
                        uint64_t end_bytes) noexcept;

  // The seq of the next entry: above everything that ever was durable, so that a loss shows.
  [[nodiscard]] uint64_t next_seq() const;
  // Where the next entry goes: the end of the index of that epoch.
  struct AppendPoint {
    uint64_t start_bytes = 0;
    uint64_t seq = 0;
    uint64_t epoch = 0;
    bool has_damage_before = false;
  };
  [[nodiscard]] AppendPoint append_point() const;
  // Entries known to have been durable that the log ends before.
  [[nodiscard]] uint64_t rolled_back_count() const;

  struct Found {
    uint32_t row;
    index::Location location;
    uint64_t generation;
    bool verified;
  };
  // A row's line, checked. kGone when the log was replaced, kCorruption when it is not what it was.
  Result<EntryLine> read_row(std::string_view id, const Found& found);
  // What read_row() has at hand; none: it would read the log. Any lock may be held.
  [[nodiscard]] EntryLine cached_line(const Found& found) const {
    return cache_.find(found.generation, found.row, found.location);
  }
  // Before several of these: asks for the memory of what is in the cache.
  void prefetch_row(uint32_t row) const noexcept { cache_.prefetch(row); }
  // The same as read_row(), past the cache: for whoever reads all of them once.
  Result<std::string> read_from_log(std::string_view id, const Found& found);

  [[nodiscard]] uint64_t cache_memory_bytes() const { return cache_.memory_bytes(); }

  // What `metadata` says of these. Any thread, no index lock.
  [[nodiscard]] std::shared_ptr<const decay::Rules> decay_rules() const;
  [[nodiscard]] CompactionPolicy compaction_policy() const;
  // [bytes] of log, tombstones, vectors, index.bin, kv.json and transcript.md.
  [[nodiscard]] uint64_t size_bytes() const;
  // The last two of them, as last seen.
  [[nodiscard]] uint64_t capped_bytes() const {
    return kv_file.size_bytes.load() + transcript_file.size_bytes.load();
  }
  // Looks how large they are now.
  void measure_capped_files();
  [[nodiscard]] uint64_t deleted_count() const;  // entries that the log still has
  // Takes what metadata.json says now; kCorruption where it cannot be read. Any thread, no lock.
  Status refresh_metadata();
  // kNotFound, as for who opens it, once the session's time is over (expiry.h). Reads metadata.json
  // only then: another process may have renewed it. Any thread, no index lock.
  Status check_not_expired();

  // What index.bin is to hold, when the log grew enough since the last time, or `always`; nothing
  // when it is not due. Writing it is the holder of the storage's lock's: put_snapshot().
  struct Snapshot {
    std::string bytes;
    uint64_t generation = 0;
    SnapshotExtent covered;
  };
  // `words`: indexes what has none yet first, a bounded part of it.
  std::optional<Snapshot> prepare_snapshot(bool always, bool words = true);
  // Best effort. A snapshot of a log that was replaced meanwhile is not written: after a purge it
  // would bring back the words of what was forgotten.
  void put_snapshot(const Snapshot& snapshot);

  // The index of a log that has the lines of these rows only, made without reading it, and the
  // facets that are to be put into it; readers go on meanwhile. load_sections() came before.
  // Nothing without has_rows_of(epoch).
  std::shared_ptr<index::Index> index_of_kept(const index::Renumbering& rows, uint64_t epoch) const;
  std::optional<index::Facets> facets_of_kept(const index::Renumbering& rows, uint64_t epoch) const;
  // After the holder of the storage's lock replaced the log: takes the new one's index, and gives
  // the old one for it. Answers what is to be put; `encoded` is of the new index.
  Result<Snapshot> adopt_compacted(index::Index& compacted, std::string encoded);

  // Whether many rows' words were indexed that index.bin does not have.
  [[nodiscard]] bool has_words_to_save() const;
  // Whether a session that was written to and ends should save its index: else the next opening
  // reads the end of the log, which costs less.
  [[nodiscard]] bool is_snapshot_worth_saving() const;

  // Reads metadata.json anew (holder of the lock), applies `change` and current counts, writes it.
  Status save_metadata(log::DocumentDurability kept,
                       const std::function<Status(Metadata&)>& change);
  // What could not be read was made anew.
  void note_metadata_mended();
  // The members of metadata.json that are counted.
  void count_into(json::Tree& metadata) const;

  // How the end of the log is to be read, up to `tail`. Whole lines of an unfinished batch are kept
  // (Recovery::kSalvage) only when nobody can be writing that batch at this moment.
  log::UnfinishedBatch unfinished_batch(const log::Tail& tail);
  // Warns when the session has come near its size limit (session_events.h).
  void watch_size() noexcept;

  const std::string id;
  const std::unique_ptr<log::SessionStorage> storage;
  const Session::Context context;
  const Settings settings;
  SessionEvents events;
  AnalyzerPool analyzers;
  // The session's own, else the store's; changed while holding the storage's lock.
  std::atomic<log::Durability> durability;
  [[nodiscard]] bool is_durable() const { return durability == log::Durability::kCommit; }
  CappedFile kv_file;
  CappedFile transcript_file;
  Vectors vectors;

  mutable std::shared_mutex index_mutex;  // guards everything below
  index::Index index;
  LogView view;
  CurrentMetadata metadata;
  uint64_t durable_seq_seen = 0;  // the highest seq anybody is known to have made durable
  SavedSnapshot saved;
  uint64_t torn_tail_count = 0;  // moved to quarantine by this object
  uint64_t rebuild_count = 0;
  bool index_from_log = false;  // every row was read from the log in this process
  std::string rebuild_reason;   // why index.bin was not used at the last load
  uint64_t index_epoch = 0;     // changes when the rows are numbered anew
  bool metadata_was_damaged = false;

 private:
  static SnapshotExtent extent_of(const index::Index& of);
  [[nodiscard]] bool is_snapshot_due(bool always) const;
  void note_snapshot_of_others();
  void post_index_load(const Status& loaded);
  Status load_metadata();
  Result<log::Tail> load_metadata_of_tail();
  Result<Metadata> read_metadata();
  // Index lock held exclusively:
  Status load_snapshot();
  Result<index::Index> open_snapshot_of_log();
  Status catch_up_to(const log::Tail& tail);
  [[nodiscard]] bool is_current(const log::Tail& tail) const;
  Status read_changes(log::Tail tail);
  Status read_changes_once(const log::Tail& tail);
  Status set_tail(const log::Tail& tail);
  void forget_index();
  void note_new_index();
  void give_up_snapshot(const Status& why);
  Result<log::ScanReport> read_tombstones_into(index::Index* into, const log::Tail& tail);
  Result<log::ScanReport> read_entries_into(
      index::Index* into, const log::Tail& tail, const LogMarks& marks,
      const std::function<void(std::string_view line)>& added);
  void note(const Reading& reading);
  void note_damage(const log::ScanReport& report, log::Stream stream);
  void note_salvage(const log::ScanReport& report);
  // Holder of the storage's lock:
  Status cut_torn_tail(log::Stream stream, std::string_view reason, uint64_t covered_bytes,
                       uint64_t tail_bytes);

  // Index lock held:
  [[nodiscard]] uint64_t size_bytes_now() const;
  [[nodiscard]] bool can_ask_facets() const;
  [[nodiscard]] bool needs_order(const Needs& needs) const;
  [[nodiscard]] bool has_needed(const Needs& needs, uint32_t row_count) const;

  // Index lock held exclusively:
  enum class Part : uint8_t { kOpenRows, kAllRows, kFacets, kWords, kWhole };
  Status load_pending(Part last);
  Status load_missing(Part last);
  Status index_words(uint64_t bytes_max);
  void extend_facets(bool arranges);
  Status extend_words(uint64_t bytes_max);
  [[nodiscard]] uint64_t pending_words_bytes() const;
  Status index_words_of(uint32_t first, uint32_t end);

  [[nodiscard]] uint64_t next_seq_of_index() const;  // index lock held
  [[nodiscard]] bool is_over(int64_t expires_at_ms) const;
  [[nodiscard]] Result<Found> find_row(std::string_view id) const;
  [[nodiscard]] std::optional<Result<Found>> find_at_once(std::string_view id,
                                                          const log::Tail& tail) const;
  Result<Found> find(std::string_view id);
  Status missing(std::string_view id, Status why);
  [[nodiscard]] bool is_rows_load_due();
  Status visit_lines(const std::vector<std::pair<std::string, Found>>& rows,
                     const std::function<Status(std::string_view line)>& visit);
  Status check_line(std::string_view id, const Found& found, std::string_view line);

  EntryCache cache_;
  std::mutex damage_mutex_;  // guards both; the index lock may be held
  std::shared_ptr<const DamagedIds> damaged_ids_;
  std::pair<uint64_t, uint64_t> damage_state_;  // index_epoch and skipped_count of then
  // The storage's lock is held here, and nothing written.
  std::atomic<bool> is_ours_to_read_{false};
  std::atomic<uint64_t> unread_lookups_{0};  // of entries while their rows were in index.bin alone
  bool index_is_whole_ = false;  // false while it is being changed: an allocation may fail
  WordDebt word_debt_;
};

}  // namespace varve::session
