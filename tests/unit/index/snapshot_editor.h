// Takes an index.bin apart and puts it together again with right hashes: for files that are wrong
// in all but their hashes, as somebody who means harm would write them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "index/snapshot_file.h"

namespace varve::index {

class SnapshotEditor {
 public:
  // docs/format.md#index.bin
  using Section = SnapshotSection;
  using enum SnapshotSection;
  enum Word : size_t {  // [8-byte words] in the header
    kRowCount = 2,
    kTextRowCount = 3,
    kTextFingerprint = 4,
    kEntriesBytes = 5,
    kTombstonesBytes = 6,
    kLastLineOffset = 7,
    kLastLineLength = 8,
    kLastLineHash = 9,
    kLastSeq = 10,
    kSkipped = 11,
    kMissing = 12,
    kInTimeOrder = 13,
    kIdStartLength = 14,
    kIdStart = 15,
    kDirectory = kIdStart + kIdBytesMax / 8,
  };
  static constexpr size_t kPlaceWords = 5;  // of a section: offset, length, hash, base, step
  static constexpr size_t kHeaderBytes = (kDirectory + kSectionCount * kPlaceWords + 1) * 8;
  static constexpr size_t place_of(size_t section) { return kDirectory + section * kPlaceWords; }

  explicit SnapshotEditor(std::string_view bytes) : header(bytes.substr(0, kHeaderBytes)) {
    for (size_t i = 0; i < kSectionCount; ++i) {
      sections.emplace_back(bytes.substr(word(place_of(i)), word(place_of(i) + 1)));
    }
  }

  [[nodiscard]] uint64_t word(size_t number) const {
    uint64_t value = 0;
    std::memcpy(&value, header.data() + number * 8, 8);
    return value;
  }
  void set_word(size_t number, uint64_t value) {
    std::memcpy(header.data() + number * 8, &value, 8);
  }

  template <typename T>
  [[nodiscard]] T get(Section section, size_t row) const {
    if (section == SnapshotSection::kTable) return static_cast<T>(slot(row));
    uint64_t written = 0;
    const size_t width = width_of(section, sizeof(T));
    std::memcpy(&written, sections[section].data() + row * width, width);
    const uint64_t step = word(place_of(section) + 4);
    written += word(place_of(section) + 3);
    if (section != SnapshotSection::kImportances) {
      written += step * row;
    } else if (step != 0) {
      written = std::bit_cast<uint64_t>(static_cast<double>(written) / static_cast<double>(step));
    }
    T value{};
    std::memcpy(&value, &written, sizeof(T));
    return value;
  }
  // Writes a column as in memory: with sizeof(T) bytes a row, no base and no step.
  template <typename T>
  void widen(Section section) {
    std::string& bytes = sections[section];
    if (!is_column(section) || bytes.size() == word(kRowCount) * sizeof(T)) return;
    std::vector<T> values;
    for (size_t row = 0; row < word(kRowCount); ++row) values.push_back(get<T>(section, row));
    bytes.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    set_word(place_of(section) + 3, 0);
    set_word(place_of(section) + 4, 0);
  }
  // Widens the column.
  template <typename T>
  void set(Section section, size_t row, T value) {
    if (section == SnapshotSection::kTable) return set_slot(row, static_cast<uint32_t>(value));
    widen<T>(section);
    std::memcpy(sections[section].data() + row * sizeof(T), &value, sizeof(T));
  }

  // What all ids start with.
  [[nodiscard]] std::string id_start() const {
    return header.substr(kIdStart * 8, std::min<uint64_t>(word(kIdStartLength), kIdBytesMax));
  }
  // [bytes] of a slot of the table.
  [[nodiscard]] size_t slot_bytes() const { return bytes_for(word(kRowCount)); }
  [[nodiscard]] size_t slot_count() const {
    return word(kRowCount) == 0 ? 0 : sections[SnapshotSection::kTable].size() / slot_bytes();
  }
  [[nodiscard]] uint32_t slot(size_t number) const {
    uint32_t value = 0;
    std::memcpy(&value, sections[SnapshotSection::kTable].data() + number * slot_bytes(),
                slot_bytes());
    return value;
  }
  // As many of the value's bytes as a slot has.
  void set_slot(size_t number, uint32_t value) {
    std::memcpy(sections[SnapshotSection::kTable].data() + number * slot_bytes(), &value,
                slot_bytes());
  }

  // The file with its directory and all its hashes right.
  [[nodiscard]] std::string assembled() {
    uint64_t offset = kHeaderBytes;
    for (size_t i = 0; i < kSectionCount; ++i) {
      set_word(place_of(i), offset);
      set_word(place_of(i) + 1, sections[i].size());
      set_word(place_of(i) + 2, hash64(hashes_of(sections[i])));
      offset += sections[i].size();
    }
    return as_it_is();
  }

  // The file with the directory as it stands, under a right header hash.
  [[nodiscard]] std::string as_it_is() {
    set_word(kHeaderBytes / 8 - 1, hash64(std::string_view(header).substr(0, kHeaderBytes - 8)));
    std::string bytes = header;
    for (const auto& section : sections) bytes += section;
    for (const auto& section : sections) bytes += hashes_of(section);
    return bytes;
  }

  [[nodiscard]] static std::string hashes_of(std::string_view section) {
    std::string hashes;
    for (size_t at = 0; at < section.size(); at += kSnapshotBlockBytes) {
      const uint64_t hash = hash64(section.substr(at, kSnapshotBlockBytes));
      hashes.append(reinterpret_cast<const char*>(&hash), sizeof(hash));
    }
    return hashes;
  }

  std::string header;
  std::vector<std::string> sections;

 private:
  static bool is_column(Section section) { return section <= kStretches; }
  [[nodiscard]] size_t width_of(Section section, size_t otherwise) const {
    return is_column(section) ? sections[section].size() / word(kRowCount) : otherwise;
  }
};

}  // namespace varve::index
