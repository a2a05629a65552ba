#include "index/column.h"

namespace varve::index {

EncodedColumn encode_column_bits(std::span<const uint64_t> bits, uint64_t least,
                                 size_t value_bytes) {
  uint64_t most = 0;
  for (const uint64_t value : bits) most = std::max(most, value - least);
  const size_t width = (static_cast<size_t>(std::bit_width(most)) + 7) / 8;
  EncodedColumn column;
  column.base = width < value_bytes ? least : 0;  // nothing is saved: as in memory
  column.bytes.resize(bits.size() * width);
  char* at = column.bytes.data();
  for (const uint64_t value : bits) {
    const uint64_t written = value - column.base;
    std::memcpy(at, &written, width);
    at += width;
  }
  return column;
}

Status read_column_bits(SnapshotFile& file, SnapshotSection section, uint64_t first,
                        std::span<uint64_t> bits) {
  const uint64_t row_count = file.header().row_count;
  const uint64_t length = file.length(section);
  const uint64_t width = row_count > 0 ? length / row_count : 0;
  if (width > sizeof(uint64_t) || width * row_count != length) {
    return wrong_snapshot("a column has not one value a row");
  }
  std::string bytes(bits.size() * width, '\0');
  VARVE_TRY(file.read(section, first * width, bytes));
  const uint64_t base = file.header().sections[section].base;
  const char* at = bytes.data();
  for (uint64_t& value : bits) {
    uint64_t written = 0;
    std::memcpy(&written, at, width);
    value = base + written;
    at += width;
  }
  return {};
}

}  // namespace varve::index
