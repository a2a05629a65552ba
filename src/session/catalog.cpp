#include "session/catalog.h"

#include <shared_mutex>

#include "session/core.h"
#include "session/writer.h"

namespace varve::session {

namespace {

// With the session's lock held.
Result<CatalogFacts> take_locked(Core& core) {
  VARVE_TRY(core.prepare_query({}));
  VARVE_TRY_ASSIGN(const log::Tail tail, core.storage->locked_tail());
  CatalogFacts facts;
  {
    const std::shared_lock lock(core.index_mutex);
    if (!core.check_whole().ok()) return Status(Code::kBusy, "the index is being rebuilt");
    // A batch that is not whole may become so (recovery `salvage`).
    if (core.index.coverage.entries_bytes != tail.entries_bytes) {
      return Status(Code::kBusy, "the log does not end with a whole entry");
    }
    core.index.facets().for_each_tag(
        [&](std::string_view tag, const index::PostingList&) { facts.tags.emplace_back(tag); });
    if (core.index.is_damaged()) return Status(Code::kBusy, "the index is being rebuilt");
    facts.user_id = core.metadata.tree().get_string("user_id");
    facts.agent_id = core.metadata.tree().get_string("agent_id");
  }
  VARVE_TRY(core.storage->mark_catalogued());
  return facts;
}

}  // namespace

Result<CatalogFacts> take_for_catalog(Core& core, Writer& writer) {
  Result<CatalogFacts> facts = Status(Code::kBusy, "");
  WriteRequest request = WriteRequest::of_call("catalog", [&] {
    facts = take_locked(core);
    return facts.status();
  });
  request.recover = false;
  request.even_newer = true;
  request.lock_wait_ms = 0;
  VARVE_TRY(writer.submit(request));
  return facts;
}

}  // namespace varve::session
