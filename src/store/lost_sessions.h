// LostSessions: which sessions, of those that a backup has copies of, are gone though nobody
// dropped them: a directory that was removed by hand, or that a disk lost. The store's list tells.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "log/storage.h"

namespace varve::store {

// When the session was created, as its metadata.json says; 0 where that cannot be read.
int64_t created_at_of(log::Engine& engine, const std::string& id);

class LostSessions {
 public:
  LostSessions(log::Engine& store, log::Engine& copies) : store_(store), copies_(copies) {}

  // Whether the one that was created then is in the list and not told to be dropped. Only for one
  // that the store does not have any more. `created_at_ms` 0: any of this id. The first call reads
  // the list.
  Result<bool> has(const std::string& id, int64_t created_at_ms);

 private:
  Status read();

  log::Engine& store_;
  log::Engine& copies_;
  bool was_read_ = false;
  std::unordered_map<std::string, std::vector<int64_t>> created_at_ms_;  // by id
};

}  // namespace varve::store
