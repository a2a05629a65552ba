// The index as index.bin has it, so that opening costs the tail and not the log (snapshot_file.h,
// docs/format.md#index.bin).
//
// Derived and disposable. Opening a session reads the header; rows, facets and words are read where
// somebody looks at them, and getting an entry needs only the row that it is in (row_lookup.h).
// Deletions are not in it: they are read from tombstones.jsonl, the truth, at every open.
//
// A hostile file costs a rebuild, never a row outside the covered log.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "index/index.h"
#include "index/snapshot_file.h"

namespace varve::index {

// Rows, ids, facets, words and coverage of `index`, which has them all (nothing pending, and after
// load_whole()); tombstones are left out.
std::string encode_snapshot(const Index& index);

// An index with all of it pending. kCorruption with the reason. Whether it belongs to the log is
// for the caller to check: coverage says which line to look at.
Result<Index> open_snapshot(std::shared_ptr<SnapshotFile> file, const text::Settings& text_settings,
                            uint64_t hash_seed = 0);

// Gives an index from open_snapshot() what is pending. kCorruption: it stays as it was.
// Rows come unverified; those that the index knows tombstones of are deleted. They, facets and
// words are read further when they are looked at: then Index::is_damaged() tells.
Status open_rows(Index* index);
// Rows, read and checked as a whole, opened before or not. kCorruption, too, when something was
// found wrong before.
Status load_rows(Index* index);
Status load_facets(Index* index);
Status load_text(Index* index);

}  // namespace varve::index
