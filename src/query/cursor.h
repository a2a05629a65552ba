// Cursors: where a page of results ended, as text that a caller hands back unread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "query/query.h"

namespace varve::query {

[[nodiscard]] std::string format_cursor(const Cursor& cursor);
// Nothing for a text that is no cursor.
[[nodiscard]] std::optional<Cursor> parse_cursor(std::string_view text);

}  // namespace varve::query
