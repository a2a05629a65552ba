// Queries on one session: the index finds the entries, and the log has them.
//
// A query sees the session as of one moment after the call began. Entries that are deleted while it
// runs may still be in its answer, as if it had run earlier. Entries that cannot be read are left
// out and counted as damage.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "query/query.h"
#include "query/search.h"
#include "session/core.h"
#include "session/query/query_results.h"

namespace varve::session {

// For a query across sessions: what all of them hold together, and their best match.
struct SharedQuery {
  query::TextStatistics statistics;
  double best_match = 0;
  query::RowEnds row_ends;    // of sessions that an earlier page or step looked at
  query::RankKeys rank_keys;  // of a query with words and a vector; sorted
};

// Results in order, with their entries, and the cursor of the next page.
Result<QueryResults> run_query(Core& core, const query::Query& query);

// A session's part of a query across sessions: results in order, without `next`. Those with a key
// below key_min are left out, and has_more tells that there may be some: others come before them.
Result<QueryResults> run_query_among(Core& core, const query::Query& query,
                                     const SharedQuery& shared, double key_min);

// The same, read only if it is wanted.
struct UnreadResults {
  QueryResults answer;           // without lines
  std::vector<RowPlace> places;  // of its results
};
Result<UnreadResults> find_unread(Core& core, const query::Query& query, const SharedQuery& shared,
                                  double key_min);

// The next functions give this session's part of SharedQuery.
struct CountedWords {
  query::TextStatistics statistics;
  bool finds_nothing = false;  // none of its entries can be a result
  uint64_t last_seq = 0;       // of the last entry that was looked at; 0: it has none
};
Result<CountedWords> count_words(Core& core, const query::Query& query, const SharedQuery& shared);
struct RankedKeys {
  query::RankKeys keys;
  uint32_t vector_end = 0;  // how many records of vectors.bin were looked at
};
Result<RankedKeys> find_rank_keys(Core& core, const query::Query& query, const SharedQuery& shared);
Result<query::BestMatch> find_best_match(Core& core, const query::Query& query,
                                         const SharedQuery& shared);

// How many entries match, regardless of the limit.
Result<uint64_t> count_matches(Core& core, const query::Query& query);

// The ids of all entries that match, in the order of the log.
Result<std::vector<std::string>> find_matches(Core& core, const query::Query& query);

// The rows of these entries, for EntryReader::for_each_line().
Result<LiveRows> find_rows(Core& core, const query::Query& query);

}  // namespace varve::session
