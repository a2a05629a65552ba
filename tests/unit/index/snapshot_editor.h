// Takes an index.bin apart and puts it together again with right hashes: for files that are wrong
// in all but their hashes, as somebody who means harm would write them.
#pragma once

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
    kDirectory = 13,
  };
  static constexpr size_t kHeaderBytes = (kDirectory + kSectionCount * 3 + 1) * 8;

  explicit SnapshotEditor(std::string_view bytes) : header(bytes.substr(0, kHeaderBytes)) {
    for (size_t i = 0; i < kSectionCount; ++i) {
      sections.emplace_back(bytes.substr(word(kDirectory + i * 3), word(kDirectory + i * 3 + 1)));
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
    T value{};
    std::memcpy(&value, sections[section].data() + row * sizeof(T), sizeof(T));
    return value;
  }
  template <typename T>
  void set(Section section, size_t row, T value) {
    std::memcpy(sections[section].data() + row * sizeof(T), &value, sizeof(T));
  }

  // The file with its directory and all its hashes right.
  [[nodiscard]] std::string assembled() {
    uint64_t offset = kHeaderBytes;
    for (size_t i = 0; i < kSectionCount; ++i) {
      set_word(kDirectory + i * 3, offset);
      set_word(kDirectory + i * 3 + 1, sections[i].size());
      set_word(kDirectory + i * 3 + 2, hash64(hashes_of(sections[i])));
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
};

}  // namespace varve::index
