#include "session/query/tags.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "session/retries.h"

namespace varve::session {

namespace {

// Counts live entries by tag. kGone when the index was found to be wrong.
Status count_tags(Core& core, std::map<std::string, uint64_t>* counts) {
  counts->clear();
  const int64_t now_ms = core.context.clock->now_ms();
  const std::shared_lock lock(core.index_mutex);
  VARVE_TRY(core.check_whole());
  const index::Index& index = core.index;
  index.facets().for_each_tag([&](std::string_view tag, const index::PostingList& rows) {
    uint64_t count = 0;
    index::PostingCursor cursor(rows);
    for (uint32_t row = cursor.seek(0); row < index.size(); row = cursor.next()) {
      if (index.is_live(row, now_ms)) count += 1;
    }
    if (count > 0) (*counts)[std::string(tag)] = count;
  });
  return index.is_damaged() ? Status(Code::kGone, "the index was damaged") : Status();
}

}  // namespace

Result<json::Tree> list_tags(Core& core) {
  std::map<std::string, uint64_t> counts;
  VARVE_TRY(while_replaced([&]() -> Status {
    VARVE_TRY(core.prepare_query({}));
    return count_tags(core, &counts);
  }));
  json::Tree tags = json::Tree::array();
  for (const auto& [tag, count] : counts) {
    json::Tree item = json::Tree::object();
    item.set("tag", json::Tree::string(tag));
    item.set("entries", json::Tree::integer_unsigned(count));
    tags.push(std::move(item));
  }
  json::Tree tree = json::Tree::object();
  tree.set("tags", std::move(tags));
  return tree;
}

}  // namespace varve::session
