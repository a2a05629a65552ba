// Usage summed over the sessions of a store.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "json/tree.h"
#include "store/open_session.h"

namespace varve::store {

// The options of varve_store_usage.
struct UsageFilter {
  std::string user_id;
  std::string agent_id;
  std::vector<std::string> session_ids;  // empty: all
  int64_t start_ms = std::numeric_limits<int64_t>::min();
  int64_t end_ms = std::numeric_limits<int64_t>::max();
};

// kInvalidArgument naming the member.
Result<UsageFilter> parse_usage_filter(std::string_view text);

// {"total","sessions","agents","users","days","problems"}, as varve_store_usage. `open` opens a
// session by id; one that is not found is left out, one that cannot be read is listed as a problem.
Result<json::Tree> sum_usage(const UsageFilter& filter, std::vector<std::string> session_ids,
                             const OpenSession& open);

}  // namespace varve::store
