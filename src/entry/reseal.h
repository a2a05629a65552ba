// Lines of an earlier version, made lines of this one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "entry/entry.h"
#include "json/document.h"

namespace varve::entry {

// The schema_version that a line carries; 0 without one. The line must be readable.
Result<int64_t> schema_version_of(std::string_view line, json::Document& scratch);

// The line as add would have written it: canonical, with this session's id, seq, batch and
// checksum; id and unknown members kept. What add would have refused and reading accepts (an odd
// tag) is kept as it is. The line must be readable; the result ends in '\n'.
Result<std::string> reseal(std::string_view line, std::string_view session_id, uint64_t seq,
                           IdGenerator& ids, json::Document& scratch);

}  // namespace varve::entry
