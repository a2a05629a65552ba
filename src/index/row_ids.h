// RowIds: the id of each row. index.bin has what all ids start with once, and of each the rest, and
// so has memory of rows that come from there. A session's generated ids start with when they were
// made.
//
// What was not read of index.bin yet is read where it is asked for (row_column.h, as are threads).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "index/column.h"
#include "index/row_column.h"
#include "index/snapshot_file.h"

namespace varve::index {

// As index.bin has them.
struct EncodedIds {
  std::string start;   // of all ids
  std::string rests;   // one behind the other
  EncodedColumn ends;  // of each, in `rests`
};

class RowIds {
 public:
  // Those of a file, none of them read yet.
  static Result<RowIds> open(const std::shared_ptr<SnapshotFile>& file);
  // Reads what was not read yet.
  Status load();
  // After load(), and what was added behind.
  [[nodiscard]] EncodedIds encode() const;

  void add(std::string_view id);
  void add(const RowIds& from, uint32_t row);

  // Anything where a file says what cannot be.
  [[nodiscard]] std::string at(uint32_t row) const;
  // Whether that is the row's id.
  [[nodiscard]] bool is(uint32_t row, std::string_view id) const;
  // After load(): that each rest ends behind the one before, and the last of the file where its
  // rests do.
  [[nodiscard]] bool are_places_right() const;

  void prefetch(uint32_t row) const { ends_.prefetch(row); }
  [[nodiscard]] uint64_t memory_bytes() const;  // beyond the object itself

 private:
  [[nodiscard]] std::string_view start_of(uint32_t row) const {
    return row < started_count_ ? std::string_view(start_) : std::string_view();
  }
  [[nodiscard]] std::string_view rest_of(uint32_t row) const;
  [[nodiscard]] std::string common_start() const;

  std::string start_;
  uint64_t started_count_ = 0;  // rows that start with it: those of the file
  uint64_t started_bytes_ = 0;  // of their rests
  RowColumn<uint64_t> ends_;    // in rests_
  RowColumn<char> rests_;
};

}  // namespace varve::index
