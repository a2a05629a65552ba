#include "index/snapshot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <utility>

#include "base/hash.h"
#include "base/ids.h"
#include "index/column.h"

namespace varve::index {

namespace {

template <typename T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::span<char> room_of(std::vector<uint32_t>& values) {
  return {reinterpret_cast<char*>(values.data()), values.size() * sizeof(uint32_t)};
}

}  // namespace

std::string encode_snapshot(const Index& index) {
  std::string type_names;
  for (const auto& name : index.type_names_) type_names += name + "\n";
  std::vector<uint8_t> flags = index.flags_;
  for (auto& flag : flags) flag &= Index::kSealed;  // the rest is found out anew
  const std::string facets = index.facets_.encode();
  const bool has_text = index.has_text();
  const std::string terms = has_text ? index.text_->encode_terms() : std::string();
  const std::span<const uint32_t> text_lengths =
      has_text ? std::span(index.text_->lengths()) : std::span<const uint32_t>();
  SnapshotHeader header;
  header.row_count = index.size();
  if (has_text) {
    header.text_row_count = index.text_->row_count();
    header.text_fingerprint = index.text_->fingerprint();
  }
  header.coverage = index.coverage;
  header.coverage.tombstones_bytes = 0;
  const std::pair<SnapshotSection, EncodedColumn> columns[] = {
      {kOffsets, encode_column(std::span(index.offsets_))},
      {kLengths, encode_column(std::span(index.lengths_))},
      {kIdEnds, encode_column(std::span(index.id_ends_))},
      {kTimestamps, encode_column(std::span(index.timestamps_ms_))},
      {kExpiries, encode_column(std::span(index.expiries_ms_))},
      {kImportances, encode_column(std::span(index.importances_))},
      {kSeqs, encode_column(std::span(index.seqs_))},
      {kTypes, encode_column(std::span(index.types_))},
      {kFlags, encode_column(std::span(std::as_const(flags)))},
  };
  std::array<SectionContent, kSectionCount> sections;
  for (const auto& [section, column] : columns) sections[section] = {column.bytes, column.base};
  sections[kLineHashes] = {bytes_of(std::span(index.line_hashes_))};
  sections[kIdHashes] = {bytes_of(std::span(index.id_hashes_))};
  sections[kIds] = {index.ids_};
  sections[kTypeNames] = {type_names};
  sections[kTable] = {bytes_of(index.table_.slots())};
  sections[kFacets] = {facets};
  sections[kTextLengths] = {bytes_of(text_lengths)};
  sections[kTextTerms] = {terms};
  return assemble_snapshot(header, sections);
}

class SnapshotReader {
 public:
  explicit SnapshotReader(Index* index) : pending_(*index), file_(*index->pending_.file) {}

  Status read() {
    VARVE_TRY(read_columns());
    VARVE_TRY(read_types());
    VARVE_TRY(check_rows());
    std::vector<uint32_t> slots(file_.length(kTable) / sizeof(uint32_t));
    if (file_.length(kTable) % sizeof(uint32_t) != 0) {
      return wrong_snapshot("a section has half a value");
    }
    VARVE_TRY(file_.read(kTable, 0, room_of(slots)));
    if (!rows_.table_.adopt(std::move(slots), rows_.size())) {
      return wrong_snapshot("the id table does not fit the rows");
    }
    VARVE_TRY(check_ids());
    join();
    return {};
  }

 private:
  Status read_text(SnapshotSection section, std::string* text) {
    text->resize(file_.length(section));
    return file_.read(section, 0, *text);
  }

  Status read_columns() {
    VARVE_TRY(read_column(file_, kOffsets, &rows_.offsets_));
    VARVE_TRY(read_column(file_, kLengths, &rows_.lengths_));
    VARVE_TRY(read_column(file_, kLineHashes, &rows_.line_hashes_));
    VARVE_TRY(read_column(file_, kIdHashes, &rows_.id_hashes_));
    VARVE_TRY(read_column(file_, kIdEnds, &rows_.id_ends_));
    VARVE_TRY(read_column(file_, kTimestamps, &rows_.timestamps_ms_));
    VARVE_TRY(read_column(file_, kExpiries, &rows_.expiries_ms_));
    VARVE_TRY(read_column(file_, kImportances, &rows_.importances_));
    VARVE_TRY(read_column(file_, kSeqs, &rows_.seqs_));
    VARVE_TRY(read_column(file_, kTypes, &rows_.types_));
    VARVE_TRY(read_column(file_, kFlags, &rows_.flags_));
    return read_text(kIds, &rows_.ids_);
  }

  Status read_types() {
    std::string text;
    VARVE_TRY(read_text(kTypeNames, &text));
    std::string_view names = text;
    while (!names.empty()) {
      const size_t end = names.find('\n');
      if (end == std::string_view::npos || !is_valid_type(names.substr(0, end))) {
        return wrong_snapshot("a type has no right name");
      }
      rows_.type_names_.emplace_back(names.substr(0, end));
      names.remove_prefix(end + 1);
    }
    rows_.type_counts_.assign(rows_.type_names_.size(), 0);
    return {};
  }

  Status check_rows() {
    const Coverage& coverage = file_.header().coverage;
    uint64_t line_end = 0;
    uint64_t id_end = 0;
    uint64_t last_seq = 0;
    for (uint32_t row = 0; row < rows_.size(); ++row) {
      const uint64_t offset = rows_.offsets_[row];
      if (offset < line_end || offset > coverage.entries_bytes ||
          rows_.lengths_[row] >= coverage.entries_bytes - offset) {
        return wrong_snapshot("a row lies outside the covered log");
      }
      line_end = offset + rows_.lengths_[row];
      if (rows_.id_ends_[row] < id_end || rows_.id_ends_[row] > rows_.ids_.size() ||
          rows_.types_[row] >= rows_.type_names_.size() ||
          !(rows_.importances_[row] >= 0 && rows_.importances_[row] <= 1)) {
        return wrong_snapshot("a row has impossible values");
      }
      id_end = rows_.id_ends_[row];
      last_seq = std::max(last_seq, rows_.seqs_[row]);
      rows_.flags_[row] &= Index::kSealed;
      rows_.type_counts_[rows_.types_[row]] += 1;
    }
    if (id_end != rows_.ids_.size()) return wrong_snapshot("there are ids of no row");
    if (last_seq != coverage.last_seq || last_seq > entry::kSeqMax) {
      return wrong_snapshot("the last sequence number is of no row");
    }
    return {};
  }

  // A deletion must find its row.
  Status check_ids() const {
    for (uint32_t row = 0; row < rows_.size(); ++row) {
      if (rows_.id_hashes_[row] != hash64(rows_.id(row))) {
        return wrong_snapshot("an id has another hash");
      }
    }
    if (!rows_.table_.finds_all(rows_.id_hashes_)) {
      return wrong_snapshot("the id table does not find the rows");
    }
    return {};
  }

  // The rows get what the index knew without them.
  void join() {
    rows_.coverage = pending_.coverage;
    rows_.tombstone_hashes_ = std::move(pending_.tombstone_hashes_);
    rows_.tombstone_ends_ = std::move(pending_.tombstone_ends_);
    rows_.tombstone_ids_ = std::move(pending_.tombstone_ids_);
    rows_.tombstone_table_ = std::move(pending_.tombstone_table_);
    rows_.text_settings_ = std::move(pending_.text_settings_);
    rows_.text_ = std::move(pending_.text_);
    rows_.pending_ = std::move(pending_.pending_);
    rows_.pending_.rows = false;
    rows_.pending_.close_if_done();
    for (uint32_t i = 0; i < rows_.tombstone_hashes_.size(); ++i) {
      rows_.hide(rows_.tombstone_id(i));
    }
    pending_ = std::move(rows_);
  }

  Index& pending_;
  SnapshotFile& file_;
  Index rows_;
};

namespace {

// Words found with other settings are found anew.
void expect_text(const SnapshotHeader& header, TextIndex& text, bool* pending) {
  *pending = text.fingerprint() == header.text_fingerprint;
  if (*pending) text.start_at(static_cast<uint32_t>(header.text_row_count));
}

// A text as a document.
class WholeText final : public log::DocumentView {
 public:
  explicit WholeText(std::string_view text) : text_(text) {}
  [[nodiscard]] uint64_t size_bytes() const override { return text_.size(); }
  Result<size_t> read(uint64_t offset, std::span<char> out) override {
    return offset > text_.size() ? 0 : text_.copy(out.data(), out.size(), offset);
  }
  [[nodiscard]] uint64_t identity() const override { return 0; }

 private:
  std::string_view text_;
};

}  // namespace

Result<Index> open_snapshot(std::shared_ptr<SnapshotFile> file,
                            const text::Settings& text_settings) {
  const SnapshotHeader& header = file->header();
  const Coverage& coverage = header.coverage;
  if (coverage.last_line_offset > coverage.entries_bytes ||
      coverage.last_line_length > coverage.entries_bytes - coverage.last_line_offset) {
    return wrong_snapshot("the last line lies outside the covered log");
  }
  Index index(text_settings);
  index.coverage = coverage;
  index.coverage.tombstones_bytes = 0;  // deletions are not in it, whatever it says
  if (header.text_row_count > 0) {
    expect_text(header, index.text_to_extend(), &index.pending_.text);
  }
  index.pending_.rows = true;
  index.pending_.facets = true;
  index.pending_.rest = true;
  index.pending_.file = std::move(file);
  return index;
}

Status load_rows(Index* index) { return SnapshotReader(index).read(); }

Status load_facets(Index* index) {
  const auto& file = index->pending_.file;
  VARVE_TRY_ASSIGN(Segment segment, Segment::open(std::make_shared<SectionBytes>(file, kFacets)));
  index->facets_.set_frozen(std::move(segment));
  index->pending_.facets = false;
  index->pending_.close_if_done();
  return {};
}

Status load_text(Index* index) {
  const auto& file = index->pending_.file;
  std::vector<uint32_t> lengths(file->length(kTextLengths) / sizeof(uint32_t));
  VARVE_TRY(file->read(kTextLengths, 0, room_of(lengths)));
  VARVE_TRY_ASSIGN(Segment segment,
                   Segment::open(std::make_shared<SectionBytes>(file, kTextTerms)));
  index->text_->set_frozen(std::move(segment), std::move(lengths));
  index->pending_.text = false;
  index->pending_.close_if_done();
  return {};
}

Result<Index> decode_snapshot(std::string_view bytes, const text::Settings& text_settings) {
  VARVE_TRY_ASSIGN(auto file, SnapshotFile::open(std::make_unique<WholeText>(bytes)));
  VARVE_TRY_ASSIGN(Index index, open_snapshot(std::move(file), text_settings));
  VARVE_TRY(load_rows(&index));
  VARVE_TRY(load_facets(&index));
  if (index.pending().text) VARVE_TRY(load_text(&index));
  VARVE_TRY(index.load_whole());
  return index;
}

}  // namespace varve::index
