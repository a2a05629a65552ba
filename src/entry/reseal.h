// Rewrites lines of an earlier version as lines of this one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "entry/entry.h"
#include "json/document.h"

namespace varve::entry {

// The line's schema_version; 0 if it has none. The line must be readable.
Result<int64_t> schema_version_of(std::string_view line, json::Document& scratch);

// The line as add would have written it: canonical, with this session's id, seq, batch and
// checksum; its own id and unknown members are kept. What add would refuse and reading accepts (an
// odd tag) is kept, too. The line must be readable; the result ends in '\n'.
Result<std::string> reseal(std::string_view line, std::string_view session_id, uint64_t seq,
                           IdGenerator& ids, json::Document& scratch);

}  // namespace varve::entry
