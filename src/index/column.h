// Columns of index.bin: a number a row, each written as what it is more than the column's base and
// as many of its steps as there are rows before, in as few bytes as the largest of them needs,
// which may be none. Sums are modulo 2^64. So what rises by about as much with each row (where
// lines begin, numbers, times) takes little or nothing.
//
// A double is its 64 bits, without steps; or, where all of a column are decimals of few digits, a
// whole number that is to be divided by the step.
//
// How many bytes a number takes follows from the section's length; base and step stand in its
// directory.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "index/snapshot_file.h"

namespace varve::index {

// What stands in the directory.
struct ColumnRule {
  uint64_t base = 0;
  uint64_t step = 0;
};

inline ColumnRule rule_of(const SnapshotFile& file, SnapshotSection section) {
  const SectionPlace& place = file.header().sections[section];
  return {place.base, place.step};
}

// A value as a number, and what was written of one in a row as the value.
template <typename T>
uint64_t column_bits(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::bit_cast<uint64_t>(value);
  } else {
    return static_cast<uint64_t>(value);
  }
}
template <typename T>
T column_value(const ColumnRule& rule, uint64_t row, uint64_t written) {
  if constexpr (std::is_floating_point_v<T>) {
    const uint64_t number = rule.base + written;
    return rule.step == 0 ? std::bit_cast<T>(number)
                          : static_cast<T>(number) / static_cast<T>(rule.step);
  } else {
    return static_cast<T>(rule.base + rule.step * row + written);
  }
}

struct EncodedColumn {
  ColumnRule rule;
  std::string bytes;
};

// `bits` of all rows, of which `least` is to be the base, for values that take `value_bytes`.
EncodedColumn encode_column_bits(std::span<const uint64_t> bits, uint64_t least,
                                 size_t value_bytes);
// The same with the steps from the first row to the last, where that takes less than `plain`.
EncodedColumn encode_column_steps(std::span<const uint64_t> bits, EncodedColumn plain);
// The same of doubles.
EncodedColumn encode_column_decimals(std::span<const double> values, EncodedColumn plain);
// [bytes] that each of `count` values takes. kCorruption when that is more than `value_bytes`, or
// not one number.
Result<size_t> column_width(const SnapshotFile& file, SnapshotSection section, uint64_t count,
                            size_t value_bytes);

template <typename T>
EncodedColumn encode_column(std::span<const T> values) {
  std::vector<uint64_t> bits(values.size());
  std::transform(values.begin(), values.end(), bits.begin(), column_bits<T>);
  const auto least = std::min_element(values.begin(), values.end());
  EncodedColumn plain =
      encode_column_bits(bits, values.empty() ? 0 : column_bits(*least), sizeof(T));
  if constexpr (std::is_floating_point_v<T>) {
    return encode_column_decimals(values, std::move(plain));
  } else {
    return encode_column_steps(bits, std::move(plain));
  }
}

// A row's value.
template <typename T>
Status read_row_value(SnapshotFile& file, SnapshotSection section, uint64_t row, T* value) {
  const uint64_t row_count = file.header().row_count;
  VARVE_TRY_ASSIGN(const size_t width, column_width(file, section, row_count, sizeof(T)));
  uint64_t written = 0;
  VARVE_TRY(file.read(section, row * width, std::span(reinterpret_cast<char*>(&written), width)));
  *value = column_value<T>(rule_of(file, section), row, written);
  return {};
}

// Numbers of kWidth bytes that stand at the end of the room for `count` values become these, from
// the first on: each is read before its place is taken. `first_row`: the row of the first. (The
// rule by value: else it could be what is written over, for all a compiler knows.)
template <typename T, size_t kWidth>
void widen_from(char* room, uint64_t count, uint64_t first_row, ColumnRule rule) {
  const char* from = room + count * (sizeof(T) - kWidth);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t written = 0;
    std::memcpy(&written, from + i * kWidth, kWidth);
    const T value = column_value<T>(rule, first_row + i, written);
    std::memcpy(room + i * sizeof(T), &value, sizeof(T));
  }
}
template <typename T, size_t kWidth = sizeof(T)>
void widen_column(size_t width, char* room, uint64_t count, uint64_t first_row, ColumnRule rule) {
  if (width == kWidth) {
    widen_from<T, kWidth>(room, count, first_row, rule);
  } else if constexpr (kWidth > 0) {
    widen_column<T, kWidth - 1>(width, room, count, first_row, rule);
  }
}

}  // namespace varve::index
