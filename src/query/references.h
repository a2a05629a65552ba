// The graph of references, walked.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "index/index.h"

namespace varve::query {

// Rows reached from the ids by at most `depth_max` references, outwards and inwards, breadth first;
// the ids themselves are not among them. `relation`: only arrows of this name ("references" is the
// plain member); empty: all. Only rows below `row_end` that are live at `now_ms` are found or
// walked through; ids may be of entries that do not exist. *is_damaged becomes true when a list
// that was read is damaged.
[[nodiscard]] std::vector<uint32_t> walk_references(const index::Index& index,
                                                    const std::vector<std::string>& ids,
                                                    std::string_view relation, uint32_t depth_max,
                                                    uint32_t row_end, int64_t now_ms,
                                                    bool* is_damaged);

}  // namespace varve::query
