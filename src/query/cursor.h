// Cursors: where a page of results ended, as text that a caller hands back unread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "query/query.h"

namespace varve::query {

[[nodiscard]] std::string format_cursor(const Cursor& cursor);
// Nothing for a text that is no cursor.
[[nodiscard]] std::optional<Cursor> parse_cursor(std::string_view text);

// Where RowEnds has the number of rows that a session had at the first page.
[[nodiscard]] uint64_t row_end_key(std::string_view session_id);
// The number of records that its vectors.bin had.
[[nodiscard]] uint64_t vector_end_key(std::string_view session_id);
// The seq of its newest row: numbers of rows change with a compaction, and what was added since has
// a higher seq. Not there when that row had none.
[[nodiscard]] uint64_t seq_end_key(std::string_view session_id);
// The seq of the page's last entry, which may be gone when the next page is asked for.
[[nodiscard]] uint64_t last_seq_key(std::string_view session_id);

}  // namespace varve::query
