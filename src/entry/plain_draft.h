// Plain entries on their way in: those that programs write mostly, read and checked in one pass.
#pragma once

#include <optional>

#include "base/ids.h"
#include "entry/entry.h"
#include "json/plain.h"

namespace varve::entry {

// Takes an entry of plain JSON (json/plain.h) from the front of `reader`: one whose members are
// some of those that entries have by format.md, without batch, relations and any of the user's own,
// each once and right. The draft is the one that draft() makes, whose limit of size is not looked
// at here. Nothing: draft_value() is to say what it is, or what is wrong with it; an id may have
// been made in vain. `text_bytes`: of the entry, or 0 when that is not known.
[[nodiscard]] std::optional<Draft> draft_plain(json::PlainReader& reader, size_t text_bytes,
                                               const DraftOptions& options, IdGenerator& ids);

}  // namespace varve::entry
