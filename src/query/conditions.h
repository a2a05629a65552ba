// Conditions: all that a query asks of an entry besides its words, as sets and bounds of a filter.
#pragma once

#include "query/row_filter.h"
#include "query/search_input.h"

namespace varve::query {

// Cost: that of looking up each tag, id and member, and of walking the references.
void require_conditions(const SearchInput& input, RowFilter* filter);

}  // namespace varve::query
