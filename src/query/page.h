// Pages: which rows any page of a query may have, and where its next one begins.
#pragma once

#include <cstdint>
#include <optional>

#include "query/search_input.h"
#include "query/top_k.h"

namespace varve::query {

// The rows below it were there when the first page was made, and their words are indexed where the
// query has some.
[[nodiscard]] uint32_t find_row_end(const SearchInput& input);

// Where the last result of the page before stood; nothing on the first page.
[[nodiscard]] std::optional<PlaceInOrder> find_last_place(const SearchInput& input,
                                                          uint32_t row_end);

}  // namespace varve::query
