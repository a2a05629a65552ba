// Entries as callers give them: one, or several as a JSON array or as JSON lines.
#pragma once

#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "entry/entry.h"

namespace varve::session {

Result<entry::Draft> draft_entry(std::string_view text, const entry::DraftOptions& options,
                                 IdGenerator& ids);

// Drafts of all entries in `text`, in order. If one entry is wrong, the call fails with the first
// such entry's place: its path in an array ("[3].tags[0]") or its line, and the offset in `text`.
Result<std::vector<entry::Draft>> draft_batch(std::string_view text,
                                              const entry::DraftOptions& options, IdGenerator& ids);

// The same failure to add the batch in `text`, with the place of the entry whose id cannot be used.
Status in_batch(Status failure, std::string_view text);

}  // namespace varve::session
