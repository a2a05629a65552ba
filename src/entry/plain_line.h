// Plain lines of a log, as this library writes most of them: read and checked in one pass.
#pragma once

#include <string_view>

#include "entry/entry.h"

namespace varve::entry {

// Reads a line of plain JSON (json/plain.h) as read_line() does: one with a right checksum that has
// only members of format.md, each once and valid, and none of the user's own. What a line may leave
// out stays as it was in *facts. False: use read_line(), the long way.
[[nodiscard]] bool read_plain_line(std::string_view line, EntryFacts* facts);

}  // namespace varve::entry
