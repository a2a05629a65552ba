// The short way from a query's text to a Query, for the texts that programs write most: known
// members of the usual kinds, strings without escapes, ASCII alone.
//
// It decides nothing that parse_query() would not decide alike, and refuses nothing: whatever is
// unusual, and whatever is wrong, is left to the long way, which says what and where.
#pragma once

#include <string_view>

#include "query/parse.h"
#include "query/query.h"

namespace varve::query {

// False: to be read the long way; *query is then of no use. `query` is as constructed before.
[[nodiscard]] bool parse_plain(std::string_view text, Scope scope, Query* query);

}  // namespace varve::query
