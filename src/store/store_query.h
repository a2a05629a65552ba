// A query across sessions.
//
// Words are weighed over all sessions asked: BM25 statistics are summed first, and the best match
// of all decides every match_quality. So the results of different sessions have one order: key,
// then later time, then the session's id, then later in its log.
//
// cost: opens the sessions one after another, with at most `thread_count` threads of this call.
// Those that have none of the words are opened once; the others for each of the three steps that a
// query with words takes (count, best match, results), but not for the last one when the results
// are ordered by their match and other sessions have better ones. Once a page is found, the
// sessions asked later tell only of results that may be on it. Up to kKeptOpenMax stay open in
// between, with no more than half of the files that the process may have open; fewer, and in the
// end none, where the host leaves fewer descriptors. For the next query, kept_sessions.h keeps
// some.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "query/query.h"
#include "session/query/query_results.h"
#include "store/open_session.h"

namespace varve::store {

constexpr size_t kKeptOpenMax = 256;
constexpr size_t kFilesOfSessionMax = 6;  // directory, lock, log, tombstones, vectors, index

// So many sessions are held open, of a process that may have so many files open.
[[nodiscard]] constexpr size_t held_open_max(size_t open_files_max) noexcept {
  return std::min(kKeptOpenMax, open_files_max / 2 / kFilesOfSessionMax);
}

// Told of a session that could not be read and is left out.
using NoteFailure = std::function<void(const std::string& id, const Status& failure)>;

// What a query across sessions needs of its store.
struct QueryContext {
  uint64_t thread_count = 1;
  size_t open_files_max = 0;  // of the process
  int64_t now_ms = 0;         // for a query that does not say its moment
  OpenSession open;
  NoteFailure note;
};

Result<session::QueryResults> query_sessions(const query::Query& query,
                                             const std::vector<std::string>& session_ids,
                                             const QueryContext& context);

}  // namespace varve::store
