#include "index/snapshot.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>

#include "base/ids.h"
#include "index/column.h"

namespace varve::index {

namespace {

template <typename T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

// The mark of a text's length is its highest bit in memory and its lowest in the file, where it
// costs the column one bit and not all.
EncodedColumn encode_text_lengths(std::span<const uint32_t> lengths) {
  std::vector<uint32_t> turned(lengths.size());
  std::transform(lengths.begin(), lengths.end(), turned.begin(),
                 [](uint32_t length) { return std::rotl(length, 1); });
  return encode_column(std::span<const uint32_t>(turned));
}

// As many bytes for each as the largest needs, which is that of the last row: all are in the table.
EncodedColumn encode_slots(std::span<const uint32_t> slots) {
  return encode_column_bits(std::vector<uint64_t>(slots.begin(), slots.end()), 0, sizeof(uint32_t));
}

SnapshotHeader header_of(const Index& index, std::string_view id_start) {
  SnapshotHeader header;
  header.row_count = index.size();
  if (index.has_text()) {
    header.text_row_count = index.text().row_count();
    header.text_fingerprint = index.text().fingerprint();
  }
  header.coverage = index.coverage;
  header.coverage.tombstones_bytes = 0;
  header.is_in_time_order = index.is_in_time_order() ? 1 : 0;
  header.id_start_length = id_start.size();
  std::copy(id_start.begin(), id_start.end(), header.id_start.begin());
  return header;
}

}  // namespace

std::string encode_snapshot(const Index& index) {
  std::string type_names;
  for (const auto& name : index.type_names_) type_names += name + "\n";
  const std::string facets = index.facets_.encode();
  const bool has_text = index.has_text();
  const std::string terms = has_text ? index.text_->encode_terms() : std::string();
  const std::span<const uint32_t> text_lengths =
      has_text ? std::span(index.text_->lengths()) : std::span<const uint32_t>();
  EncodedIds ids = index.ids_.encode();
  const std::pair<SnapshotSection, EncodedColumn> columns[] = {
      {kOffsets, encode_column(index.offsets_.values())},
      {kLengths, encode_column(index.lengths_.values())},
      {kIdEnds, std::move(ids.ends)},
      {kTimestamps, encode_column(index.timestamps_ms_.values())},
      {kExpiries, encode_column(index.expiries_ms_.values())},
      {kImportances, encode_column(index.importances_.values())},
      {kSeqs, encode_column(index.seqs_.values())},
      {kTypes, encode_column(index.types_.values())},
      {kFlags, encode_column(index.flags_.values())},
      {kStretches, encode_column(index.stretches_.values())},
      {kTextLengths, encode_text_lengths(text_lengths)},
      {kTable, encode_slots(index.table_.slots())},
  };
  std::array<SectionContent, kSectionCount> sections;
  for (const auto& [section, column] : columns) {
    sections[section] = {column.bytes, column.rule.base, column.rule.step};
  }
  sections[kLineHashes] = {bytes_of(index.line_hashes_.values())};
  sections[kIdHashes] = {bytes_of(index.id_hashes_.values())};
  sections[kIds] = {ids.rests};
  sections[kTypeNames] = {type_names};
  sections[kFacets] = {facets};
  sections[kTextTerms] = {terms};
  return assemble_snapshot(header_of(index, ids.start), sections);
}

// What an index has of its rows: opened, to be read when they are asked for, or all at once.
class SnapshotReader {
 public:
  explicit SnapshotReader(Index* index) : index_(*index), file_(index->pending_.file) {}

  Status open() {
    VARVE_TRY_ASSIGN(Index rows, opened_rows());
    join(std::move(rows));
    return {};
  }

  // A pending index stays as it was where that fails.
  Status load() {
    if (!index_.pending_.rows) {
      VARVE_TRY(load_all(&index_));
    } else {
      VARVE_TRY_ASSIGN(Index rows, opened_rows());
      VARVE_TRY(load_all(&rows));
      join(std::move(rows));
    }
    index_.pending_.all_rows = false;
    index_.pending_.close_if_done();
    return {};
  }

 private:
  Result<Index> opened_rows() {
    Index rows({}, index_.hash_seed());
    VARVE_TRY(read_type_names(&rows));
    VARVE_TRY(for_each_column(&rows, Open{file_}));
    VARVE_TRY_ASSIGN(rows.ids_, RowIds::open(file_));
    rows.marks_.assign(row_count(), 0);
    VARVE_TRY_ASSIGN(auto slots, IdTable::Slots::open(file_, kTable, file_->slot_count(),
                                                      {0, static_cast<uint32_t>(row_count())}));
    if (!rows.table_.adopt(std::move(slots), static_cast<uint32_t>(row_count()))) {
      return wrong_snapshot("the id table does not fit the rows");
    }
    // Read in any case: each query asks what type a row is.
    VARVE_TRY(rows.types_.load());
    for (const uint32_t type : rows.types_.values()) rows.type_counts_[type] += 1;
    rows.in_time_order_ = file_->header().is_in_time_order != 0;
    return rows;
  }

  Status read_type_names(Index* rows) {
    std::string text(file_->length(kTypeNames), '\0');
    VARVE_TRY(file_->read(kTypeNames, 0, text));
    std::string_view names = text;
    while (!names.empty()) {
      const size_t end = names.find('\n');
      if (end == std::string_view::npos || !is_valid_type(names.substr(0, end))) {
        return wrong_snapshot("a type's name is not valid");
      }
      if (rows->find_type(names.substr(0, end))) return wrong_snapshot("a type has two numbers");
      rows->add_type(names.substr(0, end));
      names.remove_prefix(end + 1);
    }
    const bool has_types = !rows->type_names_.empty() || row_count() == 0;
    return has_types ? Status() : wrong_snapshot("a row has impossible values");
  }

  // Opens a column, or loads one that is open.
  struct Open {
    std::shared_ptr<SnapshotFile> file;
    template <typename T>
    Status operator()(SnapshotSection section, RowColumn<T>* column, uint64_t count,
                      const typename RowColumn<T>::Possible& possible = {}) const {
      VARVE_TRY_ASSIGN(*column, RowColumn<T>::open(file, section, count, possible));
      return {};
    }
  };
  struct Load {
    template <typename T>
    Status operator()(SnapshotSection, RowColumn<T>* column, uint64_t,
                      const typename RowColumn<T>::Possible& = {}) const {
      return column->load();
    }
  };

  // All columns but those of ids: one that is opened and never loaded would be saved as it comes.
  template <typename Step>
  Status for_each_column(Index* rows, const Step& step) const {
    const auto type_max = static_cast<uint32_t>(std::max<size_t>(rows->type_names_.size(), 1) - 1);
    VARVE_TRY(step(kOffsets, &rows->offsets_, row_count()));
    VARVE_TRY(step(kLengths, &rows->lengths_, row_count()));
    VARVE_TRY(step(kLineHashes, &rows->line_hashes_, row_count()));
    VARVE_TRY(step(kIdHashes, &rows->id_hashes_, row_count()));
    VARVE_TRY(step(kTimestamps, &rows->timestamps_ms_, row_count()));
    VARVE_TRY(step(kExpiries, &rows->expiries_ms_, row_count()));
    VARVE_TRY(step(kImportances, &rows->importances_, row_count(), {0, 1}));
    VARVE_TRY(step(kSeqs, &rows->seqs_, row_count()));
    VARVE_TRY(step(kTypes, &rows->types_, row_count(), {0, type_max}));
    VARVE_TRY(step(kFlags, &rows->flags_, row_count()));
    return step(kStretches, &rows->stretches_, row_count());
  }

  // All that is unread of them, and what shows only then. Rows that were added behind are right.
  Status load_all(Index* rows) {
    VARVE_TRY(for_each_column(rows, Load()));
    VARVE_TRY(rows->ids_.load());
    VARVE_TRY(rows->table_.load());
    if (file_->is_damaged()) return wrong_snapshot("rows were found damaged");
    VARVE_TRY(check_places(*rows));
    VARVE_TRY(check_times(*rows));
    return check_ids(*rows);
  }

  Status check_places(const Index& rows) const {
    const Coverage& coverage = file_->header().coverage;
    uint64_t line_end = 0;
    uint64_t last_seq = 0;
    for (uint32_t row = 0; row < row_count(); ++row) {
      const uint64_t offset = rows.offsets_[row];
      if (offset < line_end || !may_be_line(offset, rows.lengths_[row], coverage.entries_bytes)) {
        return wrong_snapshot("a row lies outside the covered log");
      }
      line_end = offset + rows.lengths_[row];
      last_seq = std::max(last_seq, rows.seqs_[row]);
    }
    if (last_seq != coverage.last_seq || last_seq > entry::kSeqMax) {
      return wrong_snapshot("the last sequence number belongs to no row");
    }
    return {};
  }

  // Queries by time rely on their order, and `best` on the stretches.
  Status check_times(const Index& rows) const {
    bool rises = true;
    for (uint32_t row = 0; row < row_count(); ++row) {
      const int64_t timestamp_ms = rows.timestamps_ms_[row];
      const uint32_t stretch = row == 0 ? 0 : rows.stretch_behind(row - 1, timestamp_ms);
      if (rows.stretches_[row] != stretch) return wrong_snapshot("a row has the wrong stretch");
      rises = rises && (row == 0 || timestamp_ms >= rows.timestamps_ms_[row - 1]);
    }
    return rises || file_->header().is_in_time_order == 0
               ? Status()
               : wrong_snapshot("the rows are not in order of time");
  }

  // A deletion must find its row.
  Status check_ids(Index& rows) const {
    if (!rows.ids_.are_places_right()) return wrong_snapshot("there are ids that belong to no row");
    for (uint32_t row = 0; row < row_count(); ++row) {
      if (rows.id_hashes_[row] != id_hash(rows.id(row))) {
        return wrong_snapshot("an id has the wrong hash");
      }
    }
    const auto have_same_id = [&](uint32_t row, uint32_t other) {
      return rows.ids_.is(row, rows.id(other));
    };
    if (!rows.table_.finds_all(rows.id_hashes_, have_same_id)) {
      return wrong_snapshot("the id table does not find the rows");
    }
    return {};
  }

  // The rows get what the index knew without them.
  void join(Index rows) {
    rows.coverage = index_.coverage;
    rows.last_tombstone = index_.last_tombstone;
    rows.damaged_tombstone_count = index_.damaged_tombstone_count;
    rows.last_missing_seq = index_.last_missing_seq;
    rows.tombstone_hashes_ = std::move(index_.tombstone_hashes_);
    rows.tombstone_ends_ = std::move(index_.tombstone_ends_);
    rows.tombstone_ids_ = std::move(index_.tombstone_ids_);
    rows.tombstone_table_ = std::move(index_.tombstone_table_);
    rows.text_settings_ = std::move(index_.text_settings_);
    rows.text_ = std::move(index_.text_);
    rows.pending_ = std::move(index_.pending_);
    rows.pending_.rows = false;
    for (uint32_t i = 0; i < rows.tombstone_count(); ++i) rows.hide(rows.tombstone_id(i));
    index_ = std::move(rows);
  }

  [[nodiscard]] uint64_t row_count() const { return file_->header().row_count; }

  Index& index_;
  std::shared_ptr<SnapshotFile> file_;
};

namespace {

// Words found with other settings are found anew.
void expect_text(const SnapshotHeader& header, TextIndex& text, bool* pending) {
  *pending = text.fingerprint() == header.text_fingerprint;
  if (*pending) text.start_at(static_cast<uint32_t>(header.text_row_count));
}

}  // namespace

Result<Index> open_snapshot(std::shared_ptr<SnapshotFile> file, const text::Settings& text_settings,
                            uint64_t hash_seed) {
  const SnapshotHeader& header = file->header();
  const Coverage& coverage = header.coverage;
  if (coverage.last_line_offset > coverage.entries_bytes ||
      coverage.last_line_length > coverage.entries_bytes - coverage.last_line_offset ||
      coverage.last_line_length > log::kLineBytesMax) {
    return wrong_snapshot("the last line lies outside the covered log");
  }
  Index index(text_settings, hash_seed);
  index.coverage = coverage;
  index.last_missing_seq = coverage.last_seq;
  index.coverage.tombstones_bytes = 0;  // deletions are not in it, whatever it says
  if (header.text_row_count > 0) {
    expect_text(header, index.text_to_extend(), &index.pending_.text);
  }
  index.pending_.rows = true;
  index.pending_.all_rows = true;
  index.pending_.facets = true;
  index.pending_.rest = true;
  index.pending_.file = std::move(file);
  return index;
}

Status open_rows(Index* index) { return SnapshotReader(index).open(); }

Status load_rows(Index* index) { return SnapshotReader(index).load(); }

Status load_facets(Index* index) {
  const auto& file = index->pending_.file;
  VARVE_TRY_ASSIGN(Segment segment, Segment::open(std::make_shared<SectionBytes>(file, kFacets)));
  index->facets_.set_frozen(std::move(segment), static_cast<uint32_t>(file->header().row_count));
  index->pending_.facets = false;
  index->pending_.close_if_done();
  return {};
}

namespace {

// All at once, into their place: the first query by words waits for them.
Result<std::vector<uint32_t>> read_text_lengths(SnapshotFile& file) {
  const uint64_t count = file.header().text_row_count;
  VARVE_TRY_ASSIGN(const size_t width, column_width(file, kTextLengths, count, sizeof(uint32_t)));
  std::vector<uint32_t> lengths(count);
  const std::span room(reinterpret_cast<char*>(lengths.data()), count * sizeof(uint32_t));
  VARVE_TRY(file.read(kTextLengths, 0, room.last(count * width)));
  widen_column<uint32_t>(width, room.data(), count, 0, rule_of(file, kTextLengths));
  for (uint32_t& length : lengths) length = std::rotr(length, 1);
  return lengths;
}

}  // namespace

Status load_text(Index* index) {
  const auto& file = index->pending_.file;
  VARVE_TRY_ASSIGN(std::vector<uint32_t> lengths, read_text_lengths(*file));
  VARVE_TRY_ASSIGN(Segment segment,
                   Segment::open(std::make_shared<SectionBytes>(file, kTextTerms)));
  index->text_->set_frozen(std::move(segment), std::move(lengths));
  index->pending_.text = false;
  index->pending_.close_if_done();
  return {};
}

}  // namespace varve::index
