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
  kSectionCount
};

struct SectionPlace {
  uint64_t offset;
  uint64_t length;
  uint64_t hash;
};

struct Header {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t section_count;
  uint64_t row_count;
  Coverage coverage;
  std::array<SectionPlace, kSectionCount> sections;
  uint64_t hash;  // of everything before it
};
static_assert(std::is_trivially_copyable_v<Header>);
static_assert(sizeof(Header) == 8 + 4 + 4 + 8 + 8 * 8 + kSectionCount * 24 + 8, "no padding");

constexpr size_t kHashedHeaderBytes = sizeof(Header) - sizeof(uint64_t);

uint64_t header_hash(const Header& header) {
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
  const std::array<std::string_view, kSectionCount> parts = {
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
  };
  Header header{};
  std::memcpy(header.magic.data(), kMagic.data(), kMagic.size());
  header.version = kSnapshotVersion;
  header.section_count = kSectionCount;
  header.row_count = index.size();
  header.coverage = index.coverage;
  header.coverage.tombstones_bytes = 0;
  uint64_t offset = sizeof(Header);
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

class SnapshotReader {
 public:
  explicit SnapshotReader(std::string_view bytes) : bytes_(bytes) {}

  Result<Index> read() {
    VARVE_TRY(read_header());
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
    return std::move(index_);
  }

 private:
  Status read_header() {
    if (bytes_.size() < sizeof(Header)) return wrong("shorter than its header");
    std::memcpy(&header_, bytes_.data(), sizeof(Header));
    if (std::string_view(header_.magic.data(), header_.magic.size()) != kMagic) {
      return wrong("not an index");
    }
    if (header_.version != kSnapshotVersion) return wrong("of another version");
    if (header_.section_count != kSectionCount || header_.hash != header_hash(header_)) {
      return wrong("the header is damaged");
    }
    uint64_t offset = sizeof(Header);
    for (const auto& section : header_.sections) {
      if (section.offset != offset || section.length > bytes_.size() - offset) {
        return wrong("a section lies outside the file");
      }
      offset += section.length;
    }
    if (offset != bytes_.size()) return wrong("longer than its sections");
    if (header_.row_count > UINT32_MAX - 1) return wrong("more rows than there can be");
    return {};
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
  Header header_{};
  Index index_;
};

Result<Index> decode_snapshot(std::string_view bytes) { return SnapshotReader(bytes).read(); }

}  // namespace varve::index
