#include "store/lost_sessions.h"

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

Result<bool> LostSessions::has(const std::string& id, int64_t created_at_ms) {
  if (!was_read_) VARVE_TRY(read());
  was_read_ = true;
  const auto found = created_at_ms_.find(id);
  if (found == created_at_ms_.end()) return false;
  return created_at_ms == 0 ||
         std::ranges::find(found->second, created_at_ms) != found->second.end();
}

Status LostSessions::read() {
  VARVE_TRY_ASSIGN(const auto copied, copies_.session_ids());
  const auto is_copied = [&](const std::string& id) {
    return std::binary_search(copied.begin(), copied.end(), id);
  };
  VARVE_TRY_ASSIGN(const auto rows, store_.undropped_rows(is_copied));
  for (const log::SessionRow& row : rows) {
    created_at_ms_[row.session_id].push_back(row.created_at_ms);
  }
  return {};
}

}  // namespace varve::store
