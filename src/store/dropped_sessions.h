// DroppedSessions: which sessions, of those that a backup has copies of, somebody dropped. What is
// gone without that was removed by hand, or lost by a disk, and its copy may be all that is left of
// it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "log/storage.h"

namespace varve::store {

// When the session was created, as its metadata.json says; 0 where it does not tell.
Result<int64_t> created_at_of(log::Engine& engine, const std::string& id);

class DroppedSessions {
 public:
  // `ids`: of the copies, sorted.
  DroppedSessions(log::Engine& store, std::vector<std::string> ids)
      : store_(store), ids_(std::move(ids)) {}

  // Whether the store's list tells that the one of this id which was created then was dropped. Only
  // for one that the store does not have any more. `created_at_ms` 0: whichever it was. The first
  // call reads the list.
  Result<bool> has(const std::string& id, int64_t created_at_ms);

 private:
  Status read();

  log::Engine& store_;
  const std::vector<std::string> ids_;
  bool was_read_ = false;
  // By each of these ids of which a session was dropped: when others of that id were created, which
  // were not.
  std::unordered_map<std::string, std::vector<int64_t>> others_ms_;
};

}  // namespace varve::store
