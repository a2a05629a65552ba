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
// The bits of the rows from `first` on. kCorruption when the section has not one value a row.
Status read_column_bits(SnapshotFile& file, SnapshotSection section, uint64_t first,
                        std::span<uint64_t> bits);

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
  uint64_t bits = 0;
  VARVE_TRY(read_column_bits(file, section, row, std::span(&bits, 1)));
  *value = column_value<T>(bits);
  return {};
}

// All rows.
template <typename T>
Status read_column(SnapshotFile& file, SnapshotSection section, std::vector<T>* column) {
  const uint64_t row_count = file.header().row_count;
  const bool is_as_in_memory = file.length(section) == row_count * sizeof(T);
  if (is_as_in_memory && file.header().sections[section].base == 0) {
    column->resize(row_count);
    return file.read(section, 0, {reinterpret_cast<char*>(column->data()), row_count * sizeof(T)});
  }
  std::vector<uint64_t> bits(row_count);
  VARVE_TRY(read_column_bits(file, section, 0, bits));
  column->resize(row_count);
  std::transform(bits.begin(), bits.end(), column->begin(), column_value<T>);
  return {};
}

}  // namespace varve::index
