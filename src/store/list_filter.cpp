#include "store/list_filter.h"

#include "json/object_reader.h"

namespace varve::store {

namespace {

constexpr uint64_t kListMax = 10'000;

}  // namespace

Result<ListFilter> parse_filter(std::string_view text) {
  ListFilter filter;
  if (text.empty()) return filter;
  json::Document document;
  VARVE_TRY(document.parse(text));
  json::ObjectReader reader(text, document.root());
  reader.read_string("user_id", &filter.user_id);
  reader.read_string("agent_id", &filter.agent_id);
  reader.read_uint("limit", &filter.limit, 1, kListMax);
  const auto after = document.root().is_object() ? document.root().find("after") : std::nullopt;
  if (after && after->kind() == json::Kind::kNull) {
    (void)reader.read_any("after");  // the "next" of the last page: from the start
  } else {
    reader.read_string("after", &filter.after);
  }
  reader.read_bool("rescan", &filter.rescan);
  VARVE_TRY(reader.finish());
  return filter;
}

}  // namespace varve::store
