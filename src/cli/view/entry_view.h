// Entries as shown to people.
#pragma once

#include <string_view>

#include "cli/invocation.h"

namespace varve::cli {

enum class Detail { kUsual, kEverything };

// Prints an entry, given as its stored line: a heading, its fields, its content indented.
// `content_lines_max` 0: no limit. kEverything also shows checksum, seq and the like.
void print_entry(Invocation& invocation, std::string_view line, Detail detail,
                 size_t content_lines_max);

// Prints an entry on one line, cut to the width of a terminal.
void print_entry_line(Invocation& invocation, std::string_view line);

}  // namespace varve::cli
