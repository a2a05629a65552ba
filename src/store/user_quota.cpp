#include "store/user_quota.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace varve::store {

namespace {

Status exceeded(std::string message, uint64_t size, uint64_t limit) {
  return {Code::kSizeLimit, std::move(message), {.size = size, .limit = limit}};
}

}  // namespace

Status UserQuota::check(const std::string& user_id, uint64_t new_bytes) {
  if (bytes_max_ == 0 || user_id.empty()) return {};
  const int64_t now_us = clock_.monotonic_us();
  uint64_t bytes = 0;
  bool is_counted = false;
  {
    const std::lock_guard guard(mutex_);
    const auto known = counted_.find(user_id);
    is_counted = known != counted_.end() && now_us < known->second.until_us;
    if (is_counted) bytes = known->second.bytes;
  }
  if (!is_counted) {
    VARVE_TRY_ASSIGN(const Use use, count_(user_id));
    bytes = use.bytes;
    const std::lock_guard guard(mutex_);
    forget_old(now_us);
    counted_[user_id] = {bytes, now_us + kCountedForUs};
  }
  if (bytes + new_bytes <= bytes_max_) return {};
  return exceeded("the sessions of user '" + shown(user_id) + "' would be " +
                      std::to_string(bytes + new_bytes) + " bytes; their limit is " +
                      std::to_string(bytes_max_) +
                      " (storage.max_user_size_mb): delete what is not needed and compact, sweep "
                      "what has expired, drop sessions, or raise the limit",
                  bytes + new_bytes, bytes_max_);
}

// Mutex held. A server may have a million users in a day.
void UserQuota::forget_old(int64_t now_us) {
  if (counted_.size() < count_to_tidy_) return;
  std::erase_if(counted_, [&](const auto& item) { return item.second.until_us <= now_us; });
  count_to_tidy_ = std::max(kCountToTidyMin, 2 * counted_.size());
}

void UserQuota::note_growth(const std::string& user_id, int64_t bytes) noexcept {
  const std::lock_guard guard(mutex_);
  const auto known = counted_.find(user_id);
  if (known == counted_.end()) return;
  uint64_t& counted = known->second.bytes;
  const uint64_t freed = bytes < 0 ? uint64_t{0} - static_cast<uint64_t>(bytes) : 0;
  counted = bytes < 0 ? counted - std::min(counted, freed) : counted + static_cast<uint64_t>(bytes);
}

Status UserQuota::check_new_session(const std::string& user_id) {
  VARVE_TRY_ASSIGN(const Use use, count_(user_id));
  if (use.sessions < sessions_max_) return {};
  return exceeded(
      "user '" + shown(user_id) + "' has " + std::to_string(use.sessions) +
          " sessions; the limit is " + std::to_string(sessions_max_) +
          " (storage.max_user_sessions): sweep those that have expired, drop one that is done "
          "with, or raise the limit",
      use.sessions + 1, sessions_max_);
}

void UserQuota::forget() {
  const std::lock_guard guard(mutex_);
  counted_.clear();
}

size_t UserQuota::known_count() {
  const std::lock_guard guard(mutex_);
  return counted_.size();
}

}  // namespace varve::store
