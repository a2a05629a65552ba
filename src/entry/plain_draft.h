// Plain entries to be written, as most programs write them: read and checked in one pass.
#pragma once

#include <optional>

#include "base/ids.h"
#include "entry/entry.h"
#include "json/plain.h"

namespace varve::entry {

// Takes an entry of plain JSON (json/plain.h) from the front of `reader`: one that has only members
// of format.md, each once and valid, and no batch, relations or members of the user's own. The
// draft is that of draft(), but the size limit is not checked here. Nothing: use draft_value(),
// which reads the entry or says what is wrong with it; an id may have been made in vain.
// `text_bytes`: of the entry; 0 if not known.
[[nodiscard]] std::optional<Draft> draft_plain(json::PlainReader& reader, size_t text_bytes,
                                               const DraftOptions& options, IdGenerator& ids);

}  // namespace varve::entry
