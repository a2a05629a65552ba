#include "index/snapshot_file.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/hash.h"

namespace varve::index {

static_assert(std::endian::native == std::endian::little,
              "index.bin is written as it lies in memory; a big-endian port must swap here");
static_assert(std::is_trivially_copyable_v<SnapshotHeader>);
static_assert(sizeof(SnapshotHeader) ==
                  8 + 4 + 4 + 3 * 8 + 8 * 8 + 8 + 8 + kIdBytesMax + kSectionCount * 40 + 8,
              "no padding");
static_assert(sizeof(SnapshotHeader) == kSnapshotHeaderBytes);

namespace {

constexpr uint64_t kFileBytesMax = uint64_t{8} << 30;
constexpr std::string_view kMagic = "VARVEIDX";
constexpr size_t kHashedHeaderBytes = sizeof(SnapshotHeader) - sizeof(uint64_t);

std::string_view bytes_of(std::span<const uint64_t> hashes) {
  return {reinterpret_cast<const char*>(hashes.data()), hashes.size_bytes()};
}

std::string_view text_of(std::span<const char> bytes) { return {bytes.data(), bytes.size()}; }

uint64_t hash_of(const SnapshotHeader& header) {
  return hash64({reinterpret_cast<const char*>(&header), kHashedHeaderBytes});
}

uint64_t block_count(uint64_t length) {
  return length / kSnapshotBlockBytes + (length % kSnapshotBlockBytes != 0 ? 1 : 0);
}

}  // namespace

Status wrong_snapshot(std::string_view what) {
  return {Code::kCorruption, "index.bin: " + std::string(what)};
}

std::string assemble_snapshot(SnapshotHeader header,
                              const std::array<SectionContent, kSectionCount>& sections) {
  std::memcpy(header.magic.data(), kMagic.data(), kMagic.size());
  header.version = kSnapshotVersion;
  header.section_count = kSectionCount;
  uint64_t offset = sizeof(SnapshotHeader);
  std::vector<uint64_t> hashes;
  for (size_t i = 0; i < kSectionCount; ++i) {
    const std::string_view bytes = sections[i].bytes;
    const size_t first = hashes.size();
    for (uint64_t at = 0; at < bytes.size(); at += kSnapshotBlockBytes) {
      hashes.push_back(hash64(bytes.substr(at, kSnapshotBlockBytes)));
    }
    const auto own = std::span(std::as_const(hashes)).subspan(first);
    header.sections[i] = {offset, bytes.size(), hash64(bytes_of(own)), sections[i].base,
                          sections[i].step};
    offset += bytes.size();
  }
  header.hash = hash_of(header);
  std::string out;
  out.reserve(offset + hashes.size() * sizeof(uint64_t));
  out.append(reinterpret_cast<const char*>(&header), sizeof(header));
  for (const auto& section : sections) out.append(section.bytes);
  out.append(bytes_of(hashes));
  return out;
}

Result<std::shared_ptr<SnapshotFile>> SnapshotFile::open(std::unique_ptr<log::DocumentView> view) {
  std::shared_ptr<SnapshotFile> file(new SnapshotFile(std::move(view)));
  VARVE_TRY(file->read_header());
  return file;
}

// Checks everything about the header but that the sections are what it says.
Status SnapshotFile::read_header() {
  const uint64_t file_bytes = size_bytes();
  if (file_bytes > kFileBytesMax) return wrong_snapshot("larger than any index");
  if (file_bytes < sizeof(SnapshotHeader)) return wrong_snapshot("shorter than its header");
  VARVE_TRY(read_exactly(0, std::span(reinterpret_cast<char*>(&header_), sizeof(header_))));
  if (text_of(header_.magic) != kMagic) return wrong_snapshot("not an index");
  if (header_.version != kSnapshotVersion) return wrong_snapshot("of another version");
  if (header_.section_count != kSectionCount || header_.hash != hash_of(header_)) {
    return wrong_snapshot("the header is damaged");
  }
  VARVE_TRY(find_hashes());
  return check_figures();
}

// Where the hashes of each section lie: behind all sections, which lie one behind the other, and up
// to the file's end.
Status SnapshotFile::find_hashes() {
  const uint64_t file_bytes = size_bytes();
  uint64_t offset = sizeof(SnapshotHeader);
  for (const auto& section : header_.sections) {
    if (section.offset != offset || section.length > file_bytes - offset) {
      return wrong_snapshot("a section lies outside the file");
    }
    offset += section.length;
  }
  for (size_t i = 0; i < kSectionCount; ++i) {
    hashes_at_[i] = offset;
    const uint64_t bytes = block_count(header_.sections[i].length) * sizeof(uint64_t);
    if (bytes > file_bytes - offset) return wrong_snapshot("shorter than its hashes");
    offset += bytes;
  }
  return offset == file_bytes ? Status() : wrong_snapshot("longer than its sections");
}

// Whether the header's figures can be, and the sections have as many values as it says there are
// rows.
Status SnapshotFile::check_figures() const {
  for (const SnapshotSection section :
       {kLineHashes, kIdHashes, kIds, kTypeNames, kTable, kFacets, kTextTerms}) {
    const SectionPlace& place = header_.sections[section];
    if (place.base != 0 || place.step != 0)
      return wrong_snapshot("a section that is not a column has a base or a step");
  }
  if (header_.id_start_length > kIdBytesMax)
    return wrong_snapshot("the common start of the ids is longer than an id may be");
  if (header_.row_count > UINT32_MAX - 1) return wrong_snapshot("more rows than there can be");
  // Else a few bytes could stand for any number of rows.
  if (length(kLineHashes) != header_.row_count * sizeof(uint64_t) ||
      length(kIdHashes) != header_.row_count * sizeof(uint32_t)) {
    return wrong_snapshot("a row without a hash");
  }
  if (length(kTable) != slot_count() * slot_bytes()) {
    return wrong_snapshot("a section ends inside a value");
  }
  const uint64_t text_rows = header_.text_row_count;
  const uint64_t lengths_bytes = length(kTextLengths);
  if (text_rows > header_.row_count || lengths_bytes > text_rows * sizeof(uint32_t) ||
      (text_rows > 0 && lengths_bytes % text_rows != 0)) {
    return wrong_snapshot("the words belong to other rows than there are");
  }
  return {};
}

uint64_t SnapshotFile::slot_count() const {
  return header_.row_count == 0 ? 0 : length(kTable) / slot_bytes();
}

Status SnapshotFile::read_exactly(uint64_t offset, std::span<char> out) {
  VARVE_TRY_ASSIGN(const size_t got, view_->read(offset, out));
  return got == out.size() ? Status() : wrong_snapshot("shorter than it was");
}

Result<std::span<const uint64_t>> SnapshotFile::hashes_of(SnapshotSection section) {
  const std::lock_guard guard(mutex_);
  std::vector<uint64_t>& hashes = hashes_[section];
  const uint64_t count = block_count(length(section));
  if (hashes.size() != count) {
    std::vector<uint64_t> read(count);
    VARVE_TRY(read_exactly(hashes_at_[section], std::span(reinterpret_cast<char*>(read.data()),
                                                          count * sizeof(uint64_t))));
    if (hash64(bytes_of(read)) != header_.sections[section].hash) {
      return wrong_snapshot("a section is damaged");
    }
    hashes = std::move(read);
  }
  return std::span<const uint64_t>(hashes);
}

// Whole blocks, of which the last may be the section's short one.
Status SnapshotFile::read_blocks(SnapshotSection section, uint64_t first_block,
                                 std::span<char> out) {
  VARVE_TRY_ASSIGN(const auto hashes, hashes_of(section));
  const uint64_t start = first_block * kSnapshotBlockBytes;
  VARVE_TRY(read_exactly(header_.sections[section].offset + start, out));
  for (uint64_t at = 0; at < out.size(); at += kSnapshotBlockBytes) {
    const std::string_view block = text_of(out).substr(at, kSnapshotBlockBytes);
    if (hash64(block) != hashes[first_block + at / kSnapshotBlockBytes]) {
      return wrong_snapshot("a section is damaged");
    }
  }
  return {};
}

Status SnapshotFile::read(SnapshotSection section, uint64_t offset, std::span<char> out) {
  const uint64_t section_bytes = length(section);
  if (offset > section_bytes || out.size() > section_bytes - offset) {
    return wrong_snapshot("a section is too short");
  }
  std::array<char, kSnapshotBlockBytes> scratch;
  while (!out.empty()) {
    const uint64_t block = offset / kSnapshotBlockBytes;
    const uint64_t block_at = block * kSnapshotBlockBytes;
    const uint64_t block_bytes = std::min(kSnapshotBlockBytes, section_bytes - block_at);
    uint64_t taken = 0;
    if (offset == block_at && out.size() >= block_bytes) {
      // As many as are wanted in whole.
      const bool to_the_end = out.size() == section_bytes - offset;
      taken = to_the_end ? out.size() : out.size() / kSnapshotBlockBytes * kSnapshotBlockBytes;
      VARVE_TRY(read_blocks(section, block, out.first(taken)));
    } else {
      const std::span whole = std::span(scratch).first(block_bytes);
      VARVE_TRY(read_blocks(section, block, whole));
      taken = std::min<uint64_t>(out.size(), block_at + block_bytes - offset);
      std::memcpy(out.data(), whole.data() + (offset - block_at), taken);
    }
    out = out.subspan(taken);
    offset += taken;
  }
  return {};
}

}  // namespace varve::index
