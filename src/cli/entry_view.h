// Entries as people read them.
#pragma once

#include <string>
#include <string_view>

#include "cli/context.h"

namespace varve::cli {

enum class Detail { kUsual, kEverything };

// Prints one entry, given as its stored line: a heading, its fields, its content indented.
// `content_lines_max` 0: all of it. kEverything also shows checksum, seq and the like.
void print_entry(Context& context, std::string_view line, Detail detail, size_t content_lines_max);

// Prints an entry on one line; on a terminal cut to its width.
void print_entry_line(Context& context, std::string_view line);

}  // namespace varve::cli
