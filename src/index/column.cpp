#include "index/column.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace varve::index {

namespace {

std::string written_bytes(std::span<const uint64_t> written, size_t width) {
  std::string bytes(written.size() * width, '\0');
  char* at = bytes.data();
  for (const uint64_t number : written) {
    std::memcpy(at, &number, width);
    at += width;
  }
  return bytes;
}

// The numbers by this rule when they take less than `plain`, else `plain`.
EncodedColumn narrower(ColumnRule rule, std::span<const uint64_t> written, EncodedColumn plain) {
  const size_t width = bytes_for(*std::max_element(written.begin(), written.end()));
  if (width * written.size() >= plain.bytes.size()) return plain;
  return {rule, written_bytes(written, width)};
}

}  // namespace

EncodedColumn encode_column_bits(std::span<const uint64_t> bits, uint64_t least,
                                 size_t value_bytes) {
  uint64_t most = 0;
  for (const uint64_t value : bits) most = std::max(most, value - least);
  const size_t width = bytes_for(most);
  EncodedColumn column;
  column.rule.base = width < value_bytes ? least : 0;  // nothing is saved: as in memory
  std::vector<uint64_t> written(bits.begin(), bits.end());
  for (uint64_t& value : written) value -= column.rule.base;
  column.bytes = written_bytes(written, width);
  return column;
}

EncodedColumn encode_column_steps(std::span<const uint64_t> bits, EncodedColumn plain) {
  if (plain.bytes.empty() || bits.size() < 2) return plain;
  const auto rise = static_cast<int64_t>(bits.back() - bits.front());
  const auto step = static_cast<uint64_t>(rise / static_cast<int64_t>(bits.size() - 1));
  std::vector<uint64_t> written(bits.size());
  int64_t least = 0;  // what lies furthest below the line from the first row on
  for (size_t row = 0; row < bits.size(); ++row) {
    written[row] = bits[row] - bits.front() - step * row;
    least = std::min(least, static_cast<int64_t>(written[row]));
  }
  for (uint64_t& number : written) number -= static_cast<uint64_t>(least);
  return narrower({bits.front() + static_cast<uint64_t>(least), step}, written, std::move(plain));
}

EncodedColumn encode_column_decimals(std::span<const double> values, EncodedColumn plain) {
  constexpr std::array<uint64_t, 4> kDivisors = {1, 10, 100, 1000};
  constexpr double kNumberMax = 1 << 30;  // larger ones take nearly as much as doubles
  if (plain.bytes.empty()) return plain;
  std::vector<uint64_t> written(values.size());
  for (const uint64_t divisor : kDivisors) {
    const ColumnRule rule{0, divisor};
    const auto take = [&](double value, uint64_t* number) {
      const double whole = std::nearbyint(value * static_cast<double>(divisor));
      if (!(whole >= 0 && whole <= kNumberMax)) return false;
      *number = static_cast<uint64_t>(whole);
      return column_bits(column_value<double>(rule, 0, *number)) == column_bits(value);
    };
    size_t row = 0;
    while (row < values.size() && take(values[row], &written[row])) ++row;
    if (row == values.size()) return narrower(rule, written, std::move(plain));
  }
  return plain;
}

Result<size_t> column_width(const SnapshotFile& file, SnapshotSection section, uint64_t count,
                            size_t value_bytes) {
  const uint64_t length = file.length(section);
  const uint64_t width = count > 0 ? length / count : 0;
  if (width > value_bytes || width * count != length) {
    return wrong_snapshot("a column does not have one value for each row");
  }
  return static_cast<size_t>(width);
}

}  // namespace varve::index
