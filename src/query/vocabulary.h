// Words that a query's members may have, as what they mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "query/query.h"

namespace varve::query {

[[nodiscard]] std::string_view sort_name(SortBy sort_by);
[[nodiscard]] std::optional<SortBy> find_sort(std::string_view name);

// "7d" -> ms. Units s, m, h, d, w. Nothing for 0 and for more than nine digits.
[[nodiscard]] std::optional<int64_t> parse_span(std::string_view text);

}  // namespace varve::query
