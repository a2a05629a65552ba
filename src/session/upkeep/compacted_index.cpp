#include "session/upkeep/compacted_index.h"

#include <utility>

#include "base/beside.h"
#include "index/snapshot.h"

namespace varve::session {

void CompactedIndex::plan(std::vector<uint32_t> kept, uint32_t row_count, uint64_t epoch) {
  kept_ = std::move(kept);
  rows_.emplace(kept_, row_count);
  epoch_ = epoch;
}

void CompactedIndex::make_facets() {
  if (rows_) facets_ = core_.facets_of_kept(*rows_, epoch_);
}

void CompactedIndex::make_rows_and_words() {
  if (rows_) made_ = core_.index_of_kept(*rows_, epoch_);
}

void CompactedIndex::encode() {
  // No index.bin can have it: it is made anew from the new log.
  if (!facets_ || (made_ && made_->is_crowded())) made_.reset();
  if (!made_) return;
  made_->take_facets(*std::move(facets_));
  encoding_ = start_beside(core_.settings.threads > 1,
                           [made = made_] { return index::encode_snapshot(*made); });
}

Status CompactedIndex::adopt() {
  // The old log's index.bin is useless now, and replacing a file costs more than creating one.
  // There may be no new one, and then nothing of what was dropped may stay in the old one.
  VARVE_TRY(core_.storage->remove_document(index::kSnapshotFile));
  core_.note_snapshot_removed();
  if (!made_) return core_.rebuild();
  std::string encoded = encoding_.get();
  VARVE_TRY_ASSIGN(snapshot_, core_.adopt_compacted(*made_, std::move(encoded)));
  old_ = std::move(made_);
  return {};
}

}  // namespace varve::session
