#include "query/page.h"

#include <algorithm>

#include "query/cursor.h"

namespace varve::query {

namespace {

// Where the last result stood whose entry was compacted away since: between the entries with lower
// and with higher numbers. Without its own number, everything of the same key and time was before
// it.
void place_without_entry(const SearchInput& input, uint32_t row_end, PlaceInOrder* place) {
  const Cursor& last = *input.query->after;
  const auto seq = last.row_ends.find(last_seq_key(input.session_id));
  if (seq == last.row_ends.end()) return;
  uint32_t row = 0;
  while (row < row_end && input.index->seq(row) <= seq->second) ++row;
  if (!input.query->ascending) {
    place->row = row;
  } else if (row > 0) {
    place->row = row - 1;
  } else {
    place->timestamp_ms -= 1;  // all of them come after it
  }
}

}  // namespace

uint32_t find_row_end(const SearchInput& input) {
  const index::Index& index = *input.index;
  const Query& query = *input.query;
  uint32_t end = index.size();
  if (query.has_text()) end = std::min(end, index.text_row_count());
  if (input.row_end_max && *input.row_end_max < end) {
    end = static_cast<uint32_t>(*input.row_end_max);
  }
  while (input.seq_end_max && end > 0 && index.seq(end - 1) > *input.seq_end_max) --end;
  if (!query.after) return end;
  const auto last = index.find(query.after->last_id);
  return last ? std::min(end, *last + 1) : end;
}

std::optional<PlaceInOrder> find_last_place(const SearchInput& input, uint32_t row_end) {
  if (!input.query->after) return std::nullopt;
  const Cursor& last = *input.query->after;
  const bool ascending = input.query->ascending;
  PlaceInOrder place{last.key, last.timestamp_ms, ascending ? kNoRow : 0};
  if (last.session_id == input.session_id) {
    if (const auto row = input.index->find(last.id)) {
      place.row = *row;
    } else {
      place_without_entry(input, row_end, &place);
    }
    return place;
  }
  // Of the same key and time, sessions come in the order of their ids.
  const bool is_after = (input.session_id > last.session_id) != ascending;
  if (is_after) place.timestamp_ms += ascending ? -1 : 1;
  return place;
}

}  // namespace varve::query
