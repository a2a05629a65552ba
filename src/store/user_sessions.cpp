#include "store/user_sessions.h"

#include <algorithm>
#include <utility>

#include "store/session_rows.h"

namespace varve::store {

namespace {

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
  const auto begin = [&] {
    newer.clear();
    newest.clear();
  };
  const auto visit = [&](const RowAt& at, std::string name) {
    if (newer.empty() && !at.is_collected) newest = std::move(name);
    newer.push_back({at.row.user_id, at.row.session_id});
  };
  VARVE_TRY_ASSIGN(const bool keeps_known, for_each_newer_row(engine, newest_, begin, visit));
  if (keeps_known && newer.empty()) return {};
  if (!keeps_known) ids_.clear();
  newest_.clear();  // until all are taken over
  for (Owned& owned : newer) {
    if (!owned.user_id.empty()) ids_[owned.user_id].push_back(std::move(owned.session_id));
  }
  newest_ = std::move(newest);
  return {};
}

}  // namespace varve::store
