#include "index/snapshot.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>

#include "base/hash.h"
#include "base/ids.h"

namespace varve::index {

static_assert(std::endian::native == std::endian::little,
              "index.bin is written as it lies in memory; a big-endian port must swap here");

namespace {

constexpr std::string_view kMagic = "VARVEIDX";

// In the file's order.
enum Section : uint32_t {
  kOffsets,
  kLengths,
  kLineHashes,
  kIdHashes,
  kIdEnds,
  kTimestamps,
  kExpiries,
  kImportances,
  kSeqs,
  kTypes,
  kFlags,
  kIds,
  kTypeNames,  // names one behind the other, each ended by '\n'
  kTable,
  kFacets,  // from here on read when a query asks
  kTextLengths,
  kTextTerms,
  kSectionCount
};

}  // namespace

struct SectionPlace {
  uint64_t offset;
  uint64_t length;
  uint64_t hash;
};

struct FileHeader {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t section_count;
  uint64_t row_count;
  uint64_t text_row_count;    // rows whose words are in it; 0: none
  uint64_t text_fingerprint;  // of the settings the words were found with
  Coverage coverage;
  std::array<SectionPlace, kSectionCount> sections;
  uint64_t hash;  // of everything before it
};

namespace {

static_assert(std::is_trivially_copyable_v<FileHeader>);
static_assert(sizeof(FileHeader) == 8 + 4 + 4 + 3 * 8 + 8 * 8 + kSectionCount * 24 + 8,
              "no padding");
static_assert(sizeof(FileHeader) == kSnapshotHeaderBytes);

constexpr size_t kHashedHeaderBytes = sizeof(FileHeader) - sizeof(uint64_t);

uint64_t header_hash(const FileHeader& header) {
  return hash64({reinterpret_cast<const char*>(&header), kHashedHeaderBytes});
}

template <typename T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

Status wrong(std::string_view what) {
  return {Code::kCorruption, "index.bin: " + std::string(what)};
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
  const auto parts = std::to_array<std::string_view>({
      bytes_of(std::span(index.offsets_)),
      bytes_of(std::span(index.lengths_)),
      bytes_of(std::span(index.line_hashes_)),
      bytes_of(std::span(index.id_hashes_)),
      bytes_of(std::span(index.id_ends_)),
      bytes_of(std::span(index.timestamps_ms_)),
      bytes_of(std::span(index.expiries_ms_)),
      bytes_of(std::span(index.importances_)),
      bytes_of(std::span(index.seqs_)),
      bytes_of(std::span(index.types_)),
      bytes_of(std::span(std::as_const(flags))),
      index.ids_,
      type_names,
      bytes_of(index.table_.slots()),
      facets,
      bytes_of(text_lengths),
      terms,
  });
  static_assert(parts.size() == kSectionCount);
  FileHeader header{};
  std::memcpy(header.magic.data(), kMagic.data(), kMagic.size());
  header.version = kSnapshotVersion;
  header.section_count = kSectionCount;
  header.row_count = index.size();
  if (has_text) {
    header.text_row_count = index.text_->row_count();
    header.text_fingerprint = index.text_->fingerprint();
  }
  header.coverage = index.coverage;
  header.coverage.tombstones_bytes = 0;
  uint64_t offset = sizeof(FileHeader);
  for (size_t i = 0; i < kSectionCount; ++i) {
    header.sections[i] = {offset, parts[i].size(), hash64(parts[i])};
    offset += parts[i].size();
  }
  header.hash = header_hash(header);
  std::string out;
  out.reserve(offset);
  out.append(reinterpret_cast<const char*>(&header), sizeof(header));
  for (const auto& part : parts) out.append(part);
  return out;
}

// Checks everything about a header but that the sections are what it says.
Result<FileHeader> read_header(std::string_view start, uint64_t file_bytes) {
  FileHeader header;
  if (start.size() < sizeof(FileHeader)) return wrong("shorter than its header");
  std::memcpy(&header, start.data(), sizeof(FileHeader));
  if (std::string_view(header.magic.data(), header.magic.size()) != kMagic) {
    return wrong("not an index");
  }
  if (header.version != kSnapshotVersion) return wrong("of another version");
  if (header.section_count != kSectionCount || header.hash != header_hash(header)) {
    return wrong("the header is damaged");
  }
  uint64_t offset = sizeof(FileHeader);
  for (const auto& section : header.sections) {
    if (section.offset != offset || section.length > file_bytes - offset) {
      return wrong("a section lies outside the file");
    }
    offset += section.length;
  }
  if (offset != file_bytes) return wrong("longer than its sections");
  if (header.row_count > UINT32_MAX - 1) return wrong("more rows than there can be");
  if (header.text_row_count > header.row_count ||
      header.sections[kTextLengths].length != header.text_row_count * sizeof(uint32_t)) {
    return wrong("words of other rows than there are");
  }
  return header;
}

Result<SnapshotHeader> SnapshotHeader::parse(std::string_view start, uint64_t file_bytes) {
  VARVE_TRY_ASSIGN(const FileHeader header, read_header(start, file_bytes));
  const auto range = [&](Section section) {
    const SectionPlace& place = header.sections[section];
    return Range{place.offset, place.length, place.hash};
  };
  SnapshotHeader parsed;
  parsed.hash_ = header.hash;
  parsed.facets_ = range(kFacets);
  parsed.text_lengths_ = range(kTextLengths);
  parsed.text_terms_ = range(kTextTerms);
  return parsed;
}

class SnapshotReader {
 public:
  // `bytes`: the file up to its facets, or all of it.
  SnapshotReader(std::string_view bytes, uint64_t file_bytes, const text::Settings& text_settings)
      : bytes_(bytes), file_bytes_(file_bytes), index_(text_settings) {}

  Result<Index> read() {
    VARVE_TRY_ASSIGN(header_, read_header(bytes_, file_bytes_));
    if (bytes_.size() < header_.sections[kFacets].offset) return wrong("shorter than its rows");
    VARVE_TRY(read_columns());
    VARVE_TRY(read_types());
    VARVE_TRY(check_rows());
    std::vector<uint32_t> slots;
    VARVE_TRY(read_section(kTable, &slots));
    if (!index_.table_.adopt(std::move(slots), static_cast<uint32_t>(header_.row_count))) {
      return wrong("the id table does not fit the rows");
    }
    VARVE_TRY(check_ids());
    index_.coverage = header_.coverage;
    index_.coverage.tombstones_bytes = 0;  // deletions are not in it, whatever it says
    index_.pending_ = {header_.hash, true, false};
    expect_text();
    return std::move(index_);
  }

 private:
  // Words found with other settings are found anew.
  void expect_text() {
    if (header_.text_row_count == 0) return;
    TextIndex& text = index_.text_to_extend();
    if (text.fingerprint() != header_.text_fingerprint) return;
    text.start_at(static_cast<uint32_t>(header_.text_row_count));
    index_.pending_.text = true;
  }

  Result<std::string_view> section_bytes(Section section) const {
    const SectionPlace& place = header_.sections[section];
    const std::string_view part = bytes_.substr(place.offset, place.length);
    if (hash64(part) != place.hash) return wrong("a section is damaged");
    return part;
  }

  template <typename T>
  Status read_section(Section section, std::vector<T>* column) const {
    VARVE_TRY_ASSIGN(const std::string_view part, section_bytes(section));
    if (part.size() % sizeof(T) != 0) return wrong("a section has half a value");
    column->resize(part.size() / sizeof(T));
    if (!part.empty()) std::memcpy(column->data(), part.data(), part.size());
    return {};
  }

  template <typename T>
  Status read_column(Section section, std::vector<T>* column) const {
    if (header_.sections[section].length != header_.row_count * sizeof(T)) {
      return wrong("a column has not one value a row");
    }
    return read_section(section, column);
  }

  Status read_columns() {
    VARVE_TRY(read_column(kOffsets, &index_.offsets_));
    VARVE_TRY(read_column(kLengths, &index_.lengths_));
    VARVE_TRY(read_column(kLineHashes, &index_.line_hashes_));
    VARVE_TRY(read_column(kIdHashes, &index_.id_hashes_));
    VARVE_TRY(read_column(kIdEnds, &index_.id_ends_));
    VARVE_TRY(read_column(kTimestamps, &index_.timestamps_ms_));
    VARVE_TRY(read_column(kExpiries, &index_.expiries_ms_));
    VARVE_TRY(read_column(kImportances, &index_.importances_));
    VARVE_TRY(read_column(kSeqs, &index_.seqs_));
    VARVE_TRY(read_column(kTypes, &index_.types_));
    VARVE_TRY(read_column(kFlags, &index_.flags_));
    VARVE_TRY_ASSIGN(const std::string_view ids, section_bytes(kIds));
    index_.ids_ = ids;
    return {};
  }

  Status read_types() {
    VARVE_TRY_ASSIGN(std::string_view names, section_bytes(kTypeNames));
    while (!names.empty()) {
      const size_t end = names.find('\n');
      if (end == std::string_view::npos || !is_valid_type(names.substr(0, end))) {
        return wrong("a type has no right name");
      }
      index_.type_names_.emplace_back(names.substr(0, end));
      names.remove_prefix(end + 1);
    }
    index_.type_counts_.assign(index_.type_names_.size(), 0);
    return {};
  }

  Status check_rows() {
    const Coverage& coverage = header_.coverage;
    uint64_t line_end = 0;
    uint64_t id_end = 0;
    uint64_t last_seq = 0;
    for (uint32_t row = 0; row < header_.row_count; ++row) {
      const uint64_t offset = index_.offsets_[row];
      if (offset < line_end || offset > coverage.entries_bytes ||
          index_.lengths_[row] >= coverage.entries_bytes - offset) {
        return wrong("a row lies outside the covered log");
      }
      line_end = offset + index_.lengths_[row];
      if (index_.id_ends_[row] < id_end || index_.id_ends_[row] > index_.ids_.size() ||
          index_.types_[row] >= index_.type_names_.size() ||
          !(index_.importances_[row] >= 0 && index_.importances_[row] <= 1)) {
        return wrong("a row has impossible values");
      }
      id_end = index_.id_ends_[row];
      last_seq = std::max(last_seq, index_.seqs_[row]);
      index_.flags_[row] &= Index::kSealed;
      index_.type_counts_[index_.types_[row]] += 1;
    }
    if (id_end != index_.ids_.size()) return wrong("there are ids of no row");
    if (last_seq != coverage.last_seq || last_seq > entry::kSeqMax) {
      return wrong("the last sequence number is of no row");
    }
    if (coverage.last_line_offset > coverage.entries_bytes ||
        coverage.last_line_length > coverage.entries_bytes - coverage.last_line_offset) {
      return wrong("the last line lies outside the covered log");
    }
    return {};
  }

  // A deletion must find its row.
  Status check_ids() const {
    for (uint32_t row = 0; row < index_.size(); ++row) {
      if (index_.id_hashes_[row] != hash64(index_.id(row))) {
        return wrong("an id has another hash");
      }
    }
    if (!index_.table_.finds_all(index_.id_hashes_)) {
      return wrong("the id table does not find the rows");
    }
    return {};
  }

  std::string_view bytes_;
  uint64_t file_bytes_;
  FileHeader header_{};
  Index index_;
};

Result<Index> decode_rows(std::string_view start, uint64_t file_bytes,
                          const text::Settings& text_settings) {
  return SnapshotReader(start, file_bytes, text_settings).read();
}

Status load_facets(const SnapshotHeader& header, std::string facets, Index* index) {
  if (hash64(facets) != header.facets().hash) return wrong("a section is damaged");
  VARVE_TRY_ASSIGN(Segment segment, Segment::open(std::move(facets)));
  index->facets_.set_frozen(std::move(segment));
  index->pending_.facets = false;
  return {};
}

Status load_text(const SnapshotHeader& header, std::string_view lengths, std::string terms,
                 Index* index) {
  if (hash64(lengths) != header.text_lengths().hash || hash64(terms) != header.text_terms().hash) {
    return wrong("a section is damaged");
  }
  std::vector<uint32_t> column(lengths.size() / sizeof(uint32_t));
  if (!column.empty()) std::memcpy(column.data(), lengths.data(), lengths.size());
  VARVE_TRY_ASSIGN(Segment segment, Segment::open(std::move(terms)));
  index->text_->set_frozen(std::move(segment), std::move(column));
  index->pending_.text = false;
  return {};
}

Result<Index> decode_snapshot(std::string_view bytes, const text::Settings& text_settings) {
  VARVE_TRY_ASSIGN(const SnapshotHeader header, SnapshotHeader::parse(bytes, bytes.size()));
  VARVE_TRY_ASSIGN(Index index, decode_rows(bytes, bytes.size(), text_settings));
  const auto part = [&](const SnapshotHeader::Range& range) {
    return std::string(bytes.substr(range.offset, range.length));
  };
  VARVE_TRY(load_facets(header, part(header.facets()), &index));
  if (index.pending().text) {
    VARVE_TRY(load_text(header, part(header.text_lengths()), part(header.text_terms()), &index));
  }
  return index;
}

}  // namespace varve::index
