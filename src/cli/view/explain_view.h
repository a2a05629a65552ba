// Explains in aligned lines why results are where they are.
#pragma once

#include <string_view>

#include "cli/invocation.h"
#include "cli/json_text.h"

namespace varve::cli {

// The terms of one result's sum, from its "explain"; nothing for orders that are no sum.
void print_sum(Invocation& invocation, const json::object& explain);

// How the rows were found, and each word with its weight and the number of entries that have it,
// from the answer's "explain".
void print_answer(Invocation& invocation, const json::object& explain);

}  // namespace varve::cli
