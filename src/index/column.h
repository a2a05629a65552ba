// Columns of index.bin: one number for each row. Of row r its value - base - r * step is written,
// modulo 2^64, in as many bytes as the largest of these needs: 0 to 8, the same for all rows. So a
// column that rises evenly (where lines begin, seq, times) takes little or nothing.
//
// A double is written as its 64 bits, with a step of 0. Where all of a column are decimals of few
// digits, whole numbers are written, and the value is the number divided by the step.
//
// Base and step stand in the directory of the file; the width follows from the section's length.
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

// How the directory says that a column is written.
struct ColumnRule {
  uint64_t base = 0;
  uint64_t step = 0;
};

inline ColumnRule rule_of(const SnapshotFile& file, SnapshotSection section) {
  const SectionPlace& place = file.header().sections[section];
  return {place.base, place.step};
}

// A value as 64 bits; and back, the value of a row of which `written` stands in the file.
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

// Without a step. `least` is the smallest of `bits`; a value takes `value_bytes` in memory.
EncodedColumn encode_column_bits(std::span<const uint64_t> bits, uint64_t least,
                                 size_t value_bytes);
// With the average step from the first row to the last; `plain` when that takes no less.
EncodedColumn encode_column_steps(std::span<const uint64_t> bits, EncodedColumn plain);
// As whole numbers; `plain` when the values are no such decimals, or that takes no less.
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

// Makes values of the numbers that were read from a file, in place: `room` is for `count` values,
// the numbers, of kWidth bytes each, stand at its end, and are taken from the first on, so that
// each is read before its bytes are written over. `first_row` is the row of the first. (The rule is
// passed by value so that the compiler knows that writing to `room` does not change it.)
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
// The same for a width that is known when the program runs.
template <typename T, size_t kWidth = sizeof(T)>
void widen_column(size_t width, char* room, uint64_t count, uint64_t first_row, ColumnRule rule) {
  if (width == kWidth) {
    widen_from<T, kWidth>(room, count, first_row, rule);
  } else if constexpr (kWidth > 0) {
    widen_column<T, kWidth - 1>(width, room, count, first_row, rule);
  }
}

}  // namespace varve::index
