// Why results are where they are, in aligned lines.
#pragma once

#include <string_view>

#include "cli/context.h"
#include "cli/json_text.h"

namespace varve::cli {

// What was added up for one result, from its "explain"; nothing for orders that are no sum.
void print_sum(Context& context, const json::object& explain);

// How the rows were found, and the words with their weight and the number of entries that have
// them, from the answer's "explain".
void print_answer(Context& context, const json::object& explain);

}  // namespace varve::cli
