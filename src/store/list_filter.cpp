#include "store/list_filter.h"

#include "json/object_reader.h"

namespace varve::store {

namespace {

constexpr uint64_t kListMax = 10'000;

}  // namespace

Result<ListFilter> parse_filter(std::string_view text) {
  ListFilter filter;
  VARVE_TRY(json::read_object(text, [&](json::ObjectReader& reader) {
    reader.refuse_empty({"user_id", "agent_id"});
    reader.read_string("user_id", &filter.user_id);
    reader.read_string("agent_id", &filter.agent_id);
    reader.read_uint("limit", &filter.limit, 1, kListMax);
    const auto after = reader.read_any("after");
    const bool is_last_next = after && after->kind() == json::Kind::kNull;  // from the start again
    if (!is_last_next) reader.read_string("after", &filter.after);
    reader.read_bool("rescan", &filter.rescan);
    if (filter.rescan && !filter.after.empty()) {
      reader.fail(*after,
                  "is a place in the list that 'rescan' replaces: leave it out, or 'rescan'");
    }
  }));
  return filter;
}

}  // namespace varve::store
