// Index: where every entry of a session's log is, and what queries need to know without reading it.
//
// One row per committed entry, in the order of the log, as columns; an id table over them; the ids
// that were deleted; facets (tags, references, traces, content) and words as posting lists; the
// order of time. Built from the log alone. Not thread-safe: its session guards it.
//
// Not everything is always there: of index.bin rows can be asked for when more than one of them is
// wanted (has_rows()), the rest when the first query asks (has_facets(), has_text()), and what is
// asked for is read then (row_column.h); words are indexed behind the rows (text().row_count()),
// the order of time when somebody sorts by it (arrange()).
//
// memory: about 80 bytes an entry that was looked at and its id, and what facets and words take;
// see memory_bytes().
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "entry/entry.h"
#include "index/coverage.h"
#include "index/facets.h"
#include "index/id_table.h"
#include "index/row_column.h"
#include "index/row_ids.h"
#include "index/text_index.h"
#include "index/time_order.h"

namespace varve::index {

class SnapshotFile;

// What index.bin has and this index has not read yet.
struct PendingSections {
  std::shared_ptr<SnapshotFile> file;  // where it is, while anything is pending
  bool rows = false;                   // cannot be asked for yet
  bool all_rows = false;               // are not all read and checked yet
  bool facets = false;
  bool text = false;
  bool rest = false;  // what of facets and words load_whole() reads
  [[nodiscard]] bool any() const { return all_rows || facets || text || rest; }
  void close_if_done() {
    if (!all_rows && !facets && !text) file.reset();
  }
};

// Where a row's line is.
struct Location {
  uint64_t offset = 0;
  uint64_t length = 0;  // [bytes] without the line end
  uint64_t line_hash = 0;
  friend bool operator==(const Location&, const Location&) = default;
};

class Index {
 public:
  enum class Added { kYes, kIdTaken };
  static constexpr int64_t kStretchGapMs =
      3'600'000;  // a stretch of entries ends where more passes

  // The seed is secret where others choose words, tags and types (base/hash.h). No answer depends
  // on it, and no file has it.
  explicit Index(text::Settings text_settings = {}, uint64_t hash_seed = 0)
      : type_numbers_(0, KeyHash{hash_seed}),
        text_settings_(std::move(text_settings)),
        facets_(hash_seed) {}
  // Throws std::bad_alloc before it changes either. (std::swap() makes one by moving, for which
  // some containers take memory, others having been moved by then.)
  friend void swap(Index& a, Index& b);

  // Appends a row, unless its id is there already. `settled_seq`: gaps in seq up to it are legal.
  Added add(const entry::EntryFacts& facts, const Location& location, uint64_t settled_seq);
  // Remembers a deletion; the entry may be unknown (compacted away, or not read yet).
  void add_tombstone(std::string_view id);

  [[nodiscard]] std::optional<uint32_t> find(std::string_view id) const {
    return find(id, [](uint32_t) {});
  }
  // The same; expect(row) is told the row that it is, most likely, before that is sure: who goes on
  // with it can ask for its memory meanwhile.
  template <typename Expect>
  [[nodiscard]] std::optional<uint32_t> find(std::string_view wanted, Expect expect) const {
    return table_.find(wanted, id_hashes_, [&](uint32_t row) {
      expect(row);
      return ids_.is(row, wanted);
    });
  }
  [[nodiscard]] bool was_deleted(std::string_view id) const;
  // Whether ids were made to slow look-ups down, so that no index.bin can have the table of them.
  [[nodiscard]] bool is_crowded() const { return table_.is_crowded(); }

  [[nodiscard]] uint32_t size() const { return static_cast<uint32_t>(offsets_.size()); }
  [[nodiscard]] Location location(uint32_t row) const {
    const Location place{offsets_[row], lengths_[row], line_hashes_[row]};
    return has_all_rows() ? place : within_log(place);
  }
  // The stretches [from, to) of the log that no row stands for: blank lines, and damage.
  [[nodiscard]] std::vector<std::pair<uint64_t, uint64_t>> gaps() const;
  [[nodiscard]] std::string id(uint32_t row) const { return ids_.at(row); }
  // Asks for the memory of what a result tells of the row.
  void prefetch(uint32_t row) const {
    importances_.prefetch(row);
    types_.prefetch(row);
    offsets_.prefetch(row);
    lengths_.prefetch(row);
    line_hashes_.prefetch(row);
    ids_.prefetch(row);
  }
  [[nodiscard]] const std::string& type(uint32_t row) const { return type_names_[types_[row]]; }
  [[nodiscard]] uint32_t type_number(uint32_t row) const { return types_[row]; }
  [[nodiscard]] std::optional<uint32_t> find_type(std::string_view type) const;
  [[nodiscard]] const std::vector<std::string>& type_names() const { return type_names_; }
  [[nodiscard]] int64_t timestamp_ms(uint32_t row) const { return timestamps_ms_[row]; }
  [[nodiscard]] int64_t expires_at_ms(uint32_t row) const { return expiries_ms_[row]; }
  [[nodiscard]] double importance(uint32_t row) const { return importances_[row]; }
  [[nodiscard]] uint64_t seq(uint32_t row) const { return seqs_[row]; }
  [[nodiscard]] bool is_deleted(uint32_t row) const { return (marks_[row] & kDeleted) != 0; }
  [[nodiscard]] bool is_expired(uint32_t row, int64_t now_ms) const {
    return expiries_ms_[row] <= now_ms && expiries_ms_[row] != entry::kNeverExpires;
  }
  [[nodiscard]] bool is_live(uint32_t row, int64_t now_ms) const {
    return !is_deleted(row) && !is_expired(row, now_ms);
  }
  // Whether the row's line was read and its checksum and id found right in this process. Rows from
  // a snapshot start out unverified.
  [[nodiscard]] bool is_verified(uint32_t row) const { return (marks_[row] & kVerified) != 0; }
  void set_verified(uint32_t row) { marks_[row] |= kVerified; }

  [[nodiscard]] uint32_t deleted_count() const { return deleted_count_; }  // rows hidden
  [[nodiscard]] uint32_t undeleted_count() const { return size() - deleted_count_; }
  // Of the undeleted ones, how many have expired. Cost: looks at every row.
  [[nodiscard]] uint32_t expired_count(int64_t now_ms) const;
  [[nodiscard]] uint64_t tombstone_count() const { return tombstone_hashes_.size(); }
  // Lines passed over, of entries and deletions.
  [[nodiscard]] uint64_t skipped_count() const {
    return coverage.skipped_count + damaged_tombstone_count;
  }
  // Gaps up to this number are legal by now.
  void accept_gaps(uint64_t legal_to) noexcept {
    if (last_missing_seq <= legal_to) coverage.missing_count = 0;
  }
  // Live and expired rows by type, without the deleted ones.
  [[nodiscard]] std::map<std::string, uint64_t> type_counts() const;
  [[nodiscard]] uint64_t count_of_type(uint32_t number) const {
    return number < type_counts_.size() ? type_counts_[number] : 0;
  }
  [[nodiscard]] uint64_t hash_seed() const { return facets_.hash_seed(); }
  // [bytes] all of it, and of which the facets and the words.
  [[nodiscard]] uint64_t memory_bytes() const;
  [[nodiscard]] uint64_t facets_memory_bytes() const { return facets_.memory_bytes(); }
  [[nodiscard]] uint64_t text_memory_bytes() const { return text_ ? text_->memory_bytes() : 0; }

  [[nodiscard]] const PendingSections& pending() const { return pending_; }
  // While rows are pending there are none to be asked for, and none may be added.
  [[nodiscard]] bool has_rows() const { return !pending_.rows; }
  // Whether they are read and checked. Before, a file made by somebody who means harm may hide one:
  // who adds or deletes needs them all.
  [[nodiscard]] bool has_all_rows() const { return !pending_.all_rows; }
  // Before that, whether every deletion found its row.
  [[nodiscard]] bool hides_all_deleted() const {
    return has_all_rows() || tombstone_count() == deleted_count();
  }
  // Whether the row is in an index.bin that is not all read.
  [[nodiscard]] bool is_unchecked(uint32_t row) const;
  [[nodiscard]] bool has_facets() const { return !pending_.facets; }
  [[nodiscard]] const Facets& facets() const { return facets_; }
  // Whether words are there for every row up to text_row_count().
  [[nodiscard]] bool has_text() const { return text_ != nullptr && !pending_.text; }
  [[nodiscard]] const TextIndex& text() const { return *text_; }
  // Rows whose words are indexed, here or in what is pending.
  [[nodiscard]] uint32_t text_row_count() const { return text_ ? text_->row_count() : 0; }
  // For adding the words of rows, in order; made when it is first asked for.
  TextIndex& text_to_extend();
  // Compresses facets and words where that pays (Facets::compress(), TextIndex::compress()); words
  // only when more than so many bytes of them were added.
  void compress(uint64_t added_words_bytes_max = 0);
  void compress_facets();
  // Reads what of facets and words nobody has looked at yet; before encode_snapshot(), renumbered()
  // and whatever else goes through all of them.
  Status load_whole();
  // Something read from index.bin was wrong: what was answered since it was opened may be.
  [[nodiscard]] bool is_damaged() const {
    return facets_.is_damaged() || (text_ && text_->is_damaged()) || are_rows_damaged();
  }
  // Of a log that has only the lines of these rows, one behind the other from its start, but for
  // its facets: another thread may make those meanwhile (Facets::renumbered()) for take_facets().
  // Only with nothing pending. Cost: grows with the index, no line is read.
  [[nodiscard]] Index renumbered(const Renumbering& rows) const;
  void take_facets(Facets facets) { facets_ = std::move(facets); }
  // Takes the words that `other` has, if its rows with words are the first rows of this one, which
  // has no words yet. False: both stay as they are.
  enum class SameRows : uint8_t {
    kByLine,  // they stand for the same lines
    kById     // each line was written anew, with the words it had
  };
  bool take_words(Index& other, SameRows same);

  // Brings the order of time up to all rows, which reads the times of all. Queries that sort by
  // what decays need it, and those that sort by time where the log is not in its order.
  void arrange();
  [[nodiscard]] uint32_t arranged_count() const { return arranged_count_; }
  // Whether no row is older than one before it.
  [[nodiscard]] bool is_in_time_order() const { return in_time_order_; }
  // Rows of one type by time; only of arranged rows.
  [[nodiscard]] const TimeOrder& time_order(uint32_t type) const { return time_orders_[type]; }
  // Rows of one stretch, without a gap in time between neighbours, have one number.
  [[nodiscard]] uint32_t stretch(uint32_t row) const { return stretches_[row]; }

  Coverage coverage;
  TombstoneMark last_tombstone;          // of those covered
  uint64_t damaged_tombstone_count = 0;  // lines passed over; not in index.bin
  uint64_t last_missing_seq = 0;         // no missing number is above it; not in index.bin

 private:
  friend std::string encode_snapshot(const Index& index);
  friend class SnapshotReader;
  friend Result<Index> open_snapshot(std::shared_ptr<SnapshotFile>, const text::Settings&,
                                     uint64_t hash_seed);
  friend Status load_facets(Index*);
  friend Status load_text(Index*);

  using TypeNumbers = boost::unordered_flat_map<std::string, uint32_t, KeyHash, std::equal_to<>>;

  static constexpr uint8_t kDeleted = 1;
  static constexpr uint8_t kVerified = 2;
  static constexpr uint8_t kSealed = 4;  // in index.bin

  uint32_t number_of_type(std::string_view type);
  uint32_t add_type(std::string_view type);
  void put_into_table(uint32_t row);
  void put_tombstone_into_table(uint32_t number);
  void hide(std::string_view id);
  void take_row(const Index& from, uint32_t row, uint32_t type);
  void add_time(int64_t timestamp_ms);
  [[nodiscard]] uint32_t stretch_behind(uint32_t row, int64_t timestamp_ms) const;
  [[nodiscard]] bool are_rows_damaged() const;
  [[nodiscard]] Location within_log(const Location& place) const;
  void note_seq(uint64_t seq, uint64_t settled_seq);
  [[nodiscard]] std::string_view tombstone_id(uint32_t number) const;

  RowColumn<uint64_t> offsets_;
  RowColumn<uint32_t> lengths_;
  RowColumn<uint64_t> line_hashes_;
  RowColumn<uint32_t> id_hashes_;
  RowColumn<int64_t> timestamps_ms_;
  RowColumn<int64_t> expiries_ms_;
  RowColumn<double> importances_;
  RowColumn<uint64_t> seqs_;
  RowColumn<uint32_t> types_;
  RowColumn<uint8_t> flags_;  // kSealed
  RowColumn<uint32_t> stretches_;
  RowIds ids_;
  std::vector<uint8_t> marks_;  // kDeleted, kVerified
  std::vector<std::string> type_names_;
  TypeNumbers type_numbers_;           // by name: a log may have a type a row
  std::vector<uint64_t> type_counts_;  // by type number, without deleted rows
  IdTable table_;
  uint32_t deleted_count_ = 0;

  RowColumn<uint32_t> tombstone_hashes_;
  std::vector<uint64_t> tombstone_ends_;  // in tombstone_ids_
  std::string tombstone_ids_;
  IdTable tombstone_table_;

  text::Settings text_settings_;
  Facets facets_;
  std::unique_ptr<TextIndex> text_;
  PendingSections pending_;

  std::vector<TimeOrder> time_orders_;  // by type number
  uint32_t arranged_count_ = 0;
  bool in_time_order_ = true;
};

}  // namespace varve::index
