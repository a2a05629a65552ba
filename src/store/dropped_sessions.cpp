#include "store/dropped_sessions.h"

#include <algorithm>

#include "json/tree.h"
#include "log/registry.h"

namespace varve::store {

Result<int64_t> created_at_of(log::Engine& engine, const std::string& id) {
  const auto text = engine.session_document(id, log::kMetadataFile);
  if (is_of_environment(text.code())) return text.status();
  if (!text.ok()) return 0;
  const auto tree = json::Tree::parse(*text);
  return tree.ok() && tree->is_object() ? log::row_of(id, *tree).created_at_ms : 0;
}

Result<bool> DroppedSessions::has(const std::string& id, int64_t created_at_ms) {
  if (!was_read_) VARVE_TRY(read());
  was_read_ = true;
  const auto found = others_ms_.find(id);
  if (found == others_ms_.end()) return false;
  const std::vector<int64_t>& others = found->second;
  if (created_at_ms == 0) return others.empty();
  return std::ranges::find(others, created_at_ms) == others.end();
}

Status DroppedSessions::read() {
  const auto is_wanted = [&](const std::string& id) {
    return std::binary_search(ids_.begin(), ids_.end(), id);
  };
  VARVE_TRY_ASSIGN(const log::ListedLives lives, store_.lives(is_wanted));
  others_ms_.clear();
  for (const auto& item : lives.dropped_at_ms) others_ms_[item.first];
  for (const log::SessionRow& row : lives.undropped) {
    const auto found = others_ms_.find(row.session_id);
    if (found != others_ms_.end()) found->second.push_back(row.created_at_ms);
  }
  return {};
}

}  // namespace varve::store
