// Query: what is asked of a session's memory, parsed and checked (parse.h), not yet looked for.
//
// docs/query.md is the language; all conditions combine by AND.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace varve::query {

inline constexpr uint64_t kLimitDefault = 100;
inline constexpr uint64_t kLimitNone = UINT64_MAX;
inline constexpr uint32_t kDepthMax = 64;

enum class SortBy : uint8_t { kBest, kRelevance, kMatch, kTime, kImportance };

// What sessions had at the first page, so that what is added later is in no page. By the keys that
// cursor.h makes of their ids.
using RowEnds = std::map<uint64_t, uint64_t>;

// Where the page before ended (cursor.h).
struct Cursor {
  uint64_t query_hash = 0;  // of the query it continues, without `after` and `limit`
  int64_t now_ms = 0;       // of the first page: ages stay as they were
  // The newest entry of the session at the first page: later ones are not in any page. Empty across
  // sessions.
  std::string last_id;
  double best_match = 0;  // [BM25] what match_quality is measured against; 0: not known
  // The last result of the page: the next one comes after it in the order.
  double key = 0;
  int64_t timestamp_ms = 0;
  std::string session_id;
  std::string id;
  // Of a query across sessions what each had at the first page, and of one with a vector how many
  // records there were (vector_end_key).
  RowEnds row_ends;

  [[nodiscard]] bool is_across_sessions() const { return last_id.empty(); }
};

struct Query {
  std::string text;
  bool is_question = false;    // the text: its signs and wildcards mean nothing
  std::vector<float> vector;   // empty: none
  double vector_weight = 0.5;  // beside words: 0 words alone, 1 the vector alone
  std::vector<std::string> types;
  std::vector<std::string> tags_include;
  std::vector<std::string> tags_exclude;
  bool tags_match_all = false;
  std::optional<int64_t> start_ms;  // half-open: [start, end)
  std::optional<int64_t> end_ms;
  std::optional<int64_t> last_ms;  // [ms] not older than this at `now`
  double importance_min = 0;
  double relevance_min = 0;
  std::vector<std::string> references;
  std::string relation;  // empty: all; "references" is the plain member
  uint32_t depth_max = 1;
  std::vector<std::string> ids;
  std::string trace_id;
  std::vector<std::string> content_keys;  // of members that content must have (entry::content_key)
  SortBy sort_by = SortBy::kRelevance;
  bool ascending = false;
  uint64_t limit = kLimitDefault;
  std::optional<Cursor> after;
  std::optional<int64_t> now_ms;
  bool explain = false;

  // Only of store-wide queries.
  std::string user_id;
  std::string agent_id;
  std::vector<std::string> session_ids;

  uint64_t hash = 0;  // of everything but `after` and `limit`

  [[nodiscard]] bool has_text() const { return !text.empty(); }
  [[nodiscard]] bool has_vector() const { return !vector.empty(); }
  // Whether a rank by the vector decides, or is told: across sessions it is among all of them.
  [[nodiscard]] bool wants_ranks() const { return has_vector() && (has_text() || explain); }
};

}  // namespace varve::query
