#include "index/row_lookup.h"

#include <bit>
#include <string>

#include "index/column.h"
#include "index/id_table.h"

namespace varve::index {

namespace {

class RowLookup {
 public:
  RowLookup(SnapshotFile& file, std::string_view id) : file_(file), id_(id) {}

  Result<std::optional<StoredRow>> find() {
    const uint64_t slot_count = file_.slot_count();
    if (slot_count == 0 && file_.header().row_count == 0) return std::optional<StoredRow>();
    if (!std::has_single_bit(slot_count))
      return wrong_snapshot("the id table does not fit the rows");
    const uint32_t hash = id_hash(id_);
    for (uint32_t step = 0; step < kProbesMax; ++step) {
      uint32_t number = 0;
      VARVE_TRY(read_slot((uint64_t{hash} + step) & (slot_count - 1), &number));
      if (number == 0) return std::optional<StoredRow>();
      if (number > file_.header().row_count) {
        return wrong_snapshot("the id table does not fit the rows");
      }
      uint32_t row_hash = 0;
      VARVE_TRY(read_row_value(file_, kIdHashes, number - 1, &row_hash));
      if (row_hash != hash) continue;
      VARVE_TRY_ASSIGN(const bool is_same, has_id(number - 1));
      if (is_same) return read_row(number - 1);
    }
    return wrong_snapshot("the id table does not find the rows");
  }

 private:
  Status read_slot(uint64_t slot, uint32_t* number) {
    const size_t slot_bytes = file_.slot_bytes();
    return file_.read(kTable, slot * slot_bytes,
                      std::span(reinterpret_cast<char*>(number), slot_bytes));
  }

  Result<bool> has_id(uint32_t row) {
    uint64_t begin = 0;
    uint64_t end = 0;
    if (row > 0) VARVE_TRY(read_row_value(file_, kIdEnds, row - 1, &begin));
    VARVE_TRY(read_row_value(file_, kIdEnds, row, &end));
    if (end < begin) return wrong_snapshot("a row has impossible values");
    const std::string_view start = file_.header().start_of_ids();
    if (!id_.starts_with(start) || end - begin != id_.size() - start.size()) return false;
    std::string stored(end - begin, '\0');
    VARVE_TRY(file_.read(kIds, begin, stored));
    return stored == id_.substr(start.size());
  }

  Result<std::optional<StoredRow>> read_row(uint32_t row) {
    StoredRow stored;
    stored.row = row;
    uint32_t length = 0;
    VARVE_TRY(read_row_value(file_, kOffsets, row, &stored.location.offset));
    VARVE_TRY(read_row_value(file_, kLengths, row, &length));
    VARVE_TRY(read_row_value(file_, kLineHashes, row, &stored.location.line_hash));
    VARVE_TRY(read_row_value(file_, kExpiries, row, &stored.expires_at_ms));
    stored.location.length = length;
    const uint64_t covered_bytes = file_.header().coverage.entries_bytes;
    if (!may_be_line(stored.location.offset, length, covered_bytes)) {
      return wrong_snapshot("a row lies outside the covered log");
    }
    return std::optional<StoredRow>(stored);
  }

  SnapshotFile& file_;
  std::string_view id_;
};

}  // namespace

Result<std::optional<StoredRow>> find_row(SnapshotFile& file, std::string_view id) {
  return RowLookup(file, id).find();
}

}  // namespace varve::index
