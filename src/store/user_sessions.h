// UserSessions: which sessions of the registry are a user's.
//
// The registry is one list for all users, appended to. What was read of it is kept, so an answer
// costs what was appended since the one before: a store with limits for its users asks at each
// creation, and may have a million sessions.
//
// Threads: any. Memory: some 70 bytes for each session of a user, from the first question on.
#pragma once

#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "log/storage.h"

namespace varve::store {

class UserSessions {
 public:
  // The ids whose rows name this user, each once. A session may have been dropped since, or be
  // another user's now.
  Result<std::vector<std::string>> of(log::Engine& engine, const std::string& user_id);

 private:
  Status read_newer(log::Engine& engine);

  std::mutex mutex_;
  std::string newest_;  // names the newest row that was read; empty: none is known
  std::unordered_map<std::string, std::vector<std::string>> ids_;  // by user
};

}  // namespace varve::store
