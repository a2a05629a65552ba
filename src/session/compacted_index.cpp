#include "session/compacted_index.h"

#include <utility>

#include "base/beside.h"
#include "index/snapshot.h"

namespace varve::session {

void CompactedIndex::make(const std::vector<uint32_t>& kept, uint64_t epoch) {
  made_ = core_.index_of_kept(kept, epoch);
  if (!made_) return;
  encoding_ = start_beside(core_.settings.threads > 1,
                           [made = made_] { return index::encode_snapshot(*made); });
}

Status CompactedIndex::adopt() {
  if (!made_) return core_.rebuild();
  // That of the old log is of no use to anybody, and to replace a file costs more than to make it.
  VARVE_TRY(core_.storage->remove_document(index::kSnapshotFile));
  std::string encoded = encoding_.get();
  VARVE_TRY_ASSIGN(snapshot_, core_.adopt_compacted(*made_, std::move(encoded)));
  old_ = std::move(made_);
  return {};
}

}  // namespace varve::session
