#include "query/conditions.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "query/references.h"

namespace varve::query {

namespace {

void require_tags(const Query& query, const index::Facets& facets, RowFilter* filter) {
  std::vector<index::PostingList> any;
  for (const auto& tag : query.tags_include) {
    if (query.tags_match_all) {
      filter->require(RowSet::of_lists({facets.tag(tag)}));
    } else {
      any.push_back(facets.tag(tag));
    }
  }
  if (!any.empty()) filter->require(RowSet::of_lists(any));
  std::vector<index::PostingList> none;
  for (const auto& tag : query.tags_exclude) none.push_back(facets.tag(tag));
  if (!none.empty()) filter->exclude(RowSet::of_lists(none));
}

void require_time(const Query& query, int64_t now_ms, RowFilter* filter) {
  const int64_t earliest = std::numeric_limits<int64_t>::min();
  const int64_t latest = std::numeric_limits<int64_t>::max();
  int64_t start_ms = query.start_ms.value_or(earliest);
  if (query.last_ms) start_ms = std::max(start_ms, now_ms - *query.last_ms);
  if (start_ms == earliest && !query.end_ms) return;
  filter->require_time(start_ms, query.end_ms.value_or(latest));
}

void require_ids(const Query& query, const index::Index& index, RowFilter* filter) {
  if (query.ids.empty()) return;
  std::vector<uint32_t> rows;
  for (const auto& id : query.ids) {
    if (const auto row = index.find(id)) rows.push_back(*row);
  }
  filter->require(RowSet::of_rows(std::move(rows)));
}

}  // namespace

void require_conditions(const SearchInput& input, RowFilter* filter) {
  const index::Index& index = *input.index;
  const Query& query = *input.query;
  filter->require_types(query.types);
  require_time(query, input.now_ms, filter);
  filter->require_importance(query.importance_min);
  require_tags(query, index.facets(), filter);
  if (!query.trace_id.empty()) {
    filter->require(RowSet::of_lists({index.facets().trace(query.trace_id)}));
  }
  for (const auto& key : query.content_keys) {
    filter->require(RowSet::of_lists({index.facets().content(key)}));
  }
  require_ids(query, index, filter);
  if (!query.references.empty()) {
    bool is_damaged = false;
    auto rows = walk_references(index, query.references, query.relation, query.depth_max,
                                filter->log_end(), input.live_ms, &is_damaged);
    filter->require(RowSet::of_rows(std::move(rows), is_damaged));
  }
}

}  // namespace varve::query
