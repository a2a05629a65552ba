// Columns of index.bin: a number a row, each written as what it is more than the column's base, in
// as few bytes as the largest of them needs, which may be none. Sums are modulo 2^64.
//
// How many bytes that is follows from the section's length; the base stands in its directory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "index/snapshot_file.h"

namespace varve::index {

// A value as the number that is written, and back.
template <typename T>
uint64_t column_bits(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<uint64_t>(value);
  } else {
    return static_cast<uint64_t>(value);
  }
}
template <typename T>
T column_value(uint64_t bits) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<T>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

struct EncodedColumn {
  uint64_t base = 0;
  std::string bytes;
};

// `bits` of all rows, of which `least` is to be the base, for values that take `value_bytes`.
EncodedColumn encode_column_bits(std::span<const uint64_t> bits, uint64_t least,
                                 size_t value_bytes);
// [bytes] that each of `count` values takes. kCorruption when that is more than `value_bytes`, or
// not one number.
Result<size_t> column_width(const SnapshotFile& file, SnapshotSection section, uint64_t count,
                            size_t value_bytes);

template <typename T>
EncodedColumn encode_column(std::span<const T> values) {
  std::vector<uint64_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(), column_bits<T>);
  const auto least = std::min_element(values.begin(), values.end());
  return encode_column_bits(bits, values.empty() ? 0 : column_bits(*least), sizeof(T));
}

// A row's value.
template <typename T>
Status read_row_value(SnapshotFile& file, SnapshotSection section, uint64_t row, T* value) {
  const uint64_t row_count = file.header().row_count;
  VARVE_TRY_ASSIGN(const size_t width, column_width(file, section, row_count, sizeof(T)));
  uint64_t written = 0;
  VARVE_TRY(file.read(section, row * width, std::span(reinterpret_cast<char*>(&written), width)));
  *value = column_value<T>(file.header().sections[section].base + written);
  return {};
}

// Numbers of kWidth bytes that stand at the end of the room for `count` values become these, from
// the first on: each is read before its place is taken.
template <typename T, size_t kWidth>
void widen_from(char* room, uint64_t count, uint64_t base) {
  const char* from = room + count * (sizeof(T) - kWidth);
  for (uint64_t row = 0; row < count; ++row) {
    uint64_t written = 0;
    std::memcpy(&written, from + row * kWidth, kWidth);
    const T value = column_value<T>(base + written);
    std::memcpy(room + row * sizeof(T), &value, sizeof(T));
  }
}
template <typename T, size_t kWidth = sizeof(T)>
void widen_column(size_t width, char* room, uint64_t count, uint64_t base) {
  if (width == kWidth) {
    widen_from<T, kWidth>(room, count, base);
  } else if constexpr (kWidth > 0) {
    widen_column<T, kWidth - 1>(width, room, count, base);
  }
}

}  // namespace varve::index
