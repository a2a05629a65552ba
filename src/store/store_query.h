// A query across sessions.
//
// Words are weighed over all sessions asked (BM25 statistics are added up first), and what the best
// match of all is decides every match_quality, so that results of different sessions stand in one
// order: key, then later time, then the session's id, then later in its log.
//
// cost: sessions are opened one after another, and up to kKeptOpenMax kept open between the three
// steps that a query with words takes (count, best match, results); spread over `thread_count`
// threads of this call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "query/query.h"
#include "session/query_results.h"
#include "session/session.h"

namespace varve::store {

// Opens a session by id. kNotFound: it is gone.
using OpenSession = std::function<Result<std::shared_ptr<session::Session>>(const std::string& id)>;
// Told of a session that could not be read, and left out.
using NoteFailure = std::function<void(const std::string& id, const Status& failure)>;

Result<session::QueryResults> query_sessions(const query::Query& query,
                                             const std::vector<std::string>& session_ids,
                                             uint64_t thread_count, int64_t now_ms,
                                             const OpenSession& open, const NoteFailure& note);

}  // namespace varve::store
