#include "store/dropped_sessions.h"

#include <algorithm>

#include "json/tree.h"
#include "log/registry.h"

namespace varve::store {

int64_t created_at_of(log::Engine& engine, const std::string& id) {
  const auto text = engine.session_document(id, log::kMetadataFile);
  if (!text.ok()) return 0;
  const auto tree = json::Tree::parse(*text);
  return tree.ok() && tree->is_object() ? log::row_of(id, *tree).created_at_ms : 0;
}

Result<bool> DroppedSessions::has(const std::string& id, int64_t created_at_ms) {
  if (!was_read_) VARVE_TRY(read());
  was_read_ = true;
  if (!lives_.dropped_at_ms.contains(id)) return false;
  return std::ranges::none_of(lives_.undropped, [&](const log::SessionRow& row) {
    return row.session_id == id && (created_at_ms == 0 || row.created_at_ms == created_at_ms);
  });
}

Status DroppedSessions::read() {
  const auto is_wanted = [&](const std::string& id) {
    return std::binary_search(ids_.begin(), ids_.end(), id);
  };
  VARVE_TRY_ASSIGN(lives_, store_.lives(is_wanted));
  // Only these can say more than the drops do.
  std::erase_if(lives_.undropped, [&](const log::SessionRow& row) {
    return !lives_.dropped_at_ms.contains(row.session_id);
  });
  return {};
}

}  // namespace varve::store
