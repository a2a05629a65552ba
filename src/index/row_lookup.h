// One row of an index.bin by its id, without reading the others.
//
// What it reads is checked against the file's hashes, and every number before it is used. What it
// cannot see is whether the file, made by somebody who means harm, hides a row: that is seen when
// all rows are loaded (snapshot.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"
#include "index/index.h"
#include "index/snapshot_file.h"

namespace varve::index {

struct StoredRow {
  uint32_t row = 0;
  Location location;
  int64_t expires_at_ms = 0;
};

// kCorruption when the file is not right. Cost: about ten blocks, however many rows there are.
Result<std::optional<StoredRow>> find_row(SnapshotFile& file, std::string_view id);

}  // namespace varve::index
