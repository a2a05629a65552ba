// Selections: what a query finds, before any entry is read. For callers that read only some of what
// was found: a context, for example, stops when its tokens are spent.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/query.h"
#include "session/core.h"

namespace varve::session {

// It has no id and no type: its row stands for the entry until the entry is read.
struct Selected {
  int64_t timestamp_ms = 0;
  double importance = 0;
  double key = 0;  // of the query's order
  double match_quality = 0;
  RowPlace place;
};

// For a row, under the index's lock.
[[nodiscard]] Selected selected_row(const Core& core, uint32_t row);

// Results of a query in order, unread. In query.cpp.
Result<std::vector<Selected>> select(Core& core, const query::Query& query);

// Of these ids, the entries that are there and alive, both now and at `now_ms`, in the order given.
Result<std::vector<Selected>> select_ids(Core& core, const std::vector<std::string>& ids,
                                         int64_t now_ms);

// What select_tool_call() found out about calls, so that no list is walked again for the next
// entry. Rows: for as long as the log is the same.
struct KnownCalls {
  using ByRow = std::map<uint32_t, std::optional<uint32_t>>;

  boost::unordered_flat_map<uint32_t, std::optional<uint32_t>> referenced;  // by the result
  std::map<std::string, ByRow, std::less<>> before;  // by the call key, then the result
  boost::unordered_flat_map<uint32_t, bool> named;   // by the call: whether a result names it
  std::map<std::string, std::set<uint32_t>, std::less<>> crowded;  // by the call key: those calls
};

struct ToolCall {
  std::vector<Selected> entries;  // the call first, then its results
  bool is_crowded = false;        // by more than kToolResultsMax results: the call is alone
};

// A tool call and its results, the call first, whichever of them `entry` is; `entry` alone when it
// has no counterpart or is neither. A result belongs to the call that its references name, else to
// the last call before it with the same call id. `call_key`: entry::content_key of the entry's call
// id; empty when it has none. Results by call id are only those of this key: of a result that names
// a call with another one, select the call's. errors: kGone, after which `known` is of another log.
inline constexpr size_t kToolResultsMax = 4096;  // too many for any context
Result<ToolCall> select_tool_call(Core& core, const Selected& entry, std::string_view call_key,
                                  int64_t now_ms, KnownCalls* known);

// Whether it is a tool's call or result. Nothing is read. kGone.
Result<bool> is_tool(const Core& core, const Selected& entry);

struct SelectedLine {
  std::string id;
  std::string type;
  EntryLine line;  // null when it is damaged, which is counted and logged
};

// kGone when the log or a wrong index was replaced meanwhile: select again.
Result<SelectedLine> read_selected(Core& core, const Selected& entry);

// Counts a row that cannot be read, and logs it.
void note_unreadable(Core& core, const RowPlace& place, const Status& damage);

}  // namespace varve::session
