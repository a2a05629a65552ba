// StoreServices: what a session asks of the store that it is one of. Implemented by the store.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"
#include "log/storage.h"

namespace varve::session {

class StoreServices {
 public:
  virtual ~StoreServices() = default;
  // The session's row in the store's list, used when its metadata is lost.
  virtual Result<std::optional<log::SessionRow>> find_listed(std::string_view id) = 0;
  // Called before the session gets durability "interval", at opening or later, which fails if this
  // does.
  virtual Status start_flusher() = 0;
  // Whether the file of that path is one of the store's own, which no export may replace.
  virtual bool is_own_file(std::string_view path) = 0;
  // Removes what killed restores and deletions left of any session of the store.
  virtual Status remove_left_overs() = 0;
};

}  // namespace varve::session
