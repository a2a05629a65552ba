// Lines that are in a log already, sealed anew.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "entry/entry.h"
#include "json/document.h"

namespace varve::entry {

// For a line that somebody edited, an entry but for its checksum: the line in canonical form with
// the right checksum, without line end. The rest stays, seq and batch too. Also sets *facts.
// errors: kCorruption for a line that is no entry even so.
Result<std::string> reseal(std::string_view line, json::Document& scratch, EntryFacts* facts);

// The line's schema_version; 0 if it has none. The line must be readable.
Result<int64_t> schema_version_of(std::string_view line, json::Document& scratch);

// A line of an earlier version as add would have written it: canonical, with this session's id,
// seq, batch and checksum; its own id and unknown members are kept. What add would refuse and
// reading accepts (an odd tag) is kept, too. The line must be readable; the result ends in '\n'.
Result<std::string> upgrade_line(std::string_view line, std::string_view session_id, uint64_t seq,
                                 IdGenerator& ids, json::Document& scratch);

}  // namespace varve::entry
