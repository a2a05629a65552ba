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

Result<size_t> column_width(const SnapshotFile& file, SnapshotSection section, uint64_t count,
                            size_t value_bytes) {
  const uint64_t length = file.length(section);
  const uint64_t width = count > 0 ? length / count : 0;
  if (width > value_bytes || width * count != length) {
    return wrong_snapshot("a column has not one value a row");
  }
  return static_cast<size_t>(width);
}

}  // namespace varve::index
