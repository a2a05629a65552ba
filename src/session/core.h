// Core: what all parts of a session share: the storage, the index over it and the metadata.
//
// The index lock is held only for moments, never while something is written or synced. The
// storage's lock belongs to the writer (writer.h) and is always taken before the index lock.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "index/index.h"
#include "log/scan.h"
#include "log/storage.h"
#include "session/context.h"
#include "session/entry/damaged_lines.h"
#include "session/entry/entry_reader.h"
#include "session/metadata/current_metadata.h"
#include "session/metadata/metadata_file.h"
#include "session/query/analyzer_pool.h"
#include "session/saved_snapshot.h"
#include "session/session_events.h"
#include "session/session_size.h"
#include "session/vectors/vectors.h"
#include "session/word_debt.h"

namespace varve::session {

// The state of the log when the index was last brought up to date with it.
struct LogView {
  log::Tail tail;            // as seen; with a torn tail, longer than what the index covers
  std::string torn_entries;  // why the bytes behind the covered ones are not committed; or empty
  std::string torn_tombstones;
};

// What is known of the file of a capped store (capped_stores.h).
struct CappedFile {
  std::atomic<uint64_t> size_bytes{0};    // as last seen or written
  std::atomic<uint64_t> damage_count{0};  // damage met by this object
  std::atomic<uint64_t> damage_signature{0};
};

class Core {
 public:
  Core(std::string id, std::unique_ptr<log::SessionStorage> storage, const Context& context);

  // Loads metadata, the snapshot (index.bin) if it fits, and the part of the log behind it.
  Status load();

  // Adds to the index what any process added or deleted, and reads all rows that are still in
  // index.bin. Any thread, without the storage's lock.
  Status catch_up();
  // The same, but rows not read from index.bin yet stay there (index.has_rows()).
  Status follow();
  // The same for who has just looked at the log's tail.
  Status catch_up_to(const log::Tail& tail);
  // Index lock held: whether there is nothing to catch up with.
  [[nodiscard]] bool is_current(const log::Tail& tail) const;
  // As follow(), unless there is much to read: for a writer that waits for the storage's lock, so
  // that it has less to read once it holds the lock.
  void follow_closely() noexcept;
  // Reads all rows that are still in index.bin.
  Status load_rows();
  // Opens the rows of index.bin, so that each is read when it is asked for; the caller then checks
  // is_damaged() (index/index.h).
  Status open_rows();

  // As catch_up(), for the holder of the storage's lock: also moves a torn tail to quarantine, so
  // that the log then ends where the index ends.
  // `conflict`: somebody appended without the lock, so the tail seen by lock() is out of date.
  Status catch_up_as_writer(bool conflict = false);

  // Rebuilds the index from the log, without the words. Any thread.
  Status rebuild();
  // The same for the holder of the storage's lock: nobody can be in the middle of a batch.
  Status rebuild_as_writer();
  // The same for the holder of the storage's lock who wrote each line anew, with the words it had:
  // those that are indexed stay.
  Status rebuild_of_same_words();
  // The same for whoever found a line that is not as its row says: a row of index.bin may be the
  // one that is wrong. Then kGone, because the caller has to begin again.
  Status rebuild_and_start_over();

  // For building another index beside the one in use. read_log_into() adds to `into` what the log
  // has behind its coverage, up to `tail`; `added`, if given, is called with the line of each new
  // row.
  struct LogMarks {
    uint64_t gaps_legal_to = 0;  // a seq: gaps up to it are legal
    uint64_t settled_seq = 0;    // log/scan.h
    log::Tail indexed;           // what the session's index was read to
  };
  struct Reading {
    log::Tail tail;  // how far the log was read
    log::ScanReport tombstones;
    log::ScanReport entries;
  };
  [[nodiscard]] LogMarks log_marks() const;  // index lock held
  // Index lock held exclusively: looks first at what is known to be durable, then at the tail,
  // which contains all of that. In the other order, entries added in between would look lost, and a
  // batch that is partly in the tail would look as if the disk had lost the rest.
  Result<log::Tail> look();
  using Added = std::function<void(std::string_view line)>;
  Result<Reading> read_log_into(index::Index* into, const log::Tail& tail, const LogMarks& marks,
                                const Added& added = {});
  // Reads into `made` what the log got after `reading`, makes it the session's index and leaves the
  // old one in `made`. On failure the old one stays in use. kGone: the log was replaced.
  enum class Words : uint8_t {
    kMade,
    kKept
  };  // kKept: those of the old one, if its rows are right
  Status adopt_rebuilt(index::Index& made, const Reading& reading, Words words = Words::kMade);

  // What a query needs besides the rows and their facets.
  struct Needs {
    bool words = false;
    bool time = false;       // sorts by time: needs the order of time, unless the log is in it
    bool relevance = false;  // sorts by what decays: always needs the order of time
  };
  // The rows that a query is ready for: words may be there of some behind them, and so of a part of
  // a batch.
  struct ReadyRows {
    uint32_t end = 0;
    uint64_t epoch = 0;  // index_epoch
  };
  // Catches up, and extends the parts of the index that the query needs to all rows, which it
  // returns. Any thread, without the storage's lock.
  Result<ReadyRows> prepare_query(const Needs& needs);
  // Makes facets available for the rows there are, without looking for new lines in the files: for
  // a caller that goes on with what a query found.
  Status prepare_facets();
  // Before a save: indexes the words of rows that have none yet when there are many, so that no
  // query waits long for it; with kAlways also when there are few. Does a bounded part of the work;
  // the next call, or a query that needs the words, does the rest. Best effort.
  void index_pending_words(Saving saving);

  // Reads all sections of index.bin that were not needed yet: afterwards the file may be replaced.
  Status load_sections();
  // Index lock held: whether the index is whole and its rows are those of `epoch`. It is not whole
  // after an allocation failed in a change, until load_sections() or a reader rebuilds it.
  [[nodiscard]] bool has_rows_of(uint64_t epoch) const {
    return index_is_whole_ && index_epoch == epoch;
  }
  // The same as a status: kConflict if not.
  [[nodiscard]] Status check_rows(uint64_t epoch) const;
  // Index lock held, for callers that accept any epoch: fails when the rows are not all there.
  // Another thread then failed to read the log to its end, and the caller has to catch up again:
  // a reader is told so by kGone, the holder of the storage's lock by kConflict.
  [[nodiscard]] Status check_whole() const;
  [[nodiscard]] Status check_whole_as_writer() const { return check_rows(index_epoch); }

  // Whether the log that was read last is still the session's. Any thread.
  [[nodiscard]] bool has_present_log();
  // Whether every row was read from the log in this process: those of index.bin may be wrong.
  [[nodiscard]] bool is_index_from_log() const;

  // Makes `rows` visible, after they were appended where the index ended.
  struct NewRow {
    const entry::EntryFacts* facts;
    index::Location location;
  };
  void apply_entries(uint64_t start_bytes, const std::vector<NewRow>& rows,
                     uint64_t end_bytes) noexcept;
  // `lines`: of these ids, which are at least one.
  void apply_tombstones(uint64_t start_bytes, const std::vector<std::string_view>& ids,
                        std::string_view lines) noexcept;

  // The highest seq that is in the log or ever was durable, so that a loss shows: the next entry
  // gets the one above it. Index lock held.
  [[nodiscard]] uint64_t last_seq() const;
  [[nodiscard]] uint64_t next_seq() const;
  // Where the next entry goes: where the index of `epoch` ends.
  struct AppendPoint {
    uint64_t start_bytes = 0;
    uint64_t seq = 0;
    uint64_t epoch = 0;
    bool has_damage_before = false;
  };
  [[nodiscard]] AppendPoint append_point() const;
  // How many entries, known to have been durable, are missing at the end of the log.
  [[nodiscard]] uint64_t rolled_back_count() const;
  // How many deletions, known to have been durable, are missing, without those that can be seen to
  // be damaged. Their lines have no numbers, so only their count tells. Index lock held.
  [[nodiscard]] uint64_t lost_deletion_count() const;
  // To be called after deletions were added where others are missing: only counted, they would
  // stand for those. Best effort. Lock holder.
  void count_beside_lost(uint64_t added_count) noexcept;
  // Lines that are damaged or missing, of entries and deletions. Takes the index lock.
  [[nodiscard]] uint64_t lost_line_count() const;
  [[nodiscard]] uint64_t tombstone_count() const;

  // Index lock held: where the line of a row is, for `entries` to read.
  [[nodiscard]] RowPlace place_of(uint32_t row) const {
    return {row, index.location(row), view.tail.generation, index.is_verified(row)};
  }
  // Index lock held: [bytes] of index, vectors and kept lines in memory.
  [[nodiscard]] uint64_t memory_bytes_now() const {
    return index.memory_bytes() + entries.memory_bytes() + vectors.memory_bytes();
  }

  // Both as in `metadata`. Any thread, without the index lock.
  [[nodiscard]] std::shared_ptr<const decay::Rules> decay_rules() const;
  [[nodiscard]] CompactionPolicy compaction_policy() const;
  [[nodiscard]] uint64_t deleted_count() const;  // entries that the log still has
  // Index lock held exclusively: takes what metadata.json says now, also of gaps that were counted.
  void set_metadata(Metadata fresh);
  // Reads metadata.json again and notes whether the file is damaged by now, which is no failure,
  // and reads what was added to the log.
  Status check_metadata();
  // kNotFound once the session's ttl is over (expiry.h), as when it is opened. Reads metadata.json
  // only then: another process may have renewed it. Any thread, without the index lock.
  Status check_not_expired();

  // The bytes of a new index.bin, if it is to be saved. put_snapshot() writes them, with the
  // storage's lock held.
  struct Snapshot {
    std::string bytes;
    uint64_t generation = 0;
    SnapshotExtent covered;
    uint64_t gaps_legal_to = 0;  // as its count of missing entries has it
  };
  std::optional<Snapshot> prepare_snapshot(Saving saving);
  // Best effort. A snapshot of a log that was replaced meanwhile is not written: after a purge it
  // would bring back the words of what was forgotten.
  void put_snapshot(const Snapshot& snapshot);
  // index.bin is gone: it has no size, and nothing of the log.
  void note_snapshot_removed();

  // The index of a log that has only the lines of these rows, made without reading it, and the
  // facets to put into it. Readers go on meanwhile. Call load_sections() before. Both are empty
  // unless has_rows_of(epoch), and where a list cannot be read.
  std::shared_ptr<index::Index> index_of_kept(const index::Renumbering& rows, uint64_t epoch) const;
  std::optional<index::Facets> facets_of_kept(const index::Renumbering& rows, uint64_t epoch) const;
  // After the holder of the storage's lock replaced the log: makes `compacted` the session's index
  // and leaves the old one in it. `encoded` is the new index as bytes; returns the snapshot to put.
  Result<Snapshot> adopt_compacted(index::Index& compacted, std::string encoded);

  // Whether a session that was not written to should save its index when it ends: it was rebuilt,
  // or the words of many rows were indexed that index.bin does not have.
  [[nodiscard]] bool is_snapshot_wanting() const;
  // Whether a session that was written to should save its index when it ends. If not, the next
  // opening reads the end of the log, which costs less.
  [[nodiscard]] bool is_snapshot_worth_saving() const;

  // To be called when metadata.json was written with another number of tombstones.
  void note_tombstones_accepted();

  // To where the whole lines of a batch that the log ends inside of are kept (log/scan.h), when it
  // is read up to `tail`: all of them (Recovery::kSalvage), but only if nobody can be writing that
  // batch at this moment. Else those that `indexed` has: they were found kept before.
  uint64_t kept_to(const log::Tail& tail, const log::Tail& indexed);
  [[nodiscard]] log::Tail indexed_tail() const;  // index lock held
  // Whose it is; empty: nobody's.
  [[nodiscard]] std::string user_id() const;
  [[nodiscard]] bool is_of(std::string_view user, std::string_view agent) const;  // empty: any

  const std::string id;
  const std::unique_ptr<log::SessionStorage> storage;
  const Context context;
  const Settings& settings;  // of the context
  SessionEvents events;
  const std::unique_ptr<AnalyzerPool> own_analyzers;  // null: those of the context
  AnalyzerPool& analyzers;
  // The session's own, else the store's. Changed only while holding the storage's lock, by whose
  // holder a change of another process is noticed.
  std::atomic<log::Durability> durability;
  [[nodiscard]] log::Durability durability_of(const json::Tree& metadata_tree) const;
  // To be called before the session gets this durability.
  [[nodiscard]] Status prepare_for(log::Durability wanted) const;
  void follow_durability();  // after metadata.json was read again
  [[nodiscard]] bool is_durable() const { return durability == log::Durability::kCommit; }
  CappedFile kv_file;
  CappedFile transcript_file;
  Vectors vectors;
  SessionSize size;
  MetadataFile metadata_file;
  EntryReader entries;
  DamagedLines damaged_lines;
  // The damage beside which drop_stray_vectors() left none that can be read. Lock holder only.
  DamagedLines::State damage_without_strays;

  const uint64_t hash_seed;  // of the index's tables in memory (index/index.h)
  [[nodiscard]] index::Index empty_index() const { return index::Index(settings.text, hash_seed); }

  mutable std::shared_mutex index_mutex;  // guards everything below
  index::Index index;
  LogView view;
  CurrentMetadata metadata;
  uint64_t durable_seq_seen = 0;         // the highest seq anybody is known to have made durable
  uint64_t durable_tombstones_seen = 0;  // of metadata read before the tail of the index
  SavedSnapshot saved;
  uint64_t torn_tail_count = 0;  // moved to quarantine by this object
  uint64_t rebuild_count = 0;
  bool index_from_log = false;  // see is_index_from_log()
  std::string rebuild_reason;   // why index.bin was not used at the last load
  uint64_t index_epoch = 0;     // changes when the rows are renumbered

 private:
  static SnapshotExtent extent_of(const index::Index& of);
  [[nodiscard]] bool is_snapshot_due(Saving saving) const;
  void note_snapshot_of_others();
  void post_index_load(const Status& loaded);
  void post_rollback();
  void post_lost_deletions();
  Status load_metadata();
  void warn_of_wrong_member();
  Result<log::Tail> load_metadata_of_tail();
  // Index lock held exclusively:
  Status load_snapshot();
  Result<index::Index> open_snapshot_of_log();
  Result<bool> has_covered_part(const index::Coverage& coverage, uint64_t generation);
  Result<bool> has_covered_tombstones(uint64_t generation);
  // Whether what the index has of a log that now ends at `tail` is still there.
  Result<bool> has_known_part(const log::Tail& tail);
  // Whether the byte before `end` is a line end.
  Result<bool> ends_a_line(log::Stream stream, uint64_t generation, uint64_t end);
  Status read_to(const log::Tail& tail);
  void let_go_of_old_vectors();
  Status read_changes(log::Tail tail);
  Status read_changes_once(log::Tail tail);
  Status meet_replaced_log(log::Tail* tail);
  void forget_index();
  Status rebuild_from(const log::Tail& tail);
  void note_new_index();
  void give_up_snapshot(const Status& why);
  void count_rebuild();
  Result<log::ScanReport> read_tombstones_into(index::Index* into, const log::Tail& tail);
  Result<log::ScanReport> read_entries_into(index::Index* into, const log::Tail& tail,
                                            const LogMarks& marks, const Added& added);
  void post_repeated_id(const entry::EntryFacts& facts, uint64_t offset);
  void note(const Reading& reading);
  void note_damage(const log::ScanReport& report, log::Stream stream);
  void note_salvage(const log::ScanReport& report);
  // Holder of the storage's lock; kConflict when somebody appends meanwhile without it:
  Status catch_up_and_cut(bool conflict);
  Status cut_torn_tail(log::Stream stream, std::string_view reason, uint64_t covered_bytes,
                       uint64_t tail_bytes);

  // Index lock held:
  [[nodiscard]] ReadyRows rows_present() const;
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

  std::atomic<bool> may_hold_old_vectors_{false};  // of a log that was replaced
  // True while this object holds the storage's lock and writes nothing.
  std::atomic<bool> is_ours_to_read_{false};
  bool index_is_whole_ = false;  // false during a change, and after a failed one
  WordDebt word_debt_;
};

}  // namespace varve::session
