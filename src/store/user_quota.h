// UserQuota: how much the sessions of one user may take together (storage.max_user_size_mb), and
// how many there may be (storage.max_user_sessions).
//
// What a user has is counted over the rows of the registry: open sessions exactly, the others by
// their last saved metadata.json. Between two counts, kCountedForUs apart, what this store writes
// is added after each write, and what a compaction frees is taken off. Bytes may exceed their limit
// by what several sessions write at the same moment, by index.bin, which is not known before it is
// written, and by what other processes wrote. The number of sessions is exact as long as only this
// store creates them.
//
// Threads: any. Cost of a count: reads metadata.json of each of the user's sessions.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "base/environment.h"
#include "base/result.h"
#include "session/size_quota.h"

namespace varve::store {

class UserQuota final : public session::SizeQuota {
 public:
  static constexpr int64_t kCountedForUs = 5'000'000;
  static constexpr size_t kCountToTidyMin = 64;

  struct Use {
    uint64_t sessions = 0;
    uint64_t bytes = 0;
  };
  using Count = std::function<Result<Use>(const std::string& user_id)>;

  // A limit of 0: none.
  UserQuota(Clock& clock, Count count) : clock_(clock), count_(std::move(count)) {}
  void set_limits(uint64_t bytes_max, uint64_t sessions_max) {
    bytes_max_ = bytes_max;
    sessions_max_ = sessions_max;
  }

  Status check(const std::string& user_id, uint64_t new_bytes) override;
  void note_growth(const std::string& user_id, int64_t bytes) noexcept override;
  // Runs `create` and returns its Result, unless the user has the maximum number of sessions. Calls
  // run one after another, each with a new count: two at once could both allow the last session.
  template <typename Create>
  auto create_session(const std::string& user_id, Create&& create) -> decltype(create()) {
    if (sessions_max_ == 0 || user_id.empty()) return create();
    const std::lock_guard turn(creating_mutex_);
    VARVE_TRY(check_new_session(user_id));
    return create();
  }
  // Call it after sessions were created or removed.
  void forget();
  // How many users' counts are in memory.
  [[nodiscard]] size_t known_count();

 private:
  struct Counted {
    uint64_t bytes = 0;
    int64_t until_us = 0;
  };

  Status check_new_session(const std::string& user_id);
  void forget_old(int64_t now_us);

  Clock& clock_;
  Count count_;
  uint64_t bytes_max_ = 0;
  uint64_t sessions_max_ = 0;
  std::mutex creating_mutex_;  // taken before mutex_
  std::mutex mutex_;           // guards the rest
  std::map<std::string, Counted> counted_;
  size_t count_to_tidy_ = kCountToTidyMin;
};

}  // namespace varve::store
