// Whatever the bytes are: as a query they are refused with words and a place, or read; and what is
// read at once is what the long way makes of them. The first byte says in which scope.
#include <array>
#include <cstdint>
#include <string_view>

#include "query/parse.h"
#include "query/parse_plain.h"
#include "require.h"

namespace {

using varve::fuzz::require;
using varve::query::Query;
using varve::query::Scope;

constexpr std::array kScopes = {Scope::kSession, Scope::kStore, Scope::kSet, Scope::kCount};

// Everything that the short way may set.
bool is_same(const Query& plain, const Query& any) {
  return plain.text == any.text && plain.types == any.types &&
         plain.tags_include == any.tags_include && plain.tags_exclude == any.tags_exclude &&
         plain.tags_match_all == any.tags_match_all && plain.start_ms == any.start_ms &&
         plain.end_ms == any.end_ms && plain.last_ms == any.last_ms && plain.now_ms == any.now_ms &&
         plain.sort_by == any.sort_by && plain.ascending == any.ascending &&
         plain.limit == any.limit && plain.hash == any.hash;
}

bool has_nothing_else(const Query& any) {
  return any.vector.empty() && any.references.empty() && any.ids.empty() &&
         any.content_keys.empty() && any.trace_id.empty() && any.relation.empty() &&
         any.user_id.empty() && any.agent_id.empty() && any.session_ids.empty() &&
         any.importance_min == 0 && any.relevance_min == 0 && any.depth_max == 1 && !any.after &&
         !any.explain && !any.is_question;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const Scope scope = kScopes[data[0] % kScopes.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto any = varve::query::parse_any(text, scope);
  const auto query = varve::query::parse_query(text, scope);
  require(any.code() == query.code());
  if (!any.ok()) {
    require(any.code() == varve::Code::kInvalidArgument);
    require(!any.status().message().empty());
    require(any.status().message() == query.status().message());
  }
  Query plain;
  if (!varve::query::parse_plain(text, scope, &plain)) return 0;
  require(any.ok());
  require(is_same(plain, *any));
  require(has_nothing_else(*any));
  return 0;
}
