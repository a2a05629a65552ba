// ListFilter: the options of varve_store_sessions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "log/storage.h"

namespace varve::store {

struct ListFilter {
  std::string user_id;
  std::string agent_id;
  std::string after;
  uint64_t limit = 100;
  bool rescan = false;

  [[nodiscard]] bool takes(const log::SessionRow& row) const {
    return (user_id.empty() || row.user_id == user_id) &&
           (agent_id.empty() || row.agent_id == agent_id);
  }
};

// kInvalidArgument naming the member.
Result<ListFilter> parse_filter(std::string_view text);

}  // namespace varve::store
