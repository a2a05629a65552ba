#include "store/user_sessions.h"

#include <algorithm>
#include <utility>

#include "store/session_rows.h"

namespace varve::store {

namespace {

constexpr size_t kRowsAtFirst = 8;  // few are new

struct Owned {
  std::string user_id;
  std::string session_id;
};

}  // namespace

Result<std::vector<std::string>> UserSessions::of(log::Engine& engine, const std::string& user_id) {
  const std::lock_guard guard(mutex_);
  VARVE_TRY(read_newer(engine));
  const auto known = ids_.find(user_id);
  if (known == ids_.end()) return std::vector<std::string>();
  std::vector<std::string>& ids = known->second;
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// From the newest row back to the one that was the newest before. Where that is gone, the list was
// made anew, and all rows are read; as they are where they are in no list.
Status UserSessions::read_newer(log::Engine& engine) {
  std::vector<Owned> newer;
  std::string newest;
  bool is_known = false;
  RowVisitor visitor;
  visitor.begin = [&] {
    newer.clear();
    newest.clear();
  };
  visitor.visit = [&](const RowAt& at) {
    const std::string name = name_of(at);
    if (newest.empty() && !at.is_collected) newest = name;
    is_known = name == newest_;
    if (is_known) return false;
    if (!at.row.user_id.empty()) newer.push_back({at.row.user_id, at.row.session_id});
    return true;
  };
  VARVE_TRY(for_each_row(engine, {}, visitor,
                         newest_.empty() ? log::Engine::kRowsAtATime : kRowsAtFirst));
  if (!is_known) ids_.clear();
  newest_.clear();  // until all are taken over
  for (Owned& owned : newer) ids_[owned.user_id].push_back(std::move(owned.session_id));
  newest_ = std::move(newest);
  return {};
}

}  // namespace varve::store
