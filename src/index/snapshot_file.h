// SnapshotFile: an open index.bin, of which any part can be read, each checked before it is given.
//
//   header    magic, version, counts, coverage, section directory, XXH3-64 of all that
//   sections  one per column, then facets and words, one behind the other
//   hashes    of each section in turn: the XXH3-64 of every kSnapshotBlockBytes of it
//
// The directory has for each section where it is, and the XXH3-64 of its hashes: so a part of a
// section can be checked without the rest of it, and opening costs the header alone.
//
// Every integer is checked before it is used: a hostile file costs a rebuild, never memory beyond
// six times its own size, or a crash.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "index/coverage.h"
#include "log/storage.h"

namespace varve::index {

inline constexpr std::string_view kSnapshotFile = "index.bin";
inline constexpr uint32_t kSnapshotVersion = 8;
inline constexpr size_t kSnapshotHeaderBytes = 976;
inline constexpr uint64_t kSnapshotBlockBytes = 8192;
inline constexpr size_t kIdBytesMax = kIdCharsMax;  // all are ASCII

// In the file's order.
enum SnapshotSection : uint32_t {
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
  kStretches,
  kIds,        // without what all start with
  kTypeNames,  // names one behind the other, each ended by '\n'
  kTable,
  kFacets,
  kTextLengths,
  kTextTerms,
  kSectionCount
};

// [bytes] that a number needs; none for 0.
[[nodiscard]] inline size_t bytes_for(uint64_t number) {
  return (static_cast<size_t>(std::bit_width(number)) + 7) / 8;
}

struct SectionPlace {
  uint64_t offset = 0;
  uint64_t length = 0;
  uint64_t hash = 0;  // of the hashes of its blocks
  uint64_t base = 0;  // of a column, as the next
  uint64_t step = 0;
};

// What is written of a section.
struct SectionContent {
  std::string_view bytes;
  uint64_t base = 0;
  uint64_t step = 0;
};

struct SnapshotHeader {
  std::array<char, 8> magic{};
  uint32_t version = 0;
  uint32_t section_count = 0;
  uint64_t row_count = 0;
  uint64_t text_row_count = 0;    // rows whose words are in it; 0: none
  uint64_t text_fingerprint = 0;  // of the settings the words were found with
  Coverage coverage;
  uint64_t is_in_time_order = 0;  // 1: no row is older than the one before it
  uint64_t id_start_length = 0;
  std::array<char, kIdBytesMax> id_start{};  // what all ids start with, and zeros
  std::array<SectionPlace, kSectionCount> sections;
  uint64_t hash = 0;  // of everything before it

  [[nodiscard]] std::string_view start_of_ids() const { return {id_start.data(), id_start_length}; }
};

// The file of these sections; `header` comes with its counts and its coverage.
std::string assemble_snapshot(SnapshotHeader header,
                              const std::array<SectionContent, kSectionCount>& sections);

// What is wrong with index.bin.
Status wrong_snapshot(std::string_view what);

// Any thread.
class SnapshotFile {
 public:
  // kCorruption with the reason when it is no index.bin of this version.
  static Result<std::shared_ptr<SnapshotFile>> open(std::unique_ptr<log::DocumentView> view);

  [[nodiscard]] const SnapshotHeader& header() const { return header_; }
  [[nodiscard]] uint64_t size_bytes() const { return view_->size_bytes(); }
  [[nodiscard]] uint64_t length(SnapshotSection section) const {
    return header_.sections[section].length;
  }

  // [bytes] of a slot of kTable: as many as the largest of them needs.
  [[nodiscard]] size_t slot_bytes() const { return bytes_for(header_.row_count); }
  [[nodiscard]] uint64_t slot_count() const;

  // Fills `out` from `offset` in the section. kCorruption when it does not reach so far, or is not
  // what its hashes say.
  Status read(SnapshotSection section, uint64_t offset, std::span<char> out);

  // What was read of rows was wrong: what was made of it may be.
  [[nodiscard]] bool is_damaged() const { return is_damaged_.load(std::memory_order_relaxed); }
  void set_damaged() { is_damaged_.store(true, std::memory_order_relaxed); }

 private:
  explicit SnapshotFile(std::unique_ptr<log::DocumentView> view) : view_(std::move(view)) {}
  Status read_header();
  Status find_hashes();
  [[nodiscard]] Status check_figures() const;
  Status read_exactly(uint64_t offset, std::span<char> out);
  Result<std::span<const uint64_t>> hashes_of(SnapshotSection section);
  Status read_blocks(SnapshotSection section, uint64_t first_block, std::span<char> out);

  std::unique_ptr<log::DocumentView> view_;
  SnapshotHeader header_;
  std::array<uint64_t, kSectionCount> hashes_at_{};  // offsets in the file
  std::mutex mutex_;                                 // guards the hashes while they are read
  std::array<std::vector<uint64_t>, kSectionCount> hashes_;
  std::atomic<bool> is_damaged_{false};
};

}  // namespace varve::index
