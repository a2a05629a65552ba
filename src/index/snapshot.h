// index.bin: the index as it was, so that opening costs the tail and not the log.
//
// Derived and disposable. Layout (little-endian; docs/format.md#index.bin has the bytes):
//   header    magic, version, counts, coverage, section directory, XXH3-64 of all that
//   sections  one per column, each with its length and XXH3-64 in the directory
// Deletions are not in it: they are read from tombstones.jsonl, the truth, at every open.
//
// Every integer is checked before it is used: a hostile file costs a rebuild, never memory beyond
// its own size, a crash, or a row outside the covered log.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "index/index.h"

namespace varve::index {

inline constexpr std::string_view kSnapshotFile = "index.bin";
inline constexpr uint32_t kSnapshotVersion = 1;

// Rows, ids and coverage of `index`; tombstones are left out.
std::string encode_snapshot(const Index& index);

// The index a snapshot holds, all rows unverified and none deleted. kCorruption with the reason
// when it is not a right snapshot of this version. Whether it belongs to the log is for the caller
// to check: coverage says which line to look at.
Result<Index> decode_snapshot(std::string_view bytes);

}  // namespace varve::index
