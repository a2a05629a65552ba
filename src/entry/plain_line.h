// Plain lines of a log: those that this library writes mostly, read and checked in one pass.
#pragma once

#include <string_view>

#include "entry/entry.h"

namespace varve::entry {

// Reads a line of plain JSON (json/plain.h) as read_line() does: one with a right checksum, whose
// members are some of those that entries have by format.md, without any of the user's own, each
// once and right. What a line may leave out is as it was in *facts. False: read_line() is to say
// what it is, the long way.
[[nodiscard]] bool read_plain_line(std::string_view line, EntryFacts* facts);

}  // namespace varve::entry
