// SizeQuota: asked before a session grows and told afterwards, also when it shrinks, because its
// user may have a limit over all sessions. Implemented by the store.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace varve::session {

class SizeQuota {
 public:
  virtual ~SizeQuota() = default;
  // kSizeLimit, with the sizes, when `new_bytes` more would be too much.
  virtual Status check(const std::string& user_id, uint64_t new_bytes) = 0;
  // How much larger a write, or smaller a compaction, made the session.
  virtual void note_growth(const std::string& user_id, int64_t bytes) noexcept = 0;
};

}  // namespace varve::session
