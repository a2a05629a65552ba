// The part of a text that shows best which of its words match a question.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/view/highlight.h"
#include "cli/view/terminal.h"

namespace varve::cli {

// At most `columns` of `text`, which is one line: the part with most of the terms, with "…" where
// something is left out, and the matches painted.
[[nodiscard]] std::string excerpt(std::string_view text, const std::vector<Match>& matches,
                                  size_t columns, const Terminal& terminal);

}  // namespace varve::cli
