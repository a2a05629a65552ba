// Parsing: from the query's JSON text to a Query.
#pragma once

#include <string_view>

#include "base/result.h"
#include "json/object_reader.h"
#include "query/query.h"

namespace varve::query {

enum class Scope {
  kSession,
  kStore,   // user_id, agent_id and session_ids too
  kSet,     // for exporting: no order, no pages
  kCount,   // as kSession; a vector, order and pages have no say in what is counted
  kDelete,  // as kSet, but no condition is empty: who found nothing to delete means nothing
};

// Empty text is the query without conditions.
// errors: kInvalidArgument naming the member and its byte offset: unknown or mistyped members,
//         contradictory ones (an end before its start, a relation without references, min_relevance
//         out of range), a cursor of another query.
Result<Query> parse_query(std::string_view text, Scope scope);

// The same, always the long way; for tests of the short one (parse_plain.h).
Result<Query> parse_any(std::string_view text, Scope scope);

// Reads the members of a query across sessions that say which.
void read_sessions(json::ObjectReader& reader, Query* query);

}  // namespace varve::query
