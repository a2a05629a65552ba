// The results of a query as data, and as the JSON that callers read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "session/entry/entry_line.h"

namespace varve::session {

struct QueryResult {
  EntryLine line;        // the entry as stored
  std::string known_id;  // empty: it is in the line only
  uint32_t session = 0;  // an index into QueryResults::session_ids
  double key = 0;        // by which the results are ordered
  int64_t timestamp_ms = 0;
  uint64_t seq = 0;  // of the entry, in a query across sessions; 0: it has none
  double relevance = 0;
  double decay_factor = 0;
  double match_quality = 0;
  std::string explanation;  // JSON; empty unless it was asked for

  // The id of the entry. Cost: a parse of the line, unless known_id is set.
  [[nodiscard]] std::string id() const;
};

struct QueryResults {
  std::vector<QueryResult> results;      // in order
  std::vector<std::string> session_ids;  // that the results are from
  uint32_t row_end = 0;                  // how many rows of the session were looked at
  uint64_t last_seq = 0;                 // of the last of these rows; 0: it has none
  uint32_t vector_end = 0;               // how many records of vectors.bin were looked at
  bool has_more = false;                 // others come after them
  std::string next;                      // cursor of the next page; empty: there is none
  std::string explanation;               // JSON; empty unless it was asked for
  Status left_out;                       // of a store: why the first left-out session was left out

  // {"results":[{"entry":{...},"session_id","relevance","decay_factor","match_quality"}],"next"},
  // docs/query.md#results.
  [[nodiscard]] std::string json() const;
};

}  // namespace varve::session
